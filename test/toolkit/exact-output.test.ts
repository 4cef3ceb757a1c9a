import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Post } from "../../src/domain/posts/post.ts";
import { createOutputParser } from "../../src/toolkit/exact-output.ts";

const Page = z.object({ posts: z.array(Post), nextCursor: z.string().nullable() });

const POST: z.infer<typeof Post> = {
  id: "post_1",
  accountId: "acc_1",
  provider: "feed",
  mediaUrl: "",
  scheduledAt: "2026-11-21T09:00:00.000Z",
  status: "scheduled",
  caption: null,
  metadata: { title: "Größe", tags: ["a", "b"], nested: { deep: [1, null, true, { x: -0.5 }] } },
  leadMinutes: 0,
  platformPostId: null,
  platformUrl: null,
  error: null,
  attempts: 0,
  publishedAt: null,
  createdAt: "2026-11-21T09:00:00.000Z",
  updatedAt: "2024-02-29T09:00:00.000Z",
};

/** What comes of a value, to the byte, or what is wrong with it. */
function outcomeOf(parse: () => unknown): unknown {
  try {
    return JSON.stringify(parse());
  } catch (error) {
    return error instanceof z.ZodError ? error.issues : error;
  }
}

function expectSame(schema: z.ZodType, value: unknown): void {
  expect(outcomeOf(() => createOutputParser(schema)(value))).toEqual(outcomeOf(() => schema.parse(value)));
}

/** A post of which one field is missing, another value, or beside one too many; in any order. */
const brokenPosts = fc
  .record({
    drop: fc.option(fc.constantFrom(...Object.keys(POST))),
    change: fc.option(fc.tuple(fc.constantFrom(...Object.keys(POST)), fc.jsonValue())),
    add: fc.option(fc.tuple(fc.constantFrom("ownerId", "__proto__", "toString", "0"), fc.jsonValue())),
    isShuffled: fc.boolean(),
  })
  .map(({ drop, change, add, isShuffled }) => {
    let entries: [string, unknown][] = Object.entries(POST).filter(([key]) => key !== drop);
    if (change !== null)
      entries = entries.map(([key, value]) => [key, key === change[0] ? change[1] : value]);
    if (add !== null) entries.push(add);
    return Object.fromEntries(isShuffled ? entries.toReversed() : entries);
  });

describe("an answer's parser", () => {
  it("hands on a page as it is, without a copy", () => {
    const page = { posts: [POST, { ...POST, metadata: null }], nextCursor: null };
    expect(createOutputParser(Page)(page)).toBe(page);
  });

  it("does with pages what their schema does", () => {
    fc.assert(
      fc.property(fc.array(brokenPosts, { maxLength: 3 }), (posts) =>
        expectSame(Page, { posts, nextCursor: null }),
      ),
    );
    fc.assert(fc.property(brokenPosts, (post) => expectSame(Post, post)));
  });

  it("does with metadata of every shape what its schema does", () => {
    const metadata = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });
    fc.assert(fc.property(metadata, (given) => expectSame(Post, { ...POST, metadata: given })));
    expectSame(Post, { ...POST, metadata: JSON.parse('{"a": {"__proto__": {"isAdmin": true}}}') });
  });

  it("takes away or refuses what is not named", () => {
    const parse = createOutputParser(Page);
    expect(parse({ posts: [], nextCursor: null, secret: "x" })).toEqual({ posts: [], nextCursor: null });
    expect(() => parse({ posts: [{ ...POST, secret: "x" }], nextCursor: null })).toThrow(z.ZodError);
  });

  it("refuses what would become something else in JSON", () => {
    class Secretive {
      readonly id = "1";
      toJSON(): unknown {
        return { secret: "x" };
      }
    }
    expect(JSON.stringify(createOutputParser(z.object({ id: z.string() }))(new Secretive()))).toBe(
      '{"id":"1"}',
    );
  });
});

const values = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(
    undefined,
    Number.NaN,
    Infinity,
    -0,
    2 ** 53,
    1.5,
    10n,
    "2026-02-30T00:00:00Z",
    "2026-02-28",
    new Date(0),
  ),
  fc.record(
    {
      a: fc.constantFrom("x", "y", "z", 1, null, undefined),
      b: fc.constantFrom(-1, 0, 5, 11, 1.5, undefined),
      c: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
);

const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  "optional fields": z.strictObject({
    a: z.enum(["x", "y"]).nullable().optional(),
    b: z.int().min(0).max(10).optional(),
    c: z.json(),
  }),
  "an open object": z.looseObject({ a: z.string() }),
  "an object for further fields": z.object({ a: z.string().optional() }).catchall(z.number()),
  "a refined object": z.object({ a: z.string().nullish() }).refine(({ a }) => a !== "x"),
  "a changed value": z.object({ a: z.string().transform((text) => `${text}!`), b: z.number().default(3) }),
  "bounds that do not belong": z.number().gt(0).lt(5).multipleOf(0.5),
  "plain numbers": z.number().max(7),
  "choices of one type": z.union([z.object({ a: z.string() }), z.object({ a: z.string(), b: z.number() })]),
  "choices of several types": z.union([
    z.string(),
    z.boolean(),
    z.null(),
    z.array(z.int()),
    z.strictObject({ a: z.literal("x") }),
  ]),
  "short and long texts": z.string().min(2).or(z.iso.date()),
  "coerced values": z.object({ a: z.coerce.string(), b: z.coerce.number() }),
  "known keys": z.partialRecord(z.enum(["a", "b"]), z.unknown()),
  "short lists": z.array(z.json()).max(2),
  anything: z.json(),
};

describe.each(Object.entries(SCHEMAS))("of %s", (_name, schema) => {
  it("does what the schema does", () => {
    fc.assert(
      fc.property(values, (value) => expectSame(schema, value)),
      { numRuns: 500 },
    );
  });
});
