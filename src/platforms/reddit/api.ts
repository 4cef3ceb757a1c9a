import * as z from "zod";
import { HOUR, MINUTE, SECOND } from "../../domain/time.ts";
import type { ConnectIo } from "../../ports/connect.ts";
import { PlatformFault, type PlatformResponse } from "../../ports/platform-io.ts";
import { byStatus, type FaultRule, faultsBy, type FaultTable } from "../shared/faults.ts";
import { restApi } from "../shared/rest-api.ts";

export const REDDIT_API = "https://oauth.reddit.com";
export const REDDIT = "https://www.reddit.com";

export const { ask, askWith } = restApi({
  base: REDDIT_API,
  headers: (io) => ({ "user-agent": userAgent(io) }),
  // Texts as they are, not as HTML.
  query: { raw_json: 1 },
  faults: () => FAULTS,
});

type Here = Pick<ConnectIo, "setting" | "publicUrl">;

/** Reddit throttles clients that do not say who they are. */
export function userAgent(io: Here): string {
  return io.setting("USER_AGENT") ?? `node:posthorn:1 (${io.publicUrl})`;
}

export function baseUrl(io: Here): string {
  return io.setting("BASE_URL") ?? REDDIT_API;
}

/** Of use where nothing of the answer is needed. */
export const AnyAnswer = z.unknown();

/** A list of things of one kind. */
export function listOf<T>(item: z.ZodType<T>) {
  return z.looseObject({
    data: z.looseObject({ children: z.array(z.looseObject({ data: item })), after: z.string().nullish() }),
  });
}

/** The link was posted in that community before. */
export class Duplicate extends PlatformFault {
  constructor() {
    super(
      "rejected",
      "The link was posted in that community before. Reddit takes each link only once there.",
      {
        field: "metadata.link",
      },
    );
  }
}

/** With HTTP 200: [[code, words, field], …]. With 400: what a community asks for, and the fields at fault. */
const Said = z.looseObject({
  json: z
    .looseObject({ errors: z.array(z.array(z.unknown())).catch([]) })
    .optional()
    .catch(undefined),
  reason: z.string().min(1).nullable().catch(null),
  fields: z.array(z.string()).catch([]),
});

function codesOf({ json }: PlatformResponse): string[] {
  const said = Said.safeParse(json).data;
  if (said === undefined) return [];
  const codes = (said.json?.errors ?? []).flatMap(([code]) => (typeof code === "string" ? code : []));
  return [...codes, ...(said.reason === null ? [] : [said.reason]), ...said.fields];
}

const UNITS = new Map([
  ["second", SECOND],
  ["minute", MINUTE],
  ["hour", HOUR],
]);

/** "Take a break for 9 minutes before trying again." */
function untilAllowed({ text }: PlatformResponse): number {
  const [, count, unit] = /(\d{1,3}) (second|minute|hour)/.exec(text) ?? [];
  const ms = UNITS.get(unit ?? "");
  return ms === undefined ? 10 * MINUTE : (Number(count) + 1) * ms;
}

/** In this order, as one answer may have several. */
const REFUSED: readonly (readonly [field: string, codes: string, message: string])[] = [
  ["metadata.subreddit", "SUBREDDIT_NOEXIST BAD_SR_NAME", "Reddit knows no such community. Check its name."],
  [
    "metadata.subreddit",
    "SUBREDDIT_NOTALLOWED NO_SELFS NO_LINKS NO_IMAGES NO_VIDEOS GALLERIES_DISABLED",
    "The community does not take posts of this kind, or from this account. Look at its rules on Reddit.",
  ],
  [
    "metadata.flairId",
    "SUBMIT_VALIDATION_FLAIR_REQUIRED BAD_FLAIR_TEMPLATE_ID flair",
    "The community asks for another flair. Choose one of the flairs that it has.",
  ],
  [
    "metadata.link",
    "DOMAIN_BANNED NO_URL BAD_URL url link",
    "Reddit, or the community, does not take this link. Change it.",
  ],
  ["metadata.title", "title", "The title is against the community's rules. Look at them on Reddit."],
  [
    "caption",
    "NO_TEXT TOO_LONG body text",
    "The text is too long, or against the community's rules. Look at them on Reddit.",
  ],
];

const RULES: readonly FaultRule[] = [
  {
    // With HTTP 200, and yet nothing was posted.
    code: "RATELIMIT",
    kind: "rate",
    isNotDone: true,
    retryAfterMs: untilAllowed,
    message: "Reddit lets this account post only now and then. New accounts may post less often.",
  },
  { status: 429, kind: "rate", scope: "app", message: "Reddit asks to slow down." },
  ...REFUSED.map(([field, codes, message]): FaultRule => {
    return { code: codes.split(" "), kind: "rejected", field, message };
  }),
  ...byStatus("rejected", {
    403: "Reddit does not allow it. The community is closed to this account or has banned it, or Reddit has not approved the app.",
    404: "Reddit does not find it. It was deleted, or was never there.",
  }),
];

const FAULTS: FaultTable = {
  title: "Reddit",
  codesOf,
  rules: [{ code: "ALREADY_SUB", fault: () => new Duplicate() }, ...RULES],
};

/** Of the place that files are brought to. */
export const classifyUpload = faultsBy({
  title: "Reddit",
  codesOf: () => [],
  rules: [
    ...byStatus("rejected", {
      "400 413":
        "Reddit refused a file: it is too large, or not of a type that Reddit takes. Use a smaller JPEG, PNG, GIF or MP4.",
    }),
    // The leave to upload was over.
    { status: 403, kind: "transient", message: "Reddit did not let the file in. It is uploaded again." },
  ],
});
