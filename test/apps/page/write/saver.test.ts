import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createSaver, type Refusal, type SaveState } from "../../../../apps/page/rooms/write/saver.ts";

interface Sent {
  readonly content: string;
  readonly key: string;
  done(): void;
  fail(kind: Refusal["kind"]): void;
}

class Refused extends Error {
  readonly kind: Refusal["kind"];
  constructor(kind: Refusal["kind"]) {
    super(kind);
    this.kind = kind;
  }
}

let text: string | null;
let sent: Sent[];
let states: string[];

function start() {
  let keys = 0;
  return createSaver<string>({
    waitMs: 400,
    againMs: 5_000,
    now: () => 7,
    read: () => text,
    newKey: () => `key ${(keys += 1)}`,
    save: (content, key) =>
      new Promise((resolve, reject) => {
        sent.push({ content, key, done: () => resolve(), fail: (kind) => reject(new Refused(kind)) });
      }),
    refusalOf: (error) => ({ kind: error instanceof Refused ? error.kind : "refused", sentence: "No." }),
    onState: ({ kind }: SaveState) => states.push(kind),
  });
}

beforeEach(() => {
  vi.useFakeTimers();
  text = "a";
  sent = [];
  states = [];
});
afterEach(() => vi.useRealTimers());

const wait = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

it("saves once, a moment after the last change", async () => {
  const saver = start();
  saver.change();
  await wait(300);
  text = "ab";
  saver.change();
  await wait(399);
  expect(sent).toHaveLength(0);
  await wait(1);
  expect(sent.map(({ content }) => content)).toEqual(["ab"]);
  sent[0]!.done();
  await wait(0);
  expect(states.slice(-2)).toEqual(["saving", "saved"]);
  expect(saver.isBehind()).toBe(false);
});

it("sends one at a time, then the newest content alone", async () => {
  const saver = start();
  saver.change();
  await wait(400);
  for (const next of ["ab", "abc", "abcd"]) {
    text = next;
    saver.change();
    await wait(500);
  }
  expect(sent).toHaveLength(1);
  sent[0]!.done();
  await wait(0);
  expect(sent.map(({ content }) => content)).toEqual(["a", "abcd"]);
  sent[1]!.done();
  await wait(1_000);
  expect(sent).toHaveLength(2);
  expect(saver.isBehind()).toBe(false);
});

it("does not save before there is anything", async () => {
  text = null;
  const saver = start();
  saver.change();
  await wait(400);
  expect(sent).toHaveLength(0);
  expect(states.at(-1)).toBe("nothing");
  expect(saver.isBehind()).toBe(false);
});

it("flushes at once, and answers whether all is kept", async () => {
  const saver = start();
  saver.change();
  const flushed = saver.flush();
  expect(sent).toHaveLength(1);
  sent[0]!.done();
  expect(await flushed).toBe(true);
  expect(await saver.flush()).toBe(true);
  text = "b";
  saver.change();
  const refused = saver.flush();
  sent[1]!.fail("refused");
  expect(await refused).toBe(false);
  expect(states.at(-1)).toBe("failed");
});

it("sends the same again, under the same key, where the answer was lost", async () => {
  const saver = start();
  saver.change();
  await wait(400);
  text = "ab";
  saver.change();
  sent[0]!.fail("lost");
  await wait(5_000);
  expect(sent.map(({ content, key }) => [content, key])).toEqual([
    ["a", "key 1"],
    ["a", "key 1"],
  ]);
  sent[1]!.done();
  await wait(0);
  expect(sent.at(-1)).toMatchObject({ content: "ab", key: "key 2" });
});

it("tries nothing again once it has ended, also what fails only then", async () => {
  const saver = start();
  saver.change();
  const left = saver.flush();
  saver.end();
  sent[0]!.fail("lost");
  expect(await left).toBe(false);
  await wait(60_000);
  expect(sent).toHaveLength(1);
});

it("holds after a conflict until it is decided, and overwrites nothing", async () => {
  const saver = start();
  saver.change();
  await wait(400);
  sent[0]!.fail("conflict");
  await wait(0);
  expect(states.at(-1)).toBe("conflict");
  text = "ab";
  saver.change();
  await wait(60_000);
  expect(await saver.flush()).toBe(false);
  expect(sent).toHaveLength(1);
  saver.begin(true);
  await wait(0);
  expect(sent.at(-1)).toMatchObject({ content: "ab" });
  sent[1]!.done();
  await wait(0);
  expect(saver.isBehind()).toBe(false);
});

it("has nothing to save after the other one was taken", async () => {
  const saver = start();
  saver.change();
  await wait(400);
  sent[0]!.fail("conflict");
  await wait(0);
  saver.begin(false);
  await wait(60_000);
  expect(sent).toHaveLength(1);
  expect(saver.isBehind()).toBe(false);
});
