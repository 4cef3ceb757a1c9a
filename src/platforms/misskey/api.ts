import * as z from "zod";
import type { ConnectIo } from "../../ports/connect.ts";
import type { JsonObject, PlatformIo, PlatformRequest } from "../../ports/platform-io.ts";
import { bearer } from "../shared/faults.ts";
import { serverOf } from "../shared/servers.ts";
import { classify, classifyGone } from "./faults.ts";

export const TITLE = "Misskey";

/** A method of the API: each is a POST, whether it changes something or not. */
export interface Call extends Pick<PlatformRequest, "multipart" | "timeoutMs" | "headersMs" | "idleMs"> {
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
