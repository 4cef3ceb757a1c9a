import { beforeAll, describe, expect, it } from "vitest";
import { noteTitle } from "../../src/domain/accounts/platform-titles.ts";
import { fromStored } from "../../src/domain/sentences.ts";
import { agentsWords } from "../../src/toolkit/words.ts";
import { AppError, INTERNAL_ERROR_SENTENCE } from "../../src/domain/errors.ts";
import { TRANSITIONS } from "../../src/domain/posts/post-states.ts";
import { HOUR, MINUTE, SECOND } from "../../src/domain/time.ts";
import { MediaUnavailable } from "../../src/ports/media.ts";
import type { PublishOutcome } from "../../src/ports/platform.ts";
import { FAULT_KINDS, PlatformFault } from "../../src/ports/platform-io.ts";
import { verdictOnError, verdictOnOutcome, type Situation } from "../../src/publishing/verdict.ts";
import { AskAgain, OutcomeUnknown, TooLate } from "../../src/publishing/effect-steps.ts";
import type { AttemptResult } from "../../src/store/engine/ledger.ts";

const NOW = Date.parse("2026-11-21T09:00:00Z");

/** Two tries lie behind it, so that the next one comes after half of 8 s. */
const AT: Situation = {
  now: NOW,
  scheduledAt: NOW - 10 * SECOND,
  isUploaded: false,
  showsItself: false,
  isPublished: false,
  isOpen: false,
  hasTouchedPlatform: false,
  tries: 2,
  giveUpAt: NOW + HOUR,
  account: {
    name: "News",
    provider: "feed",
    handle: null,
    id: "acc_1",
    profileUrl: "https://feed.example/news",
  },
  random: 0.5,
};

const WHY = "It broke.";
const fault = (kind: PlatformFault["kind"], retryAfterMs?: number): PlatformFault =>
  new PlatformFault(kind, WHY, retryAfterMs === undefined ? {} : { retryAfterMs });

const IDS = { platformPostId: "id_1", platformUrl: "https://feed.example/1" };

const OUTCOMES: Readonly<Record<string, PublishOutcome>> = {
  live: { state: "live", ...IDS },
  held: { state: "held", ...IDS },
  prepared: { state: "prepared" },
  processing: { state: "processing", checkAgainMs: 7 * SECOND },
};

const ERRORS: Readonly<Record<string, Error>> = {
  rejected: fault("rejected"),
  auth: fault("auth"),
  "rate, 30 s": fault("rate", 30 * SECOND),
  rate: fault("rate"),
  ambiguous: fault("ambiguous"),
  transient: fault("transient"),
  not_sent: fault("not_sent"),
  setup: fault("setup"),
  OutcomeUnknown: new OutcomeUnknown(WHY),
  "AskAgain, 5 s": new AskAgain(5 * SECOND),
  TooLate: new TooLate(),
  "no media": new MediaUnavailable(WHY),
  "full disk": new AppError("unavailable", WHY),
  refused: new AppError("invalid", WHY),
  "a bug": new TypeError("undefined is not a function"),
};

const SENTENCES: Readonly<Record<string, string | null>> = {
  "–": null,
  why: WHY,
  reconnect: "The channel News on Feed must be reconnected first. It broke.",
  unsettled: "The platform has not settled it yet.",
  bug: INTERNAL_ERROR_SENTENCE,
  "given up": `${WHY} It was tried 3 times. Send it again.`,
  "not mended": `${WHY} Once that is mended, send it again.`,
  "past its time": `${WHY} That is past the post's time. Send it again later.`,
  "unknown: why":
    "outcome unknown: It broke. Look at https://feed.example/news. Settle it with resolve_post.",
  "unknown: unsettled":
    "outcome unknown: The platform has not settled it yet. Look at https://feed.example/news. Settle it with resolve_post.",
  "unknown: bug": `outcome unknown: ${INTERNAL_ERROR_SENTENCE} Look at https://feed.example/news. Settle it with resolve_post.`,
};

