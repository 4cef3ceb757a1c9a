import { randomInt } from "node:crypto";
import * as z from "zod";
import type { ConnectIo, RenewalIo, Secrets, Tokens } from "../../ports/connect.ts";
import {
  type FaultKind,
  type JsonObject,
  PlatformFault,
  type PlatformIo,
  type PlatformRequest,
  type PlatformResponse,
} from "../../ports/platform-io.ts";
import { bearer } from "../shared/faults.ts";

/** What a call needs of its surroundings; there both while connecting and while publishing. */
type Network = Pick<ConnectIo, "ask">;

/** A fault with the name that XRPC gives its errors (`RecordNotFound`). */
export class XrpcFault extends PlatformFault {
  readonly code: string;
  // Private: logs show the fields of errors, and the server may quote tokens.
  readonly #answer: unknown;

  constructor(kind: FaultKind, message: string, details: { code: string; response: PlatformResponse }) {
    super(kind, message, { httpStatus: details.response.status });
    this.name = "XrpcFault";
    this.code = details.code;
    this.#answer = details.response.json;
  }

  /** The body of the answer, which may hold more than the error. */
  get answer(): unknown {
    return this.#answer;
  }
}

export function isXrpcError(error: unknown, ...codes: readonly string[]): error is XrpcFault {
  return error instanceof XrpcFault && codes.includes(error.code);
}

export interface XrpcCall extends Pick<
  PlatformRequest,
  "json" | "body" | "headers" | "isIdempotent" | "timeoutMs" | "idleMs"
> {
  /** Address of the server, without a slash at its end. */
  readonly base: string;
  readonly nsid: string;
  /** Default: none is sent. */
  readonly token?: string | undefined;
  readonly params?: NonNullable<PlatformRequest["query"]>;
}

/** Any JSON object, where nothing of the answer is needed. */
export const AnyAnswer = z.looseObject({});

/** One XRPC call: a POST where it has a body, else a GET. */
export function xrpc<T>(io: Network, call: XrpcCall, schema: z.ZodType<T>): Promise<T> {
  return io.ask(requestOf(call), schema);
}

/** The same with the account's session. */
export function ownXrpc<T>(
  io: Pick<PlatformIo, "ask">,
  call: Omit<XrpcCall, "token">,
  schema: z.ZodType<T>,
): Promise<T> {
  return io.ask({ ...requestOf(call), sign: bearer("accessJwt") }, schema);
}

