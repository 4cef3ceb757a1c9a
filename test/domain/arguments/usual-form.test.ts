import { describe, expect, it } from "vitest";
import { z } from "zod";
import { coerceArguments } from "../../../src/domain/arguments/coerce.ts";

const Args = z.strictObject({
  text: z.string().optional(),
  status: z.array(z.enum(["failed", "scheduled"])).optional(),
  accountId: z.array(z.string()).optional(),
  limit: z.int().default(50),
  dryRun: z.boolean().optional(),
  metadata: z.record(z.string(), z.json()).nullable().optional(),
  posts: z.array(z.strictObject({ text: z.string(), count: z.int().optional() })).optional(),
  either: z.union([z.int(), z.string()]).optional(),
});

const usual = (given: object): unknown => coerceArguments(Args, given);

describe("arguments in another form that means the same", () => {
  it.each([
    [{ status: "failed" }, { status: ["failed"] }],
    [{ accountId: "acc_1" }, { accountId: ["acc_1"] }],
    [{ accountId: '["acc_1","acc_2"]' }, { accountId: ["acc_1", "acc_2"] }],
    [{ limit: "10" }, { limit: 10 }],
    [{ limit: " -1.5 " }, { limit: -1.5 }],
    [{ dryRun: "true" }, { dryRun: true }],
    [{ dryRun: "False" }, { dryRun: false }],
    [{ metadata: '{"title":"A"}' }, { metadata: { title: "A" } }],
    [{ posts: { text: "A", count: "2" } }, { posts: [{ text: "A", count: 2 }] }],
    [{ posts: '[{"text":"A","count":"2"}]' }, { posts: [{ text: "A", count: 2 }] }],
    [{ posts: ['{"text":"A"}'] }, { posts: [{ text: "A" }] }],
  ])("%j is %j", (given, meant) => {
    expect(usual(given)).toEqual(meant);
  });

  it.each([
    { text: "10" },
    { text: "true" },
    { text: '{"a":1}' },
    { text: 5 },
    { posts: [{ text: "[1]" }] },
    { limit: "ten" },
    { limit: "1e3" },
    { limit: "1.0" },
    { limit: true },
    { dryRun: "yes" },
    { dryRun: 1 },
    { metadata: "title" },
    { metadata: "{title" },
    { metadata: { tags: "a" } },
    { either: "5" },
    { unknown: "5" },
  ])("%j stays as it is", (given) => {
    expect(usual(given)).toEqual(given);
  });
});
