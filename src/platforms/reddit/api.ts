import * as z from "zod";
import type { ConnectIo } from "../../ports/connect.ts";
import type { PlatformIo, PlatformRequest } from "../../ports/platform-io.ts";
import { bearer } from "../shared/faults.ts";
import { classify } from "./faults.ts";

export const REDDIT_API = "https://oauth.reddit.com";
export const REDDIT = "https://www.reddit.com";

interface Call extends Pick<PlatformRequest, "query" | "json" | "form" | "isIdempotent"> {
  /** Default: GET. */
  readonly method?: PlatformRequest["method"];
  readonly path: string;
}

type Here = Pick<ConnectIo, "setting" | "publicUrl">;

/** Reddit throttles whoever does not say who they are. */
export function userAgent(io: Here): string {
  return io.setting("USER_AGENT") ?? `node:posthorn:1 (${io.publicUrl})`;
}

export function baseUrl(io: Here): string {
  return io.setting("BASE_URL") ?? REDDIT_API;
}

function requestOf(io: Here, { path, query, ...call }: Call): PlatformRequest {
  return {
    method: "GET",
    ...call,
    url: `${baseUrl(io)}${path}`,
    // Texts as they are, not as HTML.
    query: { ...query, raw_json: 1 },
    headers: { "user-agent": userAgent(io) },
    classify,
  };
}

/** A call with the channel's token. */
export function ask<T>(io: PlatformIo, call: Call, schema: z.ZodType<T>): Promise<T> {
  return io.ask({ ...requestOf(io, call), sign: bearer() }, schema);
}

/** While connecting: the token is at hand. */
export function askWith<T>(io: ConnectIo, accessToken: string, call: Call, schema: z.ZodType<T>): Promise<T> {
  const request = requestOf(io, call);
  const { headers } = bearer()({ accessToken });
  return io.ask({ ...request, headers: { ...request.headers, ...headers } }, schema);
}

/** Of use where nothing of the answer is needed. */
export const AnyAnswer = z.unknown();

/** A list of things of one kind. */
export function listOf<T>(item: z.ZodType<T>) {
  return z.looseObject({
    data: z.looseObject({ children: z.array(z.looseObject({ data: item })), after: z.string().nullish() }),
  });
}
