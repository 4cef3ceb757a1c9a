import { describe, expect, it } from "vitest";
import { Gate } from "../../src/domain/gate.ts";

/** A piece of work that ends when it is told to. */
function createWork(name: string, log: string[]): { run: () => Promise<string>; end: () => void } {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const run = async (): Promise<string> => {
    log.push(name);
    await ended;
    if (name === "bad") throw new Error("bad");
    return name;
  };
  return { run, end };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("Gate", () => {
  it("lets so many through at a time, in order, whatever becomes of them", async () => {
    const log: string[] = [];
    const works = ["a", "bad", "c", "d"].map((name) => createWork(name, log));
    const gate = new Gate(2);
    const ends = Promise.allSettled(works.map(({ run }) => gate.pass(run)));
    expect(log).toEqual(["a", "bad"]);
    works[1]!.end();
    await turn();
    expect(log).toEqual(["a", "bad", "c"]);
    const late = createWork("e", log);
    const end = gate.pass(late.run);
    works[0]!.end();
    await turn();
    expect(log).toEqual(["a", "bad", "c", "d"]);
    for (const { end: stop } of [...works, late]) stop();
    expect((await ends).map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
    expect(await end).toBe("e");
  });
});
