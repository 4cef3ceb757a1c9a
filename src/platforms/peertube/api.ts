import * as z from "zod";
import type { ConnectIo } from "../../ports/connect.ts";
import type { PlatformIo, PlatformRequest, PlatformResponse } from "../../ports/platform-io.ts";
import { bearer, type Code, type FaultRule, faultsBy } from "../shared/faults.ts";
import { serverOf } from "../shared/servers.ts";

export const KIND = { title: "PeerTube", example: "https://peertube.example" } as const;

interface Call extends Pick<
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

const Problem = z.looseObject({
  type: z.string().catch(""),
  code: z.string().catch(""),
  "invalid-params": z.record(z.string(), z.unknown()).catch({}),
});

/** The word of the error (RFC 7807, https://docs.joinpeertube.org/api-rest-reference.html#section/Errors). */
function codesOf({ status, json }: PlatformResponse): Code[] {
  const body = Problem.safeParse(json);
  if (status < 400 || !body.success) return [];
  const { type, code, "invalid-params": params } = body.data;
  const word = code || (/Errors\/(\w+)$/.exec(type)?.[1] ?? "");
  return [word, ...Object.keys(params).map((name) => `param:${name}`)].filter((one) => one !== "");
}

const CHANGE_IT = "Change it, then send the post again.";

/** What it objects to, by the name of the parameter. */
const FIELDS: readonly (readonly [param: string, field: string])[] = [
  ["name", "metadata.title"],
  ["description", "caption"],
  ["tags", "metadata.tags"],
  ["category", "metadata.categoryId"],
  ["licence", "metadata.licenseId"],
  ["language", "metadata.language"],
  ["support", "metadata.support"],
  ["thumbnailfile", "metadata.thumbnailUrl"],
  ["scheduleUpdate.updateAt", "scheduledAt"],
  ["filename", "mediaUrl"],
];

const RULES: readonly FaultRule[] = [
  {
    code: "quota_reached",
    kind: "rejected",
    message:
      "The server's space for this account is used up, for the day or for good. Delete videos there, ask its administrator for more, or wait a day. Then send the post again.",
  },
  {
    code: "max_file_size_reached",
    kind: "rejected",
    field: "mediaUrl",
    message: "the server does not take files of this size. Give a smaller one, then send the post again.",
  },
  ...FIELDS.map(([param, field]): FaultRule => {
    const message = `the server does not take this. ${CHANGE_IT}`;
    return { code: `param:${param}`, kind: "rejected", field, message };
  }),
  {
    code: ["invalid_grant", "invalid_token", "account_blocked", "account_approval_rejected"],
    kind: "auth",
    message: "The server does not accept the channel's credentials any more.",
  },
  {
    status: 413,
    kind: "rejected",
    field: "mediaUrl",
    message: "the server refused the file as too large. Give a smaller one, then send the post again.",
  },
  {
    status: [415, 422],
    kind: "rejected",
    field: "mediaUrl",
    message: "the server could not use the file. Give an MP4, then send the post again.",
  },
  { status: 409, kind: "transient", message: "The server has a different part of the file than expected." },
  {
    status: 403,
    kind: "rejected",
    message: "The server does not let this account do that. Its administrator may say why.",
  },
  {
    status: 404,
    kind: "rejected",
    message: "The server does not have, or no longer has, what was asked for.",
  },
];

/** How answers of a server are read. */
export function peertubeFaults(rules: readonly FaultRule[] = []): NonNullable<PlatformRequest["classify"]> {
  return faultsBy({ title: "PeerTube", codesOf, rules: [...rules, ...RULES] });
}
