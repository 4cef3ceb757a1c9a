import * as z from "zod";
import type { RenewalIo, Secrets, Tokens } from "../../ports/connect.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { isXrpcError, xrpc, type Network } from "./xrpc.ts";

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

/** Signs in. A lost answer leaves a session that nobody uses, so that it may be asked for again. */
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
