import { expect, it } from "vitest";
import { collect, findFirst, pages, type Page } from "../../../src/platforms/shared/pages.ts";

/** A list in pages, which remembers what was asked for. */
function list(...all: readonly Page<number, string>[]) {
  const asked: (string | undefined)[] = [];
  const read = async (from: string | undefined): Promise<Page<number, string>> => {
    asked.push(from);
    return all[asked.length - 1] ?? { items: [] };
  };
  return { asked, read };
}

it.each([{}, { next: null }, { next: "" }])("reads pages up to the last one (%j)", async (end) => {
  const { asked, read } = list({ items: [1, 2], next: "b" }, { items: [3], ...end });
  expect(await collect(pages(10, read, expect.unreachable))).toEqual([1, 2, 3]);
  expect(asked).toEqual([undefined, "b"]);
});

it("reads no more than it may, and says that there is more", async () => {
  const { asked, read } = list({ items: [1], next: "b" }, { items: [2], next: "c" }, { items: [3] });
  let isMore = false;
  expect(await collect(pages(2, read, () => void (isMore = true)))).toEqual([1, 2]);
  expect({ isMore, asked }).toEqual({ isMore: true, asked: [undefined, "b"] });
});

it("asks for no page behind the entry that was looked for", async () => {
  const { asked, read } = list({ items: [1], next: "b" }, { items: [2, 3], next: "c" });
  expect(await findFirst(pages(10, read), (entry) => entry === 2)).toBe(2);
  expect(asked).toEqual([undefined, "b"]);
});

it("gives null where none fits", async () => {
  const { read } = list({ items: [1] });
  expect(await findFirst(pages(10, read), async (entry) => entry === 2)).toBeNull();
});
