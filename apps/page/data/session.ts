import { computed, effect, signal } from "@preact/signals";
import { timezone } from "../../shared/when.ts";
import type { Permission, Role } from "../../../src/domain/permissions.ts";
import { CallError, onlineBy, onSignedOut, send } from "./wire.ts";
import { replaceAddress } from "./address.tsx";

/** Who is signed in, and what they may do. */
export interface Session {
  readonly id: string;
  /** The key that it belongs to, and its name. */
  readonly keyId: string;
  readonly name: string;
  readonly permissions: readonly Permission[];
  readonly role: Role | null;
  readonly accountIds: readonly string[] | null;
  /** The IANA zone that times are shown in. */
  readonly timezone: string;
  readonly version: string;
  /** Where others reach the server, without a slash at its end. */
  readonly publicUrl: string;
  /** Whether the greeting was never closed. */
  readonly isWelcome: boolean;
  /** Whether the data can be downloaded as one file. */
  readonly hasBackup: boolean;
  /** Programs may ask for access by OAuth. */
  readonly hasOAuth: boolean;
  readonly push: { readonly publicKey: string } | null;
}

type SessionState =
  | { readonly state: "loading" }
  | { readonly state: "out" }
  | { readonly state: "unreachable"; readonly sentence: string }
  /** `isOver`: the session has ended. The rooms keep their content until the person signs in again. */
  | { readonly state: "in"; readonly session: Session; readonly isOver?: true };

export const sessionState = signal<SessionState>({ state: "loading" });

/** Null: no one is signed in. */
export const session = computed(() => (sessionState.value.state === "in" ? sessionState.value.session : null));

export { formats, timezone, zone } from "../../shared/when.ts";
// Times are written in the zone of the one who is signed in.
effect(() => {
  timezone.value = session.value?.timezone ?? "UTC";
});

function end(): void {
  sessionState.value = sessionState.value.state === "in" ? { ...sessionState.value, isOver: true } : { state: "out" };
}
onSignedOut(end);
onlineBy(() => navigator.onLine);

export async function loadSession(): Promise<void> {
  try {
    enter(readSession(await send("/session")));
  } catch (error) {
    if (error instanceof CallError && error.status === 401) end();
    else if (sessionState.value.state !== "in")
      sessionState.value = { state: "unreachable", sentence: error instanceof Error ? error.message : "" };
  }
}

/** Where the one-time address leads to. */
export const SIGN_IN_PATH = "/app/sign-in";

/** Signs in by a one-time token or by a key. Rejects with `CallError`. */
export async function signIn(by: { readonly token: string } | { readonly key: string }): Promise<void> {
  enter(readSession(await send("/session", { method: "POST", body: by })));
}

function enter(session: Session): void {
  // Before the rooms are shown, which go by the address.
  if (location.pathname === SIGN_IN_PATH) replaceAddress("/app/plan");
  sessionState.value = { state: "in", session };
}

export async function signOut(): Promise<void> {
  await send("/session", { method: "DELETE" });
  sessionState.value = { state: "out" };
}

/** The greeting has been seen. */
export async function putWelcomeAway(): Promise<void> {
  if (sessionState.value.state === "in")
    sessionState.value = { ...sessionState.value, session: { ...sessionState.value.session, isWelcome: false } };
  await send("/welcome", { method: "POST" });
}

/** Whether that is the key that the person is signed in with. */
export function isOwnKey(keyId: string): boolean {
  return keyId === session.value?.keyId;
}

/** Whether the person may do it. What they may not do has no button, and the server refuses it. */
export function may(permission: Permission): boolean {
  const { permissions = [] } = session.value ?? {};
  return (
    permissions.includes(permission) ||
    permissions.includes("admin") ||
    (permission === "draft" && permissions.includes("publish"))
  );
}

/** A key of certain channels can bring no new ones. */
export function mayConnectNew(): boolean {
  return may("accounts") && session.value?.accountIds === null;
}

function readSession(answer: Readonly<Record<string, unknown>>): Session {
  // Server and page are of one version.
  return answer["session"] as Session;
}
