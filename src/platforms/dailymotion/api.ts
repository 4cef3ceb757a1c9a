import * as z from "zod";
import type { PlatformSetting } from "../../domain/accounts/platform-settings.ts";
import { DAY } from "../../domain/time.ts";
import type { ConnectIo } from "../../ports/connect.ts";
import type { PlatformIo, PlatformRequest, PlatformResponse } from "../../ports/platform-io.ts";
import { bearer, type Code, type FaultRule, faultsBy } from "../shared/faults.ts";

const API = "https://api.dailymotion.com";
export const TOKEN_URL = "https://oauth2.dailymotion.com/v2/token";

const address = { kind: "address", isRequired: false } as const;

export const SETTINGS: readonly PlatformSetting[] = [
  { ...address, name: "BASE_URL", meaning: "Where the API is asked, without its version", default: API },
  { ...address, name: "TOKEN_URL", meaning: "Where tokens are got", default: TOKEN_URL },
];

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

const OVER_QUOTA = "over quota";

/** https://developers.dailymotion.com/v2/reference/api-errors */
const RULES: readonly FaultRule[] = [
  {
    code: OVER_QUOTA,
    kind: "rate",
    isNotDone: true,
    message:
      "Dailymotion takes no more videos from this channel for now. Its quota for 24 hours (for most channels, 15 videos and 10 hours of film) is used up.",
    retryAfterMs: DAY,
  },
  {
    status: 403,
    kind: "auth",
    message:
      "The API key may not do this: in Dailymotion Studio, under Organization, API keys, it needs the permissions to read the account and to read and manage videos of this channel.",
  },
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

interface Call extends Pick<PlatformRequest, "query" | "json" | "isIdempotent"> {
  /** Default: GET. */
  readonly method?: PlatformRequest["method"];
  /** Below /v2. */
  readonly path: string;
  /** What some errors mean to whoever calls, before the usual reading. */
  readonly rules?: readonly FaultRule[];
}

function requestOf(io: Pick<ConnectIo, "setting">, { path, rules = [], ...one }: Call): PlatformRequest {
  const classify = faultsBy({ title: "Dailymotion", codesOf, rules: [...rules, ...RULES] });
  return { method: "GET", ...one, url: `${io.setting("BASE_URL") ?? API}/v2${path}`, classify };
}

/** A call with the channel's token. */
export function call<T>(
  io: Pick<PlatformIo, "ask" | "setting">,
  one: Call,
  schema: z.ZodType<T>,
): Promise<T> {
  return io.ask({ ...requestOf(io, one), sign: bearer() }, schema);
}

/** While connecting: the token is at hand. */
export function callWith<T>(io: ConnectIo, accessToken: string, one: Call, schema: z.ZodType<T>): Promise<T> {
  return io.ask({ ...requestOf(io, one), ...bearer()({ accessToken }) }, schema);
}

/** Of use where nothing of the answer is needed, an empty one too. */
export const AnyAnswer = z.unknown();

/** Of videos and profiles; they stand in addresses. */
export const Id = z.string().regex(/^\w+$/);

export const GONE: FaultRule = { status: 404, kind: "ok" };
