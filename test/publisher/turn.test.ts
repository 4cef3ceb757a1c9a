import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Turn } from "../../src/publisher/turn.ts";

describe("whose turn it is", () => {
  it("lets 512 send at a time, in the order in which they came, also after failures", async () => {
    const turn = new Turn();
    const started: number[] = [];
    const ends: (() => void)[] = [];
    const all = Array.from({ length: 600 }, (_, n) =>
      turn.send(async () => {
        started.push(n);
        await new Promise<void>((resolve) => ends.push(resolve));
        if (n % 2 === 0) throw new Error(`${n} failed`);
      }),
    );
    const settled = Promise.allSettled(all);
    await setImmediate();
    expect(started.length).toBe(512);
    ends[0]?.();
    ends[1]?.();
    await setImmediate();
    expect(started.slice(512)).toEqual([512, 513]);
    for (let n = 2; n < 600; n++) {
      ends[n]?.();
      await setImmediate();
    }
    expect((await settled).filter(({ status }) => status === "rejected").length).toBe(300);
    expect(started).toEqual(Array.from({ length: 600 }, (_, n) => n));
  });

  it("lets what is over wait until everything is claimed", async () => {
    const turn = new Turn();
    await turn.afterClaims();
    turn.take();
    turn.take();
    const seen: string[] = [];
    const sending = turn.send(async () => seen.push("sent")).then(() => seen.push("told"));
    const ending = turn.afterClaims().then(() => seen.push("ended"));
    await setImmediate();
    expect(seen).toEqual(["sent"]);
    turn.pass();
    await Promise.all([sending, ending]);
    expect(seen.sort()).toEqual(["ended", "sent", "told"]);
    turn.pass();
    await turn.afterClaims();
  });

  it("lets few go beside claims, and the others, first come first, once everything is claimed", async () => {
    const turn = new Turn();
    turn.take();
    const started: number[] = [];
    const all = Array.from({ length: 300 }, (_, n) => turn.send(async () => started.push(n)));
    await setImmediate();
    expect(started.length).toBe(100);
    turn.pass();
    await Promise.all(all);
    expect(started).toEqual(Array.from({ length: 300 }, (_, n) => n));
  });
});
