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

  it("keeps places for the others, whatever one owner asks for, and gives those that get free in turn", async () => {
    const log: string[] = [];
    const gate = new Gate(4, { maxPerOwner: 3 });
    const works = ["a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1"].map((name) => createWork(name, log));
    const ends = works.map(({ run }, at) => gate.pass(run, "aaaaabbc"[at]));
    // Three of a's, then the place that a may not have.
    expect(log).toEqual(["a1", "a2", "a3", "b1"]);
    works[0]!.end();
    await turn();
    works[1]!.end();
    await turn();
    works[2]!.end();
    await turn();
    expect(log.slice(4)).toEqual(["a4", "b2", "c1"]);
    for (const { end } of works) end();
    await Promise.all(ends);
    expect(log).toHaveLength(8);
    // Nothing is left of them: all places are free again.
    const fresh = ["x1", "x2", "x3", "y1", "x4"].map((name) => createWork(name, log));
    const freshEnds = fresh.map(({ run }, at) => gate.pass(run, "xxxyx"[at]));
    expect(log.slice(8)).toEqual(["x1", "x2", "x3", "y1"]);
    for (const { end } of fresh) end();
    await Promise.all(freshEnds);
  });

  it("refuses those of an owner of whom too many wait", async () => {
    const log: string[] = [];
    const gate = new Gate(2, { maxPerOwner: 1, maxWaitingPerOwner: 1, tooMany: "Wait." });
    const works = ["a1", "a2", "b1"].map((name) => createWork(name, log));
    const ends = works.map(({ run }, at) => gate.pass(run, "aab"[at]));
    const refused = gate.pass(async () => "a3", "a");
    await expect(refused).rejects.toMatchObject({ kind: "rate_limited", message: "Wait." });
    expect(log).toEqual(["a1", "b1"]);
    for (const { end } of works) end();
    await Promise.all(ends);
    expect(await gate.pass(async () => "a4", "a")).toBe("a4");
  });
});
