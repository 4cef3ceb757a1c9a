import * as z from "zod";
import type { PlatformIo, PlatformResponse } from "../../ports/platform-io.ts";
import { byCode, byStatus, type Code, type FaultRule, type FaultTable } from "../shared/faults.ts";
import { restApi } from "../shared/rest-api.ts";

const API = "https://api.vimeo.com";
/** https://developer.vimeo.com/api/changelog: the version is named in each request. */
const ACCEPT = "application/vnd.vimeo.*+json;version=3.4";

const Refusal = z.looseObject({
  error_code: z.int().optional().catch(undefined),
  invalid_parameters: z.array(z.looseObject({ field: z.string().catch("") })).catch([]),
});

function codesOf({ status, json }: PlatformResponse): Code[] {
  const body = status < 400 ? undefined : Refusal.safeParse(json).data;
  if (body === undefined) return [];
  const fields = body.invalid_parameters.map(({ field }) => `field:${field}`);
  return [...fields, ...(body.error_code === undefined ? [] : [body.error_code])];
}

const FIELDS: readonly (readonly [param: string, field: string])[] = [
  ["name", "metadata.title"],
  ["description", "caption"],
  ["privacy.view", "metadata.visibility"],
  ["privacy.comments", "metadata.comments"],
  ["privacy.embed", "metadata.embeddable"],
  ["privacy.download", "metadata.downloadEnabled"],
  ["license", "metadata.license"],
  ["locale", "metadata.language"],
  ["upload.size", "mediaUrl"],
];

/** https://developer.vimeo.com/api/common-formats#error-codes, and those of each method. */
const RULES: readonly FaultRule[] = [
  ...FIELDS.map(([param, field]): FaultRule => {
    const message =
      "Vimeo does not take this, or the account's plan does not allow it. Change it, then send the post again.";
    return { code: `field:${param}`, kind: "rejected", field, message };
  }),
  ...byCode("auth", { "8000 8001 8002 8003": "Vimeo does not accept the channel's token any more." }),
  ...byCode("rejected", {
    "4101 4102":
      "The account's space on Vimeo is used up, for the week or for good. Delete videos there, wait, or take a larger plan. Then send the post again.",
  }),
  ...byStatus("rejected", {
    403: "Vimeo does not allow this. The app has no upload access, the token lacks a permission, or the account's plan does not have it. Look at the app at https://developer.vimeo.com/apps, then send the post again.",
    404: "Vimeo does not find the video. It was deleted, or is another account's.",
  }),
];

type Network = Pick<PlatformIo, "setting" | "now">;

/** How answers are read. A limit says by a moment, not in seconds, when it is over. */
export function vimeoFaults({ now }: Pick<Network, "now">): FaultTable {
  const limited: FaultRule = {
    status: 429,
    kind: "rate",
    message: "Vimeo asks to slow down.",
    retryAfterMs: ({ headers }) => {
      const reset = Date.parse(headers["x-ratelimit-reset"] ?? "") - now();
      return reset > 0 ? reset : null;
    },
  };
  return { title: "Vimeo", codesOf, rules: [limited, ...RULES] };
}

export const {
  ask: askOwn,
  askOrGone,
  askWith,
  send: own,
  sendOrGone,
  requestWith,
} = restApi({
  base: API,
  headers: () => ({ accept: ACCEPT }),
  faults: vimeoFaults,
});

const Status = z
  .looseObject({ status: z.string().catch("") })
  .optional()
  .catch(undefined);
const Total = z
  .looseObject({ total: z.int().min(0).optional().catch(undefined) })
  .optional()
  .catch(undefined);

/** A video as far as we read it: https://developer.vimeo.com/api/reference/response/video */
export const Video = z.looseObject({
  uri: z.string().regex(/^\/videos\/\d+/),
  link: z.string().optional(),
  name: z.string().nullish().catch(null),
  description: z.string().nullish().catch(null),
  created_time: z.string().catch(""),
  status: z.string().catch(""),
  is_playable: z.boolean().catch(false),
  privacy: z.looseObject({ view: z.string() }).optional().catch(undefined),
  transcode: Status,
  upload: z
    .looseObject({
      status: z.string().catch(""),
      upload_link: z.string().nullish().catch(null),
      size: z.coerce.number().nullish().catch(null),
    })
    .optional()
    .catch(undefined),
  stats: z
    .looseObject({ plays: z.int().min(0).nullish().catch(null) })
    .optional()
    .catch(undefined),
  metadata: z
    .looseObject({
      connections: z.looseObject({ likes: Total, comments: Total }).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});
export type Video = z.infer<typeof Video>;

/** The number in its address; one that is unlisted has a hash behind it. */
export function idOf({ uri }: Pick<Video, "uri">): string {
  return /\d+/.exec(uri)?.[0] ?? "";
}

/** Null where there is none. */
export function findVideo(io: PlatformIo, id: string, fields: string): Promise<Video | null> {
  return askOrGone(io, { path: `/videos/${id}`, query: { fields } }, Video);
}

/** What is gone already is no error. */
export async function removeVideo(io: PlatformIo, id: string): Promise<void> {
  await sendOrGone(io, { method: "DELETE", path: `/videos/${id}`, isIdempotent: true });
}