/*
 * open: a step's outcome is. up: the post is uploaded. late: the next try would come after its last moment. *: either.
 * A state of "=" stays what it was. Error and reason are SENTENCES: the post's, and its attempt's. waits: the account.
 */
const TABLE = `
  what           | open | up | late | state     | next | doubt | error              | attempt   | reason             | waits | tries
  live           | *    | *  | *    | published | –    | no    | –                  | published | –                  | –     | 0
  held           | *    | no | *    | uploaded  | 1 s  | no    | –                  | uploaded  | –                  | –     | 0
  held           | *    | up | *    | =         | 1 s  | no    | –                  | uploaded  | –                  | –     | 0
  prepared       | no   | no | *    | scheduled | 1 s  | no    | –                  | waiting   | –                  | –     | 0
  prepared       | no   | up | *    | =         | 1 s  | no    | –                  | waiting   | –                  | –     | 0
  prepared       | open | *  | *    | =         | 1 s  | no    | –                  | waiting   | –                  | –     | 0
  processing     | *    | *  | *    | =         | 7 s  | no    | –                  | waiting   | –                  | –     | 0

  rejected       | no   | *  | *    | failed    | –    | no    | why                | failed    | why                | –     | 0
  rejected       | open | *  | no   | =         | 4 s  | yes   | –                  | retrying  | why                | –     | 3
  rejected       | open | *  | late | failed    | –    | yes   | unknown: why       | unknown   | unknown: why       | –     | 0
  auth           | no   | no | *    | scheduled | 1 s  | no    | reconnect          | retrying  | reconnect          | –     | 2
  auth           | no   | up | *    | =         | 1 s  | no    | reconnect          | retrying  | reconnect          | –     | 2
  auth           | open | *  | *    | =         | 1 s  | yes   | reconnect          | retrying  | reconnect          | –     | 2
  rate, 30 s     | no   | no | no   | scheduled | 30 s | no    | why                | retrying  | why                | 30 s  | 3
  rate, 30 s     | no   | up | no   | =         | 30 s | no    | why                | retrying  | why                | 30 s  | 3
  rate, 30 s     | open | *  | no   | =         | 30 s | yes   | –                  | retrying  | why                | 30 s  | 3
  rate, 30 s     | no   | *  | late | failed    | –    | no    | past its time      | failed    | past its time      | –     | 0
  rate, 30 s     | open | *  | late | failed    | –    | yes   | unknown: why       | unknown   | unknown: why       | –     | 0
  rate           | no   | no | no   | scheduled | 16 s | no    | why                | retrying  | why                | 16 s  | 3
  rate           | no   | up | no   | =         | 16 s | no    | why                | retrying  | why                | 16 s  | 3
  rate           | open | *  | no   | =         | 16 s | yes   | –                  | retrying  | why                | 16 s  | 3
  rate           | no   | *  | late | failed    | –    | no    | past its time      | failed    | past its time      | –     | 0
  rate           | open | *  | late | failed    | –    | yes   | unknown: why       | unknown   | unknown: why       | –     | 0
  ambiguous      | *    | *  | no   | =         | 4 s  | yes   | –                  | retrying  | why                | –     | 3
  ambiguous      | *    | *  | late | failed    | –    | yes   | unknown: why       | unknown   | unknown: why       | –     | 0
  transient      | no   | no | no   | scheduled | 13.5 s | no    | why                | retrying  | why                | 13.5 s | 3
  transient      | no   | up | no   | =         | 13.5 s | no    | why                | retrying  | why                | 13.5 s | 3
  transient      | no   | *  | late | failed    | –    | no    | given up           | failed    | given up           | –     | 0
  transient      | open | *  | no   | =         | 4 s  | yes   | –                  | retrying  | why                | –     | 3
  transient      | open | *  | late | failed    | –    | yes   | unknown: why       | unknown   | unknown: why       | –     | 0
  not_sent       | no   | no | no   | scheduled | 13.5 s | no    | why                | retrying  | why                | 13.5 s | 3
  not_sent       | no   | up | no   | =         | 13.5 s | no    | why                | retrying  | why                | 13.5 s | 3
  not_sent       | no   | *  | late | failed    | –    | no    | given up           | failed    | given up           | –     | 0
  not_sent       | open | *  | no   | =         | 4 s  | yes   | –                  | retrying  | why                | –     | 3
  not_sent       | open | *  | late | failed    | –    | yes   | unknown: why       | unknown   | unknown: why       | –     | 0
  setup          | no   | no | no   | scheduled | 360 s | no   | why                | retrying  | why                | 50 s  | 3
  setup          | no   | up | no   | =         | 360 s | no   | why                | retrying  | why                | 50 s  | 3
  setup          | no   | *  | late | failed    | –    | no    | not mended         | failed    | not mended         | –     | 0
  setup          | open | *  | no   | =         | 4 s  | yes   | –                  | retrying  | why                | –     | 3
  setup          | open | *  | late | failed    | –    | yes   | unknown: why       | unknown   | unknown: why       | –     | 0

  OutcomeUnknown | *    | *  | *    | failed    | –    | yes   | unknown: why       | unknown   | unknown: why       | –     | 0
  AskAgain, 5 s  | *    | *  | no   | =         | 5 s  | yes   | –                  | retrying  | unsettled          | –     | 3
  AskAgain, 5 s  | *    | *  | late | failed    | –    | yes   | unknown: unsettled | unknown   | unknown: unsettled | –     | 0
  TooLate        | *    | *  | *    | failed    | –    | no    | missed             | failed    | missed             | –     | 0
  no media       | no   | no | no   | scheduled | 13.5 s | no    | why                | retrying  | why                | 13.5 s | 3
  no media       | no   | up | no   | =         | 13.5 s | no    | why                | retrying  | why                | 13.5 s | 3
  no media       | no   | *  | late | failed    | –    | no    | given up           | failed    | given up           | –     | 0
  no media       | open | *  | no   | =         | 4 s  | yes   | –                  | retrying  | why                | –     | 3
  no media       | open | *  | late | failed    | –    | yes   | unknown: why       | unknown   | unknown: why       | –     | 0
  full disk      | no   | no | no   | scheduled | 13.5 s | no    | why                | retrying  | why                | 13.5 s | 3
  full disk      | no   | up | no   | =         | 13.5 s | no    | why                | retrying  | why                | 13.5 s | 3
  full disk      | no   | *  | late | failed    | –    | no    | given up           | failed    | given up           | –     | 0
  full disk      | open | *  | no   | =         | 4 s  | yes   | –                  | retrying  | why                | –     | 3
  full disk      | open | *  | late | failed    | –    | yes   | unknown: why       | unknown   | unknown: why       | –     | 0
  refused        | no   | *  | *    | failed    | –    | no    | why                | failed    | why                | –     | 0
  refused        | open | *  | no   | =         | 4 s  | yes   | –                  | retrying  | why                | –     | 3
  refused        | open | *  | late | failed    | –    | yes   | unknown: why       | unknown   | unknown: why       | –     | 0
  a bug          | no   | *  | *    | failed    | –    | no    | bug                | failed    | bug                | –     | 0
  a bug          | open | *  | no   | =         | 4 s  | yes   | –                  | retrying  | bug                | –     | 3
  a bug          | open | *  | late | failed    | –    | yes   | unknown: bug       | unknown   | unknown: bug       | –     | 0
`;

