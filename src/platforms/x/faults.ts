import * as z from "zod";
import { MINUTE } from "../../domain/time.ts";
import type { PlatformResponse } from "../../ports/platform-io.ts";
import { faultsBy, type Code } from "../shared/faults.ts";

const Problem = z.looseObject({
  type: z.string().catch(""),
  title: z.string().catch(""),
  detail: z.string().catch(""),
  reason: z.string().catch(""),
  code: z.number().nullable().catch(null),
  message: z.string().catch(""),
});
/** What X answers with an error: a problem, or a list of them, beside which there may be data. */
const Body = z.looseObject({ data: z.unknown().optional(), errors: z.array(Problem).catch([]) });

/** What X tells in words alone. Its sentences are of its own API, not what a person wrote. */
const WORDS: readonly (readonly [code: string, words: RegExp])[] = [
  ["duplicate", /duplicate content|duplicate status|already said that/i],
  ["too-long", /text is too long|longer than [\d,]+ characters/i],
  ["video-too-long", /video longer than/i],
  ["media-ids", /media ids? (are|is) invalid|invalid media/i],
  ["credits", /does not have any credits|credits?depleted/i],
  ["spend-cap", /spend ?cap|spending limit/i],
  ["daily-limit", /daily limit|daily status update limit/i],
  ["suspended", /suspended/i],
  ["locked", /temporarily locked/i],
  ["read-only", /oauth1.app.permissions|read-only application/i],
  ["cashtags", /cashtag/i],
  ["reply", /reply to this conversation is not allowed|not allowed to reply|restricted who can reply/i],
  ["not-visible", /deleted or not visible/i],
  ["feature", /not permitted to access this feature/i],
  ["invalid-url", /invalid url/i],
  ["access-level", /different access level|access to a subset of /i],
  ["automated", /might be automated/i],
  // Told now and then of tokens that are good: https://github.com/10up/autoshare-for-twitter/issues/387
  ["unknown-authentication", /authenticating with unknown is forbidden/i],
];

/** X tells each refusal of its own as a problem: one without words comes from what stands before its API. */
const NO_PROBLEM = "no-problem";

function codesOf({ status, json }: PlatformResponse): readonly Code[] {
  const body = Body.safeParse(json);
  if (!body.success) return status === 403 ? [NO_PROBLEM] : [];
  const { data, errors } = body.data;
  // Some of what was asked for is there: the rest is told beside it.
  if (status < 300 && data !== undefined && data !== null) return [];
  const problems = [Problem.parse(json), ...errors].filter(isProblem);
  const words = problems.map(({ title, detail, message, type }) => `${title} ${detail} ${message} ${type}`);
  return [
    ...WORDS.filter(([, pattern]) => words.some((text) => pattern.test(text))).map(([code]) => code),
    ...problems.flatMap(({ code, reason, type }) => [
      ...(code === null ? [] : [code]),
      ...(reason === "" ? [] : [reason]),
      ...(type === "" || type === "about:blank" ? [] : [type.slice(type.lastIndexOf("/") + 1)]),
    ]),
  ];
}

function isProblem({ type, title, detail, code, message }: z.infer<typeof Problem>): boolean {
  return code !== null || `${type}${title}${detail}${message}` !== "";
}

const CONSOLE = "the developer console (https://console.x.com)";

const DUPLICATE: readonly Code[] = ["duplicate", 187];

/** X already has the same text. */
export function isDuplicate(response: PlatformResponse): boolean {
  return response.status >= 400 && codesOf(response).some((code) => DUPLICATE.includes(code));
}

const NO_CREDITS = {
  kind: "setup",
  scope: "app",
  message: `X's API credits of this installation are used up. Buy credits in ${CONSOLE}.`,
} as const;

