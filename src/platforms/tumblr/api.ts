import * as z from "zod";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { ConnectIo, Secrets } from "../../ports/connect.ts";
import { PlatformFault, type PlatformIo, type PlatformResponse } from "../../ports/platform-io.ts";
import { byStatus, type FaultRule, refusedField, untilMidnight } from "../shared/faults.ts";
import { type ApiCall, restApi } from "../shared/rest-api.ts";

export const TUMBLR_API = "https://api.tumblr.com";

/** Tumblr counts by its own days. */
export const TUMBLR_ZONE = "America/New_York";

const Code = z.looseObject({ code: z.int() });
const Refusal = z.looseObject({
  errors: z.array(z.unknown()).catch([]),
  response: z.looseObject({ errors: z.array(z.unknown()).catch([]) }).catch({ errors: [] }),
});

function codesOf({ status, json }: PlatformResponse): number[] {
  const refusal = status < 400 ? undefined : Refusal.safeParse(json).data;
  const errors = [...(refusal?.errors ?? []), ...(refusal?.response.errors ?? [])];
  return errors.flatMap((error) => Code.safeParse(error).data?.code ?? []);
}

/** The post cannot wait in Tumblr's queue, which is full, or too late for it: it goes out at its time. */
export class NoPlace extends PlatformFault {
  constructor() {
    super("not_sent", "Tumblr's own queue did not take the post. It goes out at its time.");
  }
}

/** "When the blog's queue limit has been reached." */
const QUEUE_FULL = 8022;

/** The app's calls in an hour and in a day: how long until the one that is used up begins anew. */
function untilReset({ headers }: PlatformResponse): number | null {
  for (const span of ["perday", "perhour"]) {
    const seconds = Number(headers[`x-ratelimit-${span}-reset`]);
    if (headers[`x-ratelimit-${span}-remaining`] === "0" && seconds > 0) return seconds * SECOND;
  }
  return null;
}

/** https://github.com/tumblr/docs/blob/master/api.md#errors-and-error-subcodes */
const rulesAt = (now: number): readonly FaultRule[] => [
  { code: QUEUE_FULL, fault: () => new NoPlace() },
  { status: 401, kind: "auth", message: "Tumblr does not accept the channel's permission any more." },
  { status: 429, kind: "rate", scope: "app", message: "Tumblr asks to slow down.", retryAfterMs: untilReset },
  {
    code: [8004, 8011, 8023],
    kind: "rate",
    retryAfterMs: untilMidnight(TUMBLR_ZONE, now),
    message:
      "The day's limit of posts, pictures or videos on Tumblr is used up. It starts again at midnight in New York.",
  },
  {
    code: 8010,
    kind: "rate",
    retryAfterMs: MINUTE,
    message: "Tumblr is still working on the video before. It takes one at a time.",
  },
  ...refusedField("mediaUrl", {
    8005: "Tumblr cannot use a file of this format. Convert it to JPEG, MP4 (H.264 and AAC) or MP3.",
  }),
  ...byStatus("rejected", {
    403: "Tumblr does not let this account post on the blog. Ask the blog's owner for it, or connect another blog.",
    404: "Tumblr does not find the blog or the post. It was deleted, or is another person's.",
    413: "Tumblr refused the media as too large. Use smaller files.",
  }),
];

const api = restApi({
  base: TUMBLR_API,
  below: "/v2",
  faults: (io) => ({ title: "Tumblr", codesOf, rules: rulesAt(io.now()) }),
});

/** A call with the channel's token. */
export async function ask<T>(io: PlatformIo, call: ApiCall, schema: z.ZodType<T>): Promise<T> {
  return (await api.ask(io, call, within(schema))).response;
}

/** Null where what it is about is not there (any more). */
export async function askOrGone<T>(io: PlatformIo, call: ApiCall, schema: z.ZodType<T>): Promise<T | null> {
  return (await api.askOrGone(io, call, within(schema)))?.response ?? null;
}

/** While connecting: the token is at hand. */
export async function askWith<T>(io: ConnectIo, secrets: Secrets, call: ApiCall, schema: z.ZodType<T>) {
  return (await api.askWith(io, { secrets }, call, within(schema))).response;
}

/** The `response` of an answer; every answer has one. */
function within<T>(schema: z.ZodType<T>) {
  return z.looseObject({ response: schema });
}

/** The channel's blog in a path: its id, as its name may change. */
export function blogPath({ account }: Pick<PlatformIo, "account">): string {
  return `/blog/${encodeURIComponent(account.platformAccountId ?? "").replace("%3A", ":")}`;
}

/** Of use where nothing of the answer is needed. */
export const AnyAnswer = z.unknown();