const [HEAD = [], ...ROWS] = TABLE.split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => line.split("|").map((cell) => cell.trim()));

const rows = ROWS.map((cells) => Object.fromEntries(HEAD.map((name, at) => [name, cells[at]!])));

/** Every situation that a row stands for. */
const SITUATIONS = [false, true].flatMap((isOpen) =>
  [false, true].flatMap((isUploaded) =>
    [false, true].flatMap((isLate) =>
      [false, true].map((hasTouchedPlatform) => ({ isOpen, isUploaded, isLate, hasTouchedPlatform })),
    ),
  ),
);

type Flags = (typeof SITUATIONS)[number];

const isMeant = (cell: string | undefined, flag: boolean): boolean =>
  cell === "*" || (cell !== "no") === flag;

const matches = (row: Record<string, string>, flags: Flags): boolean =>
  isMeant(row["open"], flags.isOpen) &&
  isMeant(row["up"], flags.isUploaded) &&
  isMeant(row["late"], flags.isLate);

function verdict(what: string, { isLate, ...flags }: Flags, more: Partial<Situation> = {}): AttemptResult {
  const at = { ...AT, ...flags, ...(isLate ? { giveUpAt: NOW } : {}), ...more };
  const outcome = OUTCOMES[what];
  return outcome === undefined ? verdictOnError(ERRORS[what], at) : verdictOnOutcome(outcome, at);
}

