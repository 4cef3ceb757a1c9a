import { expect, it } from "vitest";
import { BlockReader, Onward, type Block } from "../../../src/media/source/onward.ts";
import { FakeClock } from "../../support/clock.ts";

it("holds one reader, the last, also when two are kept in the same moment", async () => {
  const clock = new FakeClock();
  const onward = new Onward(clock);
  const closed: string[] = [];
  const begin = async (name: string): Promise<BlockReader> => {
    async function* blocks(): AsyncGenerator<Block> {
      try {
        for (let at = 0; ; at += 1) yield { at, pieces: [] };
      } finally {
        closed.push(name);
      }
    }
    const reader = new BlockReader(blocks(), 1_000);
    await reader.blockWith(0);
    return reader;
  };
  const [first, second] = [await begin("first"), await begin("second")];
  const { signal } = new AbortController();
  await Promise.all([onward.keep(10, first, signal), onward.keep(20, second, signal)]);
  expect(closed).toEqual(["first"]);
  expect(clock.sleepers).toBe(1);
  expect([onward.take(10), onward.take(20)]).toEqual([null, second]);
  expect(clock.sleepers).toBe(0);
});
