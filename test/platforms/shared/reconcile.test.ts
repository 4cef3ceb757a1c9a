import { describe, expect, it } from "vitest";
import { MINUTE, SECOND } from "../../../src/domain/time.ts";
import type { Json } from "../../../src/ports/platform-io.ts";
import type { ReconcileContext } from "../../../src/ports/publish-io.ts";
import { blind, type Listing, reconcileByListing } from "../../../src/platforms/shared/reconcile.ts";

const SENT_AT = 1_000 * MINUTE;
const REASON = "the platform cannot tell.";

/** A step whose handle is kept between askings. */
function step(handle: Json = null) {
  let kept = handle;
  const context = (): ReconcileContext => ({
    key: "0".repeat(32),
    handle: kept,
    saveHandle: async (next) => void (kept = next),
    signal: new AbortController().signal,
    timesSent: 1,
    intentAt: SENT_AT,
    timesAsked: 0,
    wasTaken: false,
  });
  return { context, handle: () => kept };
}

const listing = (afterMs: number, more: Partial<Listing<string>> = {}): Listing<string> => ({
  io: { now: () => SENT_AT + afterMs, aheadMs: () => 0 },
  listedAfterMs: 30 * SECOND,
  find: async () => null,
  ...more,
});

describe("reconcileByListing", () => {
  it("takes what it finds, of posts made since shortly before the sending", async () => {
    const asked: number[] = [];
    const find = async (since: number) => {
      asked.push(since);
      return "7";
    };
    const settled = await reconcileByListing(step().context(), listing(SECOND, { find }));
    expect(settled).toEqual({ outcome: "done", result: "7" });
    expect(asked).toEqual([SENT_AT - MINUTE]);
  });

  it("finds what was sent by a clock that is ahead of the platform's", async () => {
    const ahead = 7 * MINUTE;
    const io = { now: () => SENT_AT + 5 * MINUTE, aheadMs: () => ahead };
    const find = async (since: number) => (since <= SENT_AT - ahead ? "7" : null);
    const settled = await reconcileByListing(step().context(), listing(0, { io, find }));
    expect(settled).toEqual({ outcome: "done", result: "7" });
  });

  it("sends again only after two empty listings, the platform's time to settle apart", async () => {
    const one = step();
    const ask = (afterMs: number) => reconcileByListing(one.context(), listing(afterMs));
    expect(await ask(10 * MINUTE)).toEqual({ outcome: "ask_again", afterMs: 30 * SECOND });
    expect(await ask(10 * MINUTE + 10 * SECOND)).toEqual({ outcome: "ask_again", afterMs: 20 * SECOND });
    expect(await ask(10 * MINUTE + 30 * SECOND)).toEqual({ outcome: "send_again" });
    // What is sent then is doubted and looked for anew.
    expect(one.handle()).toBeNull();
    expect(await ask(12 * MINUTE)).toMatchObject({ outcome: "ask_again" });
  });

  it("looks for it also by a clock that was put back since", async () => {
    const one = step();
    const ask = (afterMs: number, find = async (): Promise<string | null> => null) =>
      reconcileByListing(one.context(), listing(afterMs, { find }));
    expect(await ask(MINUTE)).toMatchObject({ outcome: "ask_again" });
    expect(await ask(-5 * MINUTE)).toEqual({ outcome: "ask_again", afterMs: 30 * SECOND });
    expect(await ask(-5 * MINUTE + 10 * SECOND)).toEqual({ outcome: "ask_again", afterMs: 20 * SECOND });
    expect(await ask(-4 * MINUTE, async () => "7")).toEqual({ outcome: "done", result: "7" });
  });

  it("never sends again what the platform said it took, though no listing shows it", async () => {
    const one = step();
    const ask = (afterMs: number) =>
      reconcileByListing({ ...one.context(), wasTaken: true }, listing(afterMs));
    expect(await ask(MINUTE)).toMatchObject({ outcome: "ask_again" });
    expect(await ask(2 * MINUTE)).toMatchObject({ outcome: "unknown" });
  });

  it("finds what the first listing did not show yet", async () => {
    const one = step();
    await reconcileByListing(one.context(), listing(SECOND));
    const found = listing(MINUTE, { find: async () => "7" });
    expect(await reconcileByListing(one.context(), found)).toEqual({ outcome: "done", result: "7" });
  });

  it("leaves the step's own handle as it is", async () => {
    const one = step({ container: "c1" });
    await reconcileByListing(one.context(), listing(SECOND));
    expect(one.handle()).toMatchObject({ container: "c1" });
    await reconcileByListing(one.context(), listing(MINUTE));
    expect(one.handle()).toEqual({ container: "c1" });
  });

  it.each([
    ["of the listing", { doubt: REASON }, async () => null],
    ["of this look", {}, async (_since: number, doubts: (reason: string) => void) => (doubts(REASON), null)],
  ] as const)("never takes an empty listing in doubt for a proof: %s", async (_name, doubt, look) => {
    const one = step();
    const ask = (afterMs: number, find: Listing<string>["find"] = look) =>
      reconcileByListing(one.context(), listing(afterMs, { ...doubt, find }));
    expect(await ask(SECOND)).toEqual({ outcome: "ask_again", afterMs: 30 * SECOND });
    expect(await ask(MINUTE)).toEqual({ outcome: "unknown", reason: REASON });
    expect(await ask(60 * MINUTE)).toEqual({ outcome: "unknown", reason: REASON });
    expect(await ask(60 * MINUTE, async () => "7")).toEqual({ outcome: "done", result: "7" });
  });

  it("counts no listing that failed", async () => {
    const one = step();
    const find = async () => {
      throw new Error("The platform is down.");
    };
    await expect(reconcileByListing(one.context(), listing(SECOND, { find }))).rejects.toThrow("down");
    expect(await reconcileByListing(one.context(), listing(MINUTE))).toMatchObject({ outcome: "ask_again" });
  });
});

it("repeats under the same key while the platform surely knows it, then looks for the post", async () => {
  const one = step();
  const ask = (afterMs: number) =>
    reconcileByListing(one.context(), listing(afterMs, { keyMs: 60 * MINUTE }));
  expect(await ask(44 * MINUTE)).toEqual({ outcome: "send_again", isStillInDoubt: true });
  expect(await ask(45 * MINUTE)).toMatchObject({ outcome: "ask_again" });
  expect(await ask(46 * MINUTE)).toEqual({ outcome: "send_again" });
});

it("asks a person where nobody else can tell", async () => {
  expect(await blind("Telegram")()).toEqual({
    outcome: "unknown",
    reason: "the answer was lost, and Telegram cannot be asked whether the post is there.",
  });
});