const seconds = (at: number | null): string => (at === null ? "–" : `${(at - NOW) / SECOND} s`);

/** A sentence by its name in the table, or as it is. */
const nameOf = (sentence: string | null): string =>
  // It tells how late posts may go out, which is another span in each situation.
  sentence?.startsWith("It missed its time: ") === true
    ? "missed"
    : (Object.keys(SENTENCES).find((name) => SENTENCES[name] === sentence) ?? String(sentence));

function show(end: AttemptResult): Record<string, string> {
  return {
    state: end.trigger === null ? "=" : TRANSITIONS[end.trigger].to,
    next: seconds(end.nextAt),
    doubt: end.isInDoubt ? "yes" : "no",
    error: nameOf(inWords(end.error)),
    attempt: end.attempt.outcome,
    reason: nameOf(inWords(end.attempt.error)),
    waits: seconds(end.accountWait?.until ?? null),
    tries: String(end.tries),
  };
}

beforeAll(() => noteTitle("feed", "Feed"));

describe("the verdict", () => {
  it.each(rows)("on $what (open: $open, uploaded: $up, late: $late) is $state", (row) => {
    for (const flags of SITUATIONS.filter((one) => matches(row, one))) {
      expect({ ...flags, ...row, ...show(verdict(row["what"]!, flags)) }).toEqual({ ...flags, ...row });
    }
  });

  it("is in the table once for everything that can happen, in every situation", () => {
    const whats = [...Object.keys(OUTCOMES), ...Object.keys(ERRORS)];
    const counts = whats.flatMap((what) =>
      SITUATIONS.map((flags) => ({
        what,
        ...flags,
        rows: rows.filter((row) => row["what"] === what && matches(row, flags)).length,
      })),
    );
    expect(counts.filter((one) => one.rows !== 1)).toEqual([]);
    const kinds = Object.values(ERRORS).flatMap((error) =>
      error instanceof PlatformFault ? [error.kind] : [],
    );
    expect(new Set(kinds)).toEqual(new Set(FAULT_KINDS));
  });

  it("never lets a post be changed or cancelled while a step is open", () => {
    const open = SITUATIONS.filter(({ isOpen }) => isOpen);
    const released = [...Object.keys(OUTCOMES), ...Object.keys(ERRORS)].filter((what) =>
      open.some((flags) => verdict(what, flags).trigger === "release"),
    );
    expect(released).toEqual([]);
  });
});

const PLAIN: Flags = { isOpen: false, isUploaded: false, isLate: false, hasTouchedPlatform: false };

/** As callers read it. */
function inWords(stored: string | null): string | null {
  return stored === null ? null : agentsWords(fromStored(stored));
}

