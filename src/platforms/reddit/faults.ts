import * as z from "zod";
import { HOUR, MINUTE, SECOND } from "../../domain/time.ts";
import { PlatformFault, type PlatformRequest, type PlatformResponse } from "../../ports/platform-io.ts";
import { faultsBy, type FaultRule } from "../shared/faults.ts";

/** Somebody posted the link in that community before. */
export class Duplicate extends PlatformFault {
  constructor() {
    super("rejected", "The link was posted in that community before, and Reddit takes it once.", {
      field: "metadata.link",
    });
  }
}

/** With HTTP 200: [[code, words, field], …]. With 400: what a community asks for, and the fields at fault. */
const Said = z.looseObject({
  json: z
    .looseObject({ errors: z.array(z.array(z.unknown())).catch([]) })
    .optional()
    .catch(undefined),
  reason: z.string().nullish().catch(null),
  error_type: z.string().nullish().catch(null),
  fields: z.array(z.string()).catch([]),
});

function codesOf({ json }: PlatformResponse): string[] {
  const said = Said.safeParse(json).data;
  if (said === undefined) return [];
  const codes = (said.json?.errors ?? []).flatMap(([code]) => (typeof code === "string" ? code : []));
  const { reason, error_type: type, fields } = said;
  const asked = type === "SUBMIT_VALIDATION_ERROR" ? fields.map((field) => `asked: ${field}`) : [];
  return [
    ...codes,
    ...[reason, type].filter((code) => typeof code === "string" && code !== ""),
    ...asked,
  ].map(String);
}

const UNITS = { millisecond: 1, second: SECOND, minute: MINUTE, hour: HOUR } as const;

/** "Take a break for 9 minutes before trying again." */
function untilAllowed({ text }: PlatformResponse): number {
  const [, count, unit] = /(\d{1,3}) (millisecond|second|minute|hour)/.exec(text) ?? [];
  const ms = UNITS[unit as keyof typeof UNITS];
  return ms === undefined ? 10 * MINUTE : (Number(count) + 1) * ms;
}

const refused = (code: readonly string[], field: string | null, message: string): FaultRule => ({
  code,
  kind: "rejected",
  message,
  ...(field === null ? {} : { field }),
});

const RULES: readonly FaultRule[] = [
  {
    code: "RATELIMIT",
    kind: "rate",
    // With HTTP 200, and yet nothing was posted.
    isNotDone: true,
    message:
      "Reddit lets this account post only now and then: new accounts, and those with little karma, wait longer.",
    retryAfterMs: untilAllowed,
  },
  { status: 401, kind: "auth", message: "Reddit does not accept the channel's permission any more." },
  { status: 429, kind: "rate", scope: "app", message: "Reddit asks to slow down." },
  refused(
    ["SUBREDDIT_NOEXIST", "BAD_SR_NAME", "SUBREDDIT_REQUIRED"],
    "metadata.subreddit",
    "Reddit knows no such community. list_choices finds it by a part of its name.",
  ),
  refused(
    ["SUBREDDIT_NOTALLOWED", "SUBREDDIT_DISABLED_EMERGENCY", "USER_BLOCKED", "BANNED_FROM_SUBREDDIT"],
    "metadata.subreddit",
    "The community does not let this account post. Ask its moderators, or post elsewhere.",
  ),
  refused(
    [
      ...["NO_SELFS", "NO_LINKS", "NO_IMAGES", "NO_VIDEOS", "NO_CROSSPOSTS"],
      ...["GALLERIES_DISABLED", "IMAGES_NOTALLOWED", "VIDEOS_NOTALLOWED", "INVALID_OPTION"],
    ],
    "metadata.subreddit",
    "The community does not take posts of this kind. list_choices says what it takes.",
  ),
  refused(
    ["SUBMIT_VALIDATION_FLAIR_REQUIRED", "BAD_FLAIR_TEMPLATE_ID", "FLAIR_REQUIRED", "asked: flair"],
    "metadata.flairId",
    "The community asks for another flair. list_choices tells those it has, searched by its name.",
  ),
  refused(
    ["DOMAIN_BANNED", "NO_URL", "BAD_URL", "INVALID_URL", "asked: url", "asked: link"],
    "metadata.link",
    "Reddit, or the community, does not take this link. Look at the community's rules.",
  ),
  refused(
    ["asked: title", "TITLE_TOO_LONG"],
    "metadata.title",
    "The community has rules of its own for titles, which this one is against. Look at them on Reddit.",
  ),
  refused(
    ["asked: body", "asked: text", "NO_TEXT", "TOO_LONG", "TOO_SHORT"],
    "caption",
    "The text is too long, too short, or against the community's rules. Look at them on Reddit.",
  ),
  refused(
    ["SUBMIT_VALIDATION_ERROR"],
    null,
    "The post is against the community's rules. Look at them on Reddit.",
  ),
  {
    status: 403,
    kind: "rejected",
    message:
      "Reddit does not allow it: the community is closed to this account or has banned it, or Reddit has not approved the app.",
  },
  { status: 404, kind: "rejected", message: "Reddit does not find it: it was deleted, or never was there." },
  { status: 413, kind: "rejected", message: "Reddit refused a file as too large. Use a smaller one." },
];

const byTable = faultsBy({ title: "Reddit", codesOf, rules: RULES });

export const classify: NonNullable<PlatformRequest["classify"]> = (response) =>
  codesOf(response).includes("ALREADY_SUB") ? new Duplicate() : byTable(response);

/** Of the place that files are brought to. */
export const classifyUpload = faultsBy({
  title: "Reddit",
  codesOf: () => [],
  rules: [
    {
      status: [400, 413],
      kind: "rejected",
      message:
        "Reddit refused a file as too large, or as none of its kind. Use a smaller JPEG, PNG, GIF or MP4.",
    },
    // The leave to upload was over.
    { status: 403, kind: "transient", message: "Reddit did not let the file in; it is brought there again." },
  ],
});
