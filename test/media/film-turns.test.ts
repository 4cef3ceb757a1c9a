import { describe, expect, it } from "vitest";
import { FilmTurns } from "../../src/media/film/turns.ts";
import { type FilmJob, Overtaken } from "../../src/ports/film-converter.ts";

const never = new AbortController().signal;

/** Work that ends when it is told to, or with its signal. */
function createWork() {
  const turns = new FilmTurns();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const convert = (id: string, dueAt: number, isAhead: boolean, signal = never): Promise<string> => {
    const job = { id, dueAt, isAhead: () => isAhead } as FilmJob;
    return turns.run(job, signal, (own) => {
      begun.push(id);
      return new Promise((resolve, reject) => {
        ends.set(id, () => resolve(id));
        own.addEventListener("abort", () => reject(new Error("It was broken off.")));
      });
    });
  };
  return { begun, convert, end: (id: string) => ends.get(id)?.() };
}

describe("the turns of films", () => {
  it("come in the order in which their posts are due, one at a time", async () => {
    const { begun, convert, end } = createWork();
    const all = [
      convert("first", 5, false),
      convert("last", 9, false),
      convert("soon", 2, false),
      convert("mid", 4, false),
    ];
    for (const id of ["first", "soon", "mid", "last"]) {
      expect(begun.at(-1)).toBe(id);
      end(id);
      await new Promise(setImmediate);
    }
    expect(await Promise.all(all)).toEqual(["first", "last", "soon", "mid"]);
  });

  it("are taken from one that is ahead of its time by one that is due", async () => {
    const { begun, convert, end } = createWork();
    const ahead = expect(convert("ahead", 30, true)).rejects.toThrow(Overtaken);
    const earlier = convert("earlier, ahead too", 20, true);
    await new Promise(setImmediate);
    expect(begun).toEqual(["ahead"]);
    const due = convert("due", 1, false);
    await ahead;
    await new Promise(setImmediate);
    expect(begun).toEqual(["ahead", "due"]);
    // One that is due is not broken off.
    const other = convert("due as well", 0, false);
    expect(begun).toEqual(["ahead", "due"]);
    for (const id of ["due", "due as well", "earlier, ahead too"]) {
      end(id);
      await new Promise(setImmediate);
    }
    expect(await Promise.all([due, other, earlier])).toHaveLength(3);
  });

  it("are left by who does not want them any more", async () => {
    const { begun, convert, end } = createWork();
    const stop = new AbortController();
    const running = convert("running", 1, false);
    const waiting = expect(convert("waiting", 2, false, stop.signal)).rejects.toThrow("Enough.");
    const last = convert("last", 3, false);
    stop.abort(new Error("Enough."));
    await waiting;
    end("running");
    await running;
    await new Promise(setImmediate);
    end("last");
    expect(await last).toBe("last");
    expect(begun).toEqual(["running", "last"]);
    await expect(convert("never", 1, false, stop.signal)).rejects.toThrow("Enough.");
  });
});