describe("beside the table", () => {
  it("what the platform calls the post is kept, and when it went live", () => {
    expect(verdict("live", PLAIN)).toMatchObject({ ...IDS, publishedAt: NOW });
    expect(verdict("held", PLAIN)).toMatchObject({ ...IDS, publishedAt: null });
    expect(verdict("prepared", PLAIN)).toMatchObject({ platformPostId: null, platformUrl: null });
  });

  it.each(["held", "prepared"])("a post that is %s ahead of its time goes on at its time", (what) => {
    expect(verdict(what, PLAIN, { scheduledAt: NOW + HOUR }).nextAt).toBe(NOW + HOUR);
  });

  it("a held post is looked at ahead of its time where its platform asks for it, and at its time", () => {
    const nextIn = (checkAgainMs: number): number =>
      (verdictOnOutcome({ state: "held", ...IDS, checkAgainMs }, { ...AT, scheduledAt: NOW + HOUR }).nextAt ??
        0) - NOW;
    expect([nextIn(MINUTE), nextIn(2 * HOUR), nextIn(0)]).toEqual([MINUTE, HOUR, SECOND]);
  });

  it.each([
    ["the first", 0, 0.5, "1.5 s"],
    ["the first, never at once", 0, 0, "1 s"],
    ["the sixth", 5, 1, "486 s"],
    ["the seventh, no longer than ten minutes", 6, 1, "600 s"],
  ])("a failure waits longer each time: %s", (_name, tries, random, next) => {
    expect(seconds(verdict("transient", PLAIN, { tries, random }).nextAt)).toBe(next);
  });

  it("outlasts a server that is away for ten minutes, at the worst of luck", () => {
    const gaps = [0, 1, 2, 3, 4, 5, 6].map(
      (tries) => (verdict("transient", PLAIN, { tries, random: 0 }).nextAt ?? 0) - NOW,
    );
    expect(gaps.reduce((sum, gap) => sum + gap)).toBeGreaterThan(10 * MINUTE);
  });

  it("the eighth try is the last, but asking what became of a step has no end before the post's time has", () => {
    expect(verdict("transient", PLAIN, { tries: 6 }).trigger).toBe("release");
    expect(verdict("transient", PLAIN, { tries: 7 })).toMatchObject({
      trigger: "fail",
      error: expect.stringContaining("tried 8 times"),
    });
    expect(verdict("transient", { ...PLAIN, isOpen: true }, { tries: 7 })).toMatchObject({
      trigger: null,
      isInDoubt: true,
      tries: 8,
    });
  });

  it("a platform is asked no sooner than a second after an answer was lost, and a rate waits as long at least", () => {
    expect(seconds(verdict("ambiguous", PLAIN, { tries: 0, random: 0 }).nextAt)).toBe("1 s");
    expect(verdictOnError(fault("rate", 5), AT).nextAt).toBe(NOW + SECOND);
    expect(seconds(verdict("rate", PLAIN, { tries: 8, random: 1 }).nextAt)).toBe("600 s");
  });

  it("a limit holds for the channel also where its post is given up, if another of it could wait so long", () => {
    const ended = { scheduledAt: NOW - HOUR, giveUpAt: NOW };
    for (const isOpen of [false, true]) {
      const waits = (ms: number): number | null =>
        verdictOnError(fault("rate", ms), { ...AT, ...ended, isOpen }).accountWait?.until ?? null;
      expect([waits(90 * SECOND), waits(HOUR + SECOND)]).toEqual([NOW + 90 * SECOND, null]);
    }
  });

  it("a failing post holds up those behind it for a minute after its time, not longer", () => {
    const waits = (scheduledAt: number): string =>
      seconds(verdict("transient", PLAIN, { scheduledAt }).accountWait?.until ?? null);
    expect(waits(NOW - MINUTE + 2 * SECOND)).toBe("2 s");
    expect(waits(NOW - 5 * MINUTE)).toBe("0 s");
  });

  it("where a channel has no page of its own, its name says where to look", () => {
    const end = verdict("OutcomeUnknown", PLAIN, { account: { ...AT.account, profileUrl: null } });
    expect(inWords(end.error)).toBe(
      "outcome unknown: It broke. Look at the channel News on Feed. Settle it with resolve_post.",
    );
  });
});

it.each(["rate, 30 s", "transient", "not_sent", "setup", "no media", "full disk"])(
  "leaves a post in doubt that its platform shows by itself, where looking at it fails until the end: %s",
  (what) => {
    const flags = { isOpen: false, isUploaded: true, isLate: true, hasTouchedPlatform: true };
    expect(show(verdict(what, flags, { showsItself: true }))).toMatchObject({
      state: "failed",
      doubt: "yes",
    });
    expect(show(verdict(what, flags))).toMatchObject({ state: "failed", doubt: "no" });
  },
);
