import * as z from "zod";
import type { ConnectIo } from "../../ports/connect.ts";
import type { JsonObject, PlatformIo, PlatformRequest, PlatformResponse } from "../../ports/platform-io.ts";
import { bearer, type Code, type FaultRule, faultsBy } from "../shared/faults.ts";
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

function requestOf(server: string, { method, isChange = false, ...rest }: Call): PlatformRequest {
  const url = `${server}/api/${method}`;
  return { ...rest, method: "POST", url, isIdempotent: !isChange, newConnection: isChange, classify };
}

/** One call with the account's token. */
export function own<T>(io: PlatformIo, call: Call, schema: z.ZodType<T>): Promise<T> {
  return io.ask({ ...requestOf(serverOf(io), call), sign: bearer() }, schema);
}

const Gone = z.looseObject({ error: z.looseObject({ code: z.string() }) }).transform(() => null);

/** The same about a note; null where it is not there (any more). */
export function ownOrGone<T>(io: PlatformIo, call: Call, schema: z.ZodType<T>): Promise<T | null> {
  const request = { ...requestOf(serverOf(io), call), classify: classifyGone, sign: bearer() };
  return io.ask(request, z.union([Gone, schema]));
}

/** One call while connecting, with a token that is not stored yet, or none. */
export function call<T>(
  io: Pick<ConnectIo, "ask">,
  { server, token, ...rest }: Call & { readonly server: string; readonly token?: string },
  schema: z.ZodType<T>,
): Promise<T> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return io.ask({ ...requestOf(server, rest), headers }, schema);
}

const WebAddress = z.url({ protocol: /^https?$/ }).max(2_000);
const Count = z.int().min(0).optional().catch(undefined);

/** A user: of `i`, `miauth/…/check`. */
export const User = z.looseObject({
  id: z.string().min(1),
  username: z.string(),
  name: z.string().nullish().catch(null),
  avatarUrl: WebAddress.nullish().catch(null),
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

/** As people name it everywhere: alice@misskey.example. */
export function handleOf({ username }: User, server: string): string {
  return `${username}@${new URL(server).host}`;
}

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

const SMALLER = "Give a smaller one, then send the post again.";

const RULES: readonly FaultRule[] = [
  {
    code: ["CREDENTIAL_REQUIRED", "AUTHENTICATION_FAILED"],
    kind: "auth",
    message: "The server does not take the channel's token any more. Reconnect the channel.",
  },
  {
    code: ["PERMISSION_DENIED", "ACCESS_DENIED"],
    kind: "auth",
    message: "The channel's token may not do this. Reconnect it and allow everything that is asked for.",
  },
  {
    code: ["YOUR_ACCOUNT_SUSPENDED", "YOUR_ACCOUNT_MOVED"],
    kind: "auth",
    message: "The server has suspended this account, or it has moved. Settle that with the server first.",
  },
  {
    code: "ROLE_PERMISSION_DENIED",
    kind: "rejected",
    message: "The account has no role on its server that lets it do this. Ask the server's administrators.",
  },
  {
    code: "NO_SUCH_FILE",
    kind: "rejected",
    field: "mediaUrl",
    message: "the file was deleted from the server's drive in the meantime. Send the post again.",
  },
  {
    code: "NO_SUCH_REPLY_TARGET",
    kind: "rejected",
    message: "The note that this one replies to was deleted.",
  },
  {
    code: "CONTAINS_PROHIBITED_WORDS",
    kind: "rejected",
    field: "caption",
    message: "has words that this server does not allow. Change it, then send the post again.",
  },
  {
    code: "CONTAINS_TOO_MANY_MENTIONS",
    kind: "rejected",
    field: "caption",
    message: "mentions more people than this server allows. Take some out, then send the post again.",
  },
  {
    code: "NO_FREE_SPACE",
    kind: "rejected",
    field: "mediaUrl",
    message: "the account's drive is full. Delete files there, then send the post again.",
  },
  {
    code: "INAPPROPRIATE",
    kind: "rejected",
    field: "mediaUrl",
    message: "the server takes the file for something it does not allow. Give another one.",
  },
  {
    code: ["UNALLOWED_FILE_TYPE", "INVALID_FILE_NAME"],
    kind: "rejected",
    field: "mediaUrl",
    message: "the server does not take files of this type from this account. Give another one.",
  },
  {
    code: "MAX_FILE_SIZE_EXCEEDED",
    kind: "rejected",
    field: "mediaUrl",
    message: `the server refused the file as too large. ${SMALLER}`,
  },
  {
    status: 413,
    kind: "rejected",
    field: "mediaUrl",
    message: `the server refused the file as too large. ${SMALLER}`,
  },
  {
    code: "COMMENT_TOO_LONG",
    kind: "rejected",
    field: "metadata.altText",
    message: "is longer than this server takes. Shorten it, then send the post again.",
  },
];

const title = "Misskey";

const classify = faultsBy({ title, codesOf, rules: RULES });

/** For what is asked about a note that may be gone. */
const classifyGone = faultsBy({
  title,
  codesOf,
  rules: [{ code: "NO_SUCH_NOTE", kind: "ok" }, ...RULES],
});
