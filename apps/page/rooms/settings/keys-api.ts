import type { Permission, Role } from "../../../../src/domain/permissions.ts";
import { session } from "../../data/session.ts";
import { send } from "../../data/wire.ts";
import type { Json } from "../../../shared/json.ts";

/** A key as the server lists it. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly status: "active" | "expired" | "revoked";
  readonly permissions: readonly Permission[];
  readonly role: Role | null;
  readonly accountIds: readonly string[] | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
}

interface NewKey {
  readonly name: string;
  readonly role: Role;
  /** Null: all channels, later ones too. */
  readonly accountIds: readonly string[] | null;
  /** A span such as `90d`; null: never. */
  readonly expires: string | null;
}

/** A program that has access by OAuth. */
export interface Grant {
  readonly id: string;
  readonly client: { readonly name: string; readonly callbackHost: string };
  readonly permissions: readonly Permission[];
  readonly role: Role | null;
  readonly accountIds: readonly string[] | null;
  readonly givenBy: string | null;
  readonly lastUsedAt: string | null;
}

/** Someone who is signed in to the page. */
export interface PageSession {
  readonly id: string;
  readonly isCurrent: boolean;
  readonly name: string;
  readonly browser: string;
  readonly createdAt: string;
  readonly lastSeenAt: string;
  readonly expiresAt: string;
}

export async function listKeys(signal?: AbortSignal): Promise<readonly ApiKey[]> {
  const answer = await get<{ keys: readonly ApiKey[] }>("/keys", signal);
  return answer.keys;
}

/** The key itself is answered this once. */
export async function makeKey({ name, role, accountIds, expires }: NewKey): Promise<string> {
  const body: Json = {
    name,
    role,
    ...(accountIds !== null && { accountIds }),
    ...(expires !== null && { expires }),
  };
  const { key } = await send("/keys", { method: "POST", body });
  return String(key);
}

export async function revokeKey(id: string): Promise<void> {
  await send(`/keys/${encodeURIComponent(id)}`, { method: "DELETE" });
}

/** None where programs cannot ask for access. */
export async function listGrants(signal: AbortSignal): Promise<readonly Grant[]> {
  if (session.value?.hasOAuth !== true) return [];
  return (await get<{ grants: readonly Grant[] }>("/grants", signal)).grants;
}

export async function revokeGrant(id: string): Promise<void> {
  await send(`/grants/${encodeURIComponent(id)}`, { method: "DELETE" });
}

export async function listSessions(signal: AbortSignal): Promise<readonly PageSession[]> {
  const answer = await get<{ sessions: readonly PageSession[] }>("/sessions", signal);
  return answer.sessions;
}

export async function endSession(id: string): Promise<void> {
  await send(`/sessions/${encodeURIComponent(id)}`, { method: "DELETE" });
}

function get<T extends Json>(path: string, signal?: AbortSignal): Promise<T> {
  return send(path, signal === undefined ? {} : { signal });
}
