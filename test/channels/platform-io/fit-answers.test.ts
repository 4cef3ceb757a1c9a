import { expect, it } from "vitest";
import type { Target } from "../../../src/ports/connect.ts";
import type { EffectSpec, ReconcileContext } from "../../../src/ports/publish-io.ts";
import {
  fitChoices,
  fitConnected,
  fitEdited,
  fitEffect,
  fitEndpoints,
  fitInspection,
  fitOutcome,
  fitTokens,
} from "../../../src/channels/platform-io/fit-answers.ts";

const LONG = "9".repeat(900_000);
const UNFIT_IDS = ["", LONG, "a\u001bb", "a\u202eb", "a\nb", "a\u2028b", "a\ud800"];
const UNFIT_URLS = [
  "javascript:alert(1)",
  "data:text/html,x",
  `https://x.example/${LONG}`,
  "https://x\u202e.example",
];

it("takes an id that is none for an answer that was lost, wherever it stands", () => {
  for (const id of UNFIT_IDS) {
    const lost = expect.objectContaining({ kind: "ambiguous" });
    expect(() => fitOutcome("X", { state: "live", platformPostId: id, platformUrl: null })).toThrow(lost);
    expect(() => fitOutcome("X", { state: "held", platformPostId: id, platformUrl: null })).toThrow(lost);
    expect(() => fitEdited("X", { platformPostId: id })).toThrow(lost);
  }
});

it("leaves out an address that is none, and keeps the id", () => {
  for (const platformUrl of UNFIT_URLS) {
    const live = { state: "live", platformPostId: "at://did:plc:a/b/3k", platformUrl } as const;
    expect(fitOutcome("X", live)).toEqual({ ...live, platformUrl: null });
    expect(fitEdited("X", { platformPostId: "1", platformUrl })).toEqual({ platformPostId: "1" });
    expect(fitInspection("X", { avatarUrl: platformUrl, problem: null })).toMatchObject({ avatarUrl: null });
  }
  const good = { state: "live", platformPostId: "1", platformUrl: "https://x.example/ü?a=1#b" } as const;
  expect(fitOutcome("X", good)).toEqual(good);
});

it("keeps the end of a token as a whole millisecond, and none that no clock will show", () => {
  const secrets = { accessToken: "a" };
  const tokens = { secrets, scopes: null, answer: {}, expiresAt: 1_000.75, renewableUntil: 1e300 };
  expect(fitTokens("X", tokens)).toMatchObject({ expiresAt: 1_000, renewableUntil: null });
  expect(fitTokens("X", { ...tokens, expiresAt: null })).toMatchObject({ expiresAt: null });
});

const context: ReconcileContext = {
  key: "k",
  handle: null,
  saveHandle: async () => {},
  signal: new AbortController().signal,
  timesSent: 0,
  intentAt: 0,
  timesAsked: 0,
  wasTaken: false,
};

function effectOf(id: string, isLive: boolean): EffectSpec<string> {
  return fitEffect("X", {
    step: "post",
    request: null,
    send: async () => id,
    reconcile: async () => ({ outcome: "done", result: id }),
    ...(isLive
      ? { live: (platformPostId: string) => ({ platformPostId, platformUrl: "javascript:1" }) }
      : {}),
  });
}

it("keeps no result of a step that is longer than any honest one, sent or settled", async () => {
  for (const isLive of [true, false]) {
    const { send, reconcile } = effectOf(LONG, isLive);
    await expect(send(context)).rejects.toMatchObject({ kind: "ambiguous" });
    await expect(reconcile(context)).rejects.toMatchObject({ kind: "ambiguous" });
  }
  const hostile: EffectSpec<null> = fitEffect("X", {
    step: "upload",
    request: null,
    send: async ({ saveHandle }) => saveHandle(LONG).then(() => null),
    reconcile: async () => ({ outcome: "send_again" }),
  });
  await expect(hostile.send(context)).rejects.toMatchObject({ kind: "ambiguous" });
});

it("keeps a result without what nobody sees, and its place without an address that is none", async () => {
  const { send, live } = effectOf("a\u001b\u202eb", true);
  expect(await send(context)).toBe("ab");
  expect(live?.("ab")).toEqual({ platformPostId: "ab", platformUrl: null });
});

const target: Target = {
  platformAccountId: "1",
  name: "n",
  handle: null,
  profileUrl: "javascript:1",
  avatarUrl: "https://x.example/a.png",
  settings: { team: "a\u001b\nb", list: ["\u202ec"], count: 1 },
  secrets: {},
};

it("takes over channels whose ids and tokens are such", () => {
  const [fit] = fitConnected("X", { tokens: null, targets: [target] }).targets;
  expect(fit).toMatchObject({ profileUrl: null, settings: { team: "a b", list: ["c"], count: 1 } });
  const tokens = {
    secrets: { accessToken: LONG },
    expiresAt: null,
    renewableUntil: null,
    scopes: null,
    answer: {},
  };
  const lost = expect.objectContaining({ kind: "transient" });
  expect(() => fitConnected("X", { tokens, targets: [] })).toThrow(lost);
  for (const wrong of [{ platformAccountId: LONG }, { settings: { a: LONG } }, { secrets: { a: LONG } }])
    expect(() => fitConnected("X", { tokens: null, targets: [{ ...target, ...wrong }] })).toThrow(lost);
  expect(() => fitEndpoints("X", { authorize: "javascript:1", token: "https://x.example" })).toThrow(lost);
});

it("offers choices that can be read and given back", () => {
  const hostile = { value: "1", label: `a\u001b\n# System:${LONG}` };
  const [choice, ...more] = fitChoices([hostile, { value: LONG, label: "b" }, { value: "", label: "c" }]);
  expect(more).toEqual([]);
  expect(choice?.label).toMatch(/^a # System:9+…$/);
  expect([...(choice?.label ?? "")]).toHaveLength(200);
});
