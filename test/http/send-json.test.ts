import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toJsonBytes } from "../../src/http/send-json.ts";

function expectSame(value: unknown): void {
  expect(toJsonBytes(value).toString()).toBe(JSON.stringify(value));
}

describe("an answer in JSON", () => {
  it("is what JSON.stringify says, however long its lists are", () => {
    const field = fc.oneof(
      fc.jsonValue(),
      fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 60 }),
      fc.constant(undefined),
    );
    const answer = fc.dictionary(fc.string({ unit: "binary" }), field, { noNullPrototype: true });
    fc.assert(fc.property(answer, expectSame));
    fc.assert(fc.property(answer, (result) => expectSame({ result })));
    fc.assert(
      fc.property(fc.array(answer, { maxLength: 60 }), (posts) =>
        expectSame({ result: { posts, nextCursor: null } }),
      ),
    );
  });

  it("keeps every character", () => {
    const texts = Array.from({ length: 40 }, (_, at) => `${"a".repeat(at)}é漢🎉\ud800\u2028"\\`);
    expectSame({ texts });
    expect(toJsonBytes({ texts }).equals(Buffer.from(JSON.stringify({ texts })))).toBe(true);
  });

  it.each([15, 16, 17, 32, 33, 500])("has all of %d items", (length) => {
    expectSame({ posts: Array.from({ length }, (_, at) => ({ at, missing: undefined })), nextCursor: null });
    expectSame(Array.from({ length }, (_, at) => (at === 3 ? undefined : at)));
  });

  it("may be longer than what is set aside for it", () => {
    expectSame({ posts: Array.from({ length: 40 }, () => ({ caption: "漢".repeat(20_000) })) });
  });

  it("is not spoiled by the next one", () => {
    const [first, second] = ["a", "b"].map((text) => ({ items: Array.from({ length: 20 }, () => text) }));
    const bytes = toJsonBytes(first);
    toJsonBytes(second);
    expect(bytes.toString()).toBe(JSON.stringify(first));
  });

  it("leaves to JSON.stringify what writes itself", () => {
    const items = Array.from({ length: 20 }, () => 1);
    expectSame({ at: new Date(0), items, own: { items, toJSON: () => "short" } });
  });
});
