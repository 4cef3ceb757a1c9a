import type * as z from "zod";
import type { ConnectIo } from "../../ports/connect.ts";
import type { PlatformIo, PlatformRequest } from "../../ports/platform-io.ts";
import { bearer, type FaultRule } from "../shared/faults.ts";
import { youtubeFaults } from "./faults.ts";

const GOOGLE = "https://www.googleapis.com";

type Settings = Pick<PlatformIo, "setting">;

function baseOf(io: Settings): string {
  return io.setting("BASE_URL") ?? GOOGLE;
}

/** Where files are sent. */
export function uploadBaseOf(io: Settings): string {
  return io.setting("UPLOAD_URL") ?? baseOf(io);
}

export function analyticsBaseOf(io: Settings): string {
  return io.setting("ANALYTICS_URL") ?? "https://youtubeanalytics.googleapis.com";
}

/** Where people look at a video. */
export function watchUrl(id: string): string {
  return `https://www.youtube.com/watch?v=${id}`;
}

export interface Call extends Pick<PlatformRequest, "query" | "json" | "isIdempotent"> {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  /** Below /youtube/v3: videos, channels. */
  readonly resource: string;
  /** Readings of errors that this call alone has. */
  readonly rules?: readonly FaultRule[];
}

/** A call of the Data API, without who makes it. */
export function requestOf(
  io: Pick<PlatformIo, "setting" | "now">,
  { resource, rules, method = "GET", ...call }: Call,
): PlatformRequest {
  const url = `${baseOf(io)}/youtube/v3/${resource}`;
  return { ...call, method, url, classify: youtubeFaults(io, rules) };
}

/** A call as the channel. */
export function askAs<T>(io: PlatformIo, call: Call, schema: z.ZodType<T>): Promise<T> {
  return io.ask({ ...requestOf(io, call), sign: bearer() }, schema);
}

/** A call with a token that no channel has yet. */
export function askWith<T>(io: ConnectIo, token: string, call: Call, schema: z.ZodType<T>): Promise<T> {
  const headers = { authorization: `Bearer ${token}` };
  return io.ask({ ...requestOf(io, call), headers }, schema);
}