/** What X's answers mean. */
export const classify = faultsBy({
  title: "X",
  codesOf,
  rules: [
    {
      code: "spend-cap",
      kind: "setup",
      scope: "app",
      message: `The spending limit of X's API credits is reached. Raise it in ${CONSOLE}, or wait for the next billing cycle.`,
    },
    { ...NO_CREDITS, code: "credits" },
    { ...NO_CREDITS, status: 402 },
    {
      code: "usage-capped",
      kind: "setup",
      scope: "app",
      message: `The app's quota at X is used up for now. Buy more credits or raise the limit in ${CONSOLE}.`,
    },
    {
      // Also in answers of 200.
      code: [130, 131, "internal-error"],
      kind: "ambiguous",
      message: "X has a problem of its own, so it may have done what was asked.",
    },
    { code: [88, "rate-limit-exceeded"], kind: "rate", message: "X asks to slow down." },
    {
      code: [185, 344, "daily-limit"],
      kind: "rate",
      message: "The account has reached X's daily limit of posts.",
    },
    {
      code: ["suspended", "user-suspended", "locked", 64, 326],
      kind: "auth",
      message: "X has suspended or locked this account. Settle that with X first.",
    },
    {
      code: DUPLICATE,
      kind: "rejected",
      message:
        "X refused it as a duplicate. The channel has already posted the same text. Change the text, then send the post again.",
    },
    {
      code: ["read-only", "oauth1-permissions", 261],
      kind: "setup",
      message: `The app may only read. Give it "Read and write" in ${CONSOLE}, make new access keys, and reconnect the channel.`,
    },
    {
      code: [NO_PROBLEM, "unknown-authentication"],
      kind: "transient",
      isNotDone: true,
      message:
        "X refused the request without a reason, as it does now and then. If this goes on, reconnect the channel.",
    },
    {
      code: [226, "automated"],
      kind: "rate",
      message: "X takes the post for an automated one, and asks you to try again later.",
      retryAfterMs: 15 * MINUTE,
    },
    {
      code: ["client-forbidden", "client-not-enrolled", "unsupported-authentication", "access-level", 453],
      kind: "setup",
      message: `X does not let the app do this. Check in ${CONSOLE} that it belongs to a project with paid access and may read and write.`,
    },
    {
      code: ["too-long", 186],
      kind: "rejected",
      field: "caption",
      message: "is longer than X allows this account. Shorten it, or go on in metadata.thread.",
    },
    {
      code: "video-too-long",
      kind: "rejected",
      field: "mediaUrl",
      message: "is a longer video than X allows this account. Use one of at most 140 seconds.",
    },
    {
      code: ["media-ids", 324],
      kind: "rejected",
      message: "X no longer has the media. It keeps them for a day. Send the post again.",
    },
    {
      code: "cashtags",
      kind: "rejected",
      field: "caption",
      message:
        "has more than the one cashtag ($ABC) that X allows in posts from programs. Leave the others out.",
    },
    {
      code: "invalid-url",
      kind: "rejected",
      field: "caption",
      message: "has an address that X does not allow. Change it, or leave it out.",
    },
    {
      code: ["reply", 433],
      kind: "rejected",
      message:
        "X does not allow this reply. Programs may reply only where the author has mentioned or quoted the account. Reply on x.com.",
    },
    {
      code: ["not-visible", 385, "not-authorized-for-resource", "disallowed-resource"],
      kind: "rejected",
      message: "The post that this one belongs to is gone, or X does not show it to this account.",
    },
    {
      code: "feature",
      kind: "rejected",
      message:
        "X does not offer this to the account. Long texts and videos need Premium. Communities need a membership. Leave it out, or look at the account on x.com, then send the post again.",
    },
    {
      status: 403,
      kind: "rejected",
      message: "X does not permit this post. Change it, or look at the account on x.com, then send it again.",
    },
    { status: [413, 431], kind: "rejected", message: "X's servers refused the request as too large." },
  ],
});

/** Asked for a post: it is gone, or was never there. */
export function isMissing(response: Pick<PlatformResponse, "status" | "json">): boolean {
  if (response.status === 404) return true;
  const { data } = Body.safeParse(response.json);
  return data !== undefined && (data.data ?? null) === null && data.errors.some(isNotFound);
}

function isNotFound({ type }: z.infer<typeof Problem>): boolean {
  return type.endsWith("/resource-not-found");
}
