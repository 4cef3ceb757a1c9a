import * as z from "zod";
import { DAY } from "../../domain/time.ts";
import type { PlatformResponse } from "../../ports/platform-io.ts";
import { byStatus, type Code, type FaultRule } from "../shared/faults.ts";
import { restApi } from "../shared/rest-api.ts";

export const API = "https://api.dailymotion.com";
export const TOKEN_URL = "https://oauth2.dailymotion.com/v2/token";

const CHANGE_IT = "Change it, then send the post again.";

/** What Dailymotion calls the parts of a video, and what we do. */
const FIELDS: Readonly<Record<string, string>> = {
  title: "metadata.title",
  description: "caption",
  category: "metadata.category",
  tags: "metadata.tags",
  language: "metadata.language",
  source: "mediaUrl",
  visibility: "metadata.visibility",
};

const OVER_QUOTA = "over-quota";

/** https://developers.dailymotion.com/v2/reference/api-errors */
const RULES: readonly FaultRule[] = [
  {
    code: OVER_QUOTA,
    kind: "rate",
    isNotDone: true,
    retryAfterMs: DAY,
    message:
      "Dailymotion takes no more videos from this channel for now. Its quota for 24 hours (for most channels, 15 videos and 10 hours of video) is used up.",
  },
  ...byStatus("auth", {
    403: "The API key may not do this: in Dailymotion Studio, under Organization, API keys, it needs the permissions to read the account and to read and manage videos of this channel.",
  }),
  ...Object.entries(FIELDS).map(([theirs, field]): FaultRule => {
    return {
      code: `param ${theirs}`,
      kind: "rejected",
      field,
      message: `Dailymotion refused it. ${CHANGE_IT}`,
    };
  }),
  { status: 404, kind: "rejected", message: "Dailymotion does not find it. It was deleted there." },
];

const Refusal = z.looseObject({
  error: z.looseObject({
    code: z.coerce.string(),
    message: z.string().catch(""),
    details: z
      .looseObject({ param: z.string().catch(""), reason: z.string().catch("") })
      .nullish()
      .catch(null),
  }),
});

function codesOf({ status, json }: PlatformResponse): readonly Code[] {
  const error = status < 400 ? undefined : Refusal.safeParse(json).data?.error;
  if (error === undefined) return [];
  const { code, message, details } = error;
  const { param = "", reason = "" } = details ?? {};
  const isQuota = status === 403 && /quota|limit|too many/i.test(`${code} ${message} ${reason}`);
  const [first = ""] = param.split(/[.[]/);
  return [...(isQuota ? [OVER_QUOTA] : []), ...(first === "" ? [] : [`param ${first}`]), code];
}

export const {
  ask: call,
  askOrGone: callOrGone,
  askWith: callWith,
} = restApi({
  base: API,
  below: "/v2",
  faults: () => ({ title: "Dailymotion", codesOf, rules: RULES }),
});

/** Of use where nothing of the answer is needed, an empty one too. */
export const AnyAnswer = z.unknown();

/** Of videos and profiles; they stand in addresses. */
export const Id = z.string().regex(/^\w+$/);
