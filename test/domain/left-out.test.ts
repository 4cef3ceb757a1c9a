import { describe, expect, it } from "vitest";
import { z } from "zod";
import { coerceArguments } from "../../src/domain/arguments/coerce.ts";

const Inner = z.strictObject({ name: z.string(), note: z.string().optional() });

const Args = z.strictObject({
  id: z.string(),
  cursor: z.string().optional(),
  limit: z.int().min(1).default(50),
  isDry: z.boolean().optional(),
  kinds: z.array(z.string()).min(1).optional(),
  text: z.string().nullable().optional(),
  lead: z.int().nullable().optional(),
  plan: Inner.nullable().optional(),
  kind: z.enum(["next"]).nullable().optional(),
  media: z.string().min(0).optional(),
  fields: z.record(z.string(), z.json()).optional(),
  inner: Inner.optional(),
  list: z.array(Inner).optional(),
});

const meant = (given: object): unknown => coerceArguments(Args, given);

describe("what may be left out", () => {
  it.each(["cursor", "limit", "isDry", "kinds", "inner", "list", "fields"])(
    "is left out by null and by an empty text: %s",
    (name) => {
      for (const given of [null, ""]) expect(meant({ id: "1", [name]: given })).toEqual({ id: "1" });
    },
  );

  it("is left out at every depth", () => {
    const inner = { name: "", note: null };
    expect(meant({ id: "1", inner, list: [inner, { name: "n", note: "" }, null] })).toEqual({
      id: "1",
      inner: { name: "" },
      list: [{ name: "" }, { name: "n" }, null],
    });
  });

  it("is emptied by null where it is nullable, and by an empty text where it is a text", () => {
    const emptied = { text: null, lead: null, plan: null, kind: null };
    expect(meant({ id: "1", ...emptied })).toEqual({ id: "1", ...emptied });
    expect(meant({ id: "1", text: "", lead: "", plan: "", kind: "" })).toEqual({ id: "1", text: null });
    expect(meant({ id: "1", media: "" })).toEqual({ id: "1", media: "" });
    expect(meant({ id: "1", media: null })).toEqual({ id: "1" });
  });
});

it("leaves alone what must be there, what nobody knows, and what holds any value", () => {
  const given = { id: "", what: null, other: "", fields: { a: null, b: "" }, limit: 0, isDry: false };
  // An empty id is none: it is missing then.
  expect(meant(given)).toEqual({ ...given, id: undefined });
  expect(meant({ id: null })).toEqual({ id: null });
  for (const odd of [null, "", 7, [], [null]]) expect(coerceArguments(Args, odd)).toEqual(odd);
  const own = JSON.parse('{"id":"1","__proto__":null}') as object;
  expect(Object.keys(meant(own) as object)).toEqual(["id", "__proto__"]);
});
