import type * as z from "zod";
import type { ConnectIo } from "../../ports/connect.ts";
import type { PlatformIo, PlatformRequest } from "../../ports/platform-io.ts";
import { bearer, type FaultRule } from "../shared/faults.ts";
import { serverOf } from "../shared/servers.ts";
import { peertubeFaults } from "./faults.ts";

export const KIND = { title: "PeerTube", example: "https://peertube.example" } as const;

export interface Call extends Pick<
  PlatformRequest,
  "query" | "json" | "form" | "multipart" | "headers" | "isIdempotent" | "timeoutMs" | "idleMs"
> {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  /** Below /api/v1: videos, users/me. */
  readonly path: string;
  /** Readings of errors that this call alone has. */
  readonly rules?: readonly FaultRule[];
}

/** A call of a server's API, without who makes it. */
export function requestOf(server: string, { path, rules, method = "GET", ...call }: Call): PlatformRequest {
  return { ...call, method, url: `${server}/api/v1/${path}`, classify: peertubeFaults(rules) };
}

/** A call as the channel. */
export function own(io: PlatformIo, call: Call) {
  return io.request({ ...requestOf(serverOf(io), call), sign: bearer() });
}

/** The same, for its answer. */
export function askOwn<T>(io: PlatformIo, call: Call, schema: z.ZodType<T>): Promise<T> {
  return io.ask({ ...requestOf(serverOf(io), call), sign: bearer() }, schema);
}

interface OfServer {
  readonly server: string;
  /** Of nobody that is connected yet; left out: of nobody. */
  readonly token?: string;
}

export function askServer<T>(
  io: Pick<ConnectIo, "ask">,
  { server, token }: OfServer,
  { call, schema }: { readonly call: Call; readonly schema: z.ZodType<T> },
): Promise<T> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return io.ask(requestOf(server, { ...call, headers: { ...call.headers, ...authorization } }), schema);
}
