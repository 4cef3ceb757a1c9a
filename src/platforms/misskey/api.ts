import * as z from "zod";
import type { ConnectIo, Secrets } from "../../ports/connect.ts";
import type { JsonObject, PlatformIo, PlatformRequest, PlatformResponse } from "../../ports/platform-io.ts";
import { byCode, type Code, type FaultRule, refusedField, TOO_LARGE_FILE } from "../shared/faults.ts";
import { type ApiCall, restApi } from "../shared/rest-api.ts";
import { serverOf } from "../shared/servers.ts";

export const TITLE = "Misskey";

/** A method of the API: each is a POST, whether it changes something or not. */
interface Call extends Pick<PlatformRequest, "multipart" | "timeoutMs" | "headersMs" | "idleMs"> {
  /** "notes/create", say. */
  readonly method: string;
  readonly json?: JsonObject;
  /** Whether the server holds something else when it comes twice. Default: it does not. */
  readonly isChange?: boolean;
}

const api = restApi({
  base: serverOf,
  below: "/api/",
  gone: [{ code: "NO_SUCH_NOTE" }],
  faults: () => ({ title: TITLE, codesOf, rules: RULES }),
});

function toPost({ method, isChange = false, ...rest }: Call): ApiCall {
  return { ...rest, method: "POST", path: method, isIdempotent: !isChange };
}

/** One call with the account's token. */
export function own<T>(io: PlatformIo, call: Call, schema: z.ZodType<T>): Promise<T> {
  return api.ask(io, toPost(call), schema);
}

/** The same about a note; null where it is not there (any more). */
export function ownOrGone<T>(io: PlatformIo, call: Call, schema: z.ZodType<T>): Promise<T | null> {
  return api.askOrGone(io, toPost(call), schema);
}

/** One call while connecting. */
export function call<T>(
  io: ConnectIo,
  { server, secrets, ...rest }: Call & { readonly server: string; readonly secrets?: Secrets },
  schema: z.ZodType<T>,
): Promise<T> {
  return api.askWith(io, { server, ...(secrets === undefined ? {} : { secrets }) }, toPost(rest), schema);
}

const Address = z.url({ protocol: /^https?$/ }).max(2_000);
const Count = z.int().min(0).optional().catch(undefined);

/** A user: of `i`, `miauth/…/check`. */
export const User = z.looseObject({
  id: z.string().min(1),
  username: z.string(),
  name: z.string().nullish().catch(null),
  avatarUrl: Address.nullish().catch(null),
  followersCount: Count,
  policies: z
    .looseObject({
      maxFileSizeMb: z.number().positive().optional().catch(undefined),
      uploadableFileTypes: z.array(z.string()).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});
export type User = z.infer<typeof User>;

export const Note = z.looseObject({
  id: z.string().min(1),
  createdAt: z.string().catch(""),
  text: z.string().nullish().catch(null),
  cw: z.string().nullish().catch(null),
  replyId: z.string().nullish().catch(null),
  fileIds: z.array(z.string()).catch([]),
  visibility: z.string().catch("public"),
  reactions: z.record(z.string(), z.int()).catch({}),
  renoteCount: Count,
  repliesCount: Count,
});
export type Note = z.infer<typeof Note>;

const Body = z.looseObject({ error: z.looseObject({ code: z.string() }) });

function codesOf({ status, json }: PlatformResponse): Code[] {
  const body = Body.safeParse(json);
  return status >= 400 && body.success ? [body.data.error.code] : [];
}

const RULES: readonly FaultRule[] = [
  ...byCode("auth", {
    "CREDENTIAL_REQUIRED AUTHENTICATION_FAILED":
      "The server does not take the channel's token any more. Reconnect the channel.",
    "PERMISSION_DENIED ACCESS_DENIED":
      "The channel's token may not do this. Reconnect it and allow everything that is asked for.",
    "YOUR_ACCOUNT_SUSPENDED YOUR_ACCOUNT_MOVED":
      "The server has suspended this account, or it has moved. Settle that with the server first.",
  }),
  ...byCode("rejected", {
    ROLE_PERMISSION_DENIED:
      "The account has no role on its server that lets it do this. Ask the server's administrators.",
    NO_SUCH_REPLY_TARGET: "The note that this one replies to was deleted.",
  }),
  ...refusedField("caption", {
    CONTAINS_PROHIBITED_WORDS:
      "has words that this server does not allow. Change it, then send the post again.",
    CONTAINS_TOO_MANY_MENTIONS:
      "mentions more people than this server allows. Take some out, then send the post again.",
  }),
  ...refusedField("mediaUrl", {
    NO_SUCH_FILE: "the file was deleted from the server's drive in the meantime. Send the post again.",
    NO_FREE_SPACE: "the account's drive is full. Delete files there, then send the post again.",
    INAPPROPRIATE: "the server takes the file for something it does not allow. Give another one.",
    "UNALLOWED_FILE_TYPE INVALID_FILE_NAME":
      "the server does not take files of this type from this account. Give another one.",
    MAX_FILE_SIZE_EXCEEDED: TOO_LARGE_FILE.message,
  }),
  TOO_LARGE_FILE,
  ...refusedField("metadata.altText", {
    COMMENT_TOO_LONG: "is longer than this server takes. Shorten it, then send the post again.",
  }),
];