function requestOf({ base, nsid, token, params, headers, ...call }: XrpcCall): PlatformRequest {
  return {
    ...call,
    method: call.json === undefined && call.body === undefined ? "GET" : "POST",
    url: `${base}/xrpc/${nsid}`,
    ...(params === undefined ? {} : { query: params }),
    headers: {
      accept: "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    classify,
  };
}

/** The session is not (or no longer) good; refreshing it may help. */
const AUTH_CODES = new Set([
  "ExpiredToken",
  "InvalidToken",
  "AuthenticationRequired",
  "AuthMissing",
  "AuthFactorTokenRequired",
]);
/** Only the person and Bluesky can help: the channel asks to be reconnected. */
const CLOSED_CODES = new Set([
  "AccountTakedown",
  "AccountDeactivated",
  "AccountSuspended",
  "RepoTakendown",
  "RepoDeactivated",
]);

const ErrorBody = z.object({ error: z.string() });

/** Null leaves it to the usual reading (429: wait, 5xx: it may have happened). */
function classify(response: PlatformResponse): PlatformFault | null {
  const body = ErrorBody.safeParse(response.json);
  const code = body.success && /^[A-Za-z_]{1,60}$/.test(body.data.error) ? body.data.error : "";
  const fault = (kind: FaultKind, message: string): XrpcFault =>
    new XrpcFault(kind, message, { code, response });

  if (response.status < 300 || response.status >= 500 || response.status === 429) return null;
  if (CLOSED_CODES.has(code))
    return fault(
      "auth",
      "Bluesky has suspended or deactivated this account. Settle that with Bluesky first.",
    );
  if (response.status === 401 || AUTH_CODES.has(code)) return fault("auth", "Bluesky refused the session.");
  if (response.status === 413)
    return fault("rejected", "Bluesky refused a file as too large. Use a smaller one.");
  const named = code === "" ? "" : ` with the error ${code}`;
  return fault("rejected", `Bluesky refused the request${named}. Change the post, then send it again.`);
}

const WEB = "https://bsky.app";

/** What connecting stores beside the secrets. */
const Settings = z.object({ instanceUrl: z.string().nullable(), pdsUrl: z.string() });

const DidDocument = z.looseObject({
  service: z.array(z.looseObject({ id: z.string(), serviceEndpoint: z.unknown().optional() })).optional(),
});

const Session = z.looseObject({
  did: z.string().startsWith("did:"),
  handle: z.string(),
  accessJwt: z.string().min(1),
  refreshJwt: z.string().min(1),
  active: z.boolean().optional(),
  didDoc: DidDocument.optional().catch(undefined),
});
export type Session = z.infer<typeof Session>;

/**
 * The server that holds the account's records. A base address from the settings stands for all servers of the
 * network.
 */
export function pdsOf(io: Pick<PlatformIo, "account" | "setting">): string {
  const settings = Settings.safeParse(io.account.settings);
  if (!settings.success)
    throw new PlatformFault("auth", "The channel's server is not known. Reconnect the channel.");
  const override = settings.data.instanceUrl === null ? io.setting("BASE_URL") : null;
  return override ?? settings.data.pdsUrl;
}

/** The account's permanent id. */
export function didOf(io: Pick<PlatformIo, "account">): string {
  const did = io.account.platformAccountId;
  if (did === null)
    throw new PlatformFault("auth", "The channel's account is not known. Reconnect the channel.");
  return did;
}

/** Where people look at profiles and posts: Bluesky's own app, or the one set. */
export function webUrl(io: Pick<PlatformIo, "setting">, who: { did: string; handle: string | null }): string {
  const name = who.handle === null || who.handle === "handle.invalid" ? who.did : who.handle;
  return `${io.setting("WEB_URL") ?? WEB}/profile/${name}`;
}

/** The DID behind a handle; null where the network knows none. */
export async function resolveHandle(io: Network, base: string, handle: string): Promise<string | null> {
  const call = { base, nsid: "com.atproto.identity.resolveHandle", params: { handle } };
  try {
    return (await xrpc(io, call, z.looseObject({ did: z.string().startsWith("did:") }))).did;
  } catch (error) {
    if (error instanceof PlatformFault && error.kind === "rejected") return null;
    throw error;
  }
}

export interface SignIn {
  readonly service: string;
  readonly identifier: string;
  readonly password: string;
}

/** Signs in. A lost answer leaves a session that is not used, so that it may be asked for again. */
export function createSession(io: Network, { service, identifier, password }: SignIn): Promise<Session> {
  const call = {
    base: service,
    nsid: "com.atproto.server.createSession",
    json: { identifier, password },
    isIdempotent: true,
  };
  return xrpc(io, call, Session);
}

/** What is kept of a session, with the app password that can begin another. */
export function tokensOf(session: Session, appPassword: string): Tokens {
  return {
    secrets: { appPassword, accessJwt: session.accessJwt, refreshJwt: session.refreshJwt },
    expiresAt: null,
    renewableUntil: null,
    scopes: null,
    answer: {},
  };
}

/** The refresh token first; where that is lost or spent, the app password heals it without the person. */
export async function refresh(secrets: Secrets, io: RenewalIo): Promise<Tokens> {
  const session = (await renew(secrets, io)) ?? (await signInAgain(secrets, io));
  return tokensOf(session, secrets["appPassword"] ?? "");
}

async function renew(secrets: Secrets, io: RenewalIo): Promise<Session | null> {
  const token = secrets["refreshJwt"] ?? "";
  if (token === "") return null;
  const call = {
    base: pdsOf(io),
    nsid: "com.atproto.server.refreshSession",
    token,
    body: "",
    isIdempotent: true,
  };
  try {
    return await xrpc(io, call, Session);
  } catch (error) {
    if (error instanceof PlatformFault && (error.kind === "auth" || error.kind === "rejected")) return null;
    throw error;
  }
}

async function signInAgain(secrets: Secrets, io: RenewalIo): Promise<Session> {
  try {
    return await createSession(io, {
      service: pdsOf(io),
      identifier: didOf(io),
      password: secrets["appPassword"] ?? "",
    });
  } catch (error) {
    if (!(error instanceof PlatformFault) || (error.kind !== "auth" && error.kind !== "rejected"))
      throw error;
    const why = isXrpcError(error, "AccountTakedown", "AccountDeactivated", "AccountSuspended")
      ? error.message
      : "Bluesky no longer accepts the app password. It was revoked or changed.";
    throw new PlatformFault("auth", why, { cause: error });
  }
}

export const POST = "app.bsky.feed.post";
export const THREADGATE = "app.bsky.feed.threadgate";
export const POSTGATE = "app.bsky.feed.postgate";

/** One record to be created under a key of ours. */
export type RecordWrite = {
  readonly collection: string;
  readonly rkey: string;
  readonly value: JsonObject;
};

/** The content id that the server will compute for the record: SHA-256 over its canonical CBOR. */
export async function cidOf(record: JsonObject): Promise<string> {
  // Only a post needs them, and every start would load them.
  const [{ encode }, { CODEC_DCBOR, create, toString }] = await Promise.all([
    import("@atcute/cbor"),
    import("@atcute/cid"),
  ]);
  return toString(await create(CODEC_DCBOR, encode(record)));
}

export function uriOf(did: string, collection: string, rkey: string): string {
  return `at://${did}/${collection}/${rkey}`;
}

/** The key in `at://did/collection/key`; null for something else. */
export function rkeyOf(uri: string): string | null {
  return /^at:\/\/[^/]+\/[^/]+\/([^/]+)$/.exec(uri)?.[1] ?? null;
}

const RecordAnswer = z.looseObject({
  uri: z.string(),
  cid: z.string().optional(),
  value: z.record(z.string(), z.json()),
});
export type StoredRecord = z.infer<typeof RecordAnswer>;

/** The record as the account's own server has it, which is the truth; null where it has none. */
/** A post of anyone, by the account's own server, which asks others; null: it is not there. */
export async function findPost(
  io: PlatformIo,
  repo: string,
  rkey: string,
): Promise<{ uri: string; cid: string } | null> {
  const call = {
    base: pdsOf(io),
    nsid: "com.atproto.repo.getRecord",
    params: { repo, collection: POST, rkey },
  };
  try {
    return await ownXrpc(
      io,
      call,
      z.looseObject({ uri: z.string().startsWith("at://"), cid: z.string().min(1) }),
    );
  } catch (error) {
    if (error instanceof PlatformFault && error.kind === "rejected") return null;
    throw error;
  }
}

export async function findRecord(
  io: PlatformIo,
  collection: string,
  rkey: string,
): Promise<StoredRecord | null> {
  const params = { repo: didOf(io), collection, rkey };
  try {
    return await xrpc(io, { base: pdsOf(io), nsid: "com.atproto.repo.getRecord", params }, RecordAnswer);
  } catch (error) {
    if (isXrpcError(error, "RecordNotFound")) return null;
    throw error;
  }
}

/** Base32 that sorts as its value does (https://atproto.com/specs/tid). */
const ALPHABET = "234567abcdefghijklmnopqrstuvwxyz";
const LENGTH = 13;
const CLOCK_BITS = 10n;

/** A record key: microseconds since 1970 in 53 bits, then 10 bits that keep two clocks apart. */
export function encodeTid(micros: bigint, clockId: number): string {
  let rest = (micros << CLOCK_BITS) | BigInt(clockId & 1_023);
  let text = "";
  for (let at = 0; at < LENGTH; at += 1) {
    text = ALPHABET.charAt(Number(rest & 31n)) + text;
    rest >>= 5n;
  }
  return text;
}

/**
 * A new record key. The microseconds and the clock are chance: two posts of one millisecond get different
 * keys.
 */
export function newTid(nowMs: number): string {
  return encodeTid(BigInt(nowMs) * 1_000n + BigInt(randomInt(1_000)), randomInt(1_024));
}

/**
 * The key `steps` microseconds later, of the same clock: the keys of a thread's parts follow from its first
 * one.
 */
export function laterTid(tid: string, steps: number): string {
  const value = [...tid].reduce((sum, letter) => (sum << 5n) | BigInt(ALPHABET.indexOf(letter)), 0n);
  return encodeTid((value >> CLOCK_BITS) + BigInt(steps), Number(value & 1_023n));
}
