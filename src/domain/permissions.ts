import { AppError } from "./errors.ts";

/**
 * What a key may do. `draft` writes drafts and makes nothing go out. `publish` holds `draft`, and decides about
 * drafts. `admin` stands for keys, webhooks, and everything of the owner's.
 */
export const PERMISSIONS = ["read", "draft", "publish", "accounts", "files", "admin"] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Names for sets of permissions, wherever permissions are given. */
export const ROLES = {
  viewer: ["read"],
  writer: ["read", "draft", "files"],
  publisher: ["read", "draft", "publish", "files"],
  admin: PERMISSIONS,
} as const satisfies Record<string, readonly Permission[]>;
export type Role = keyof typeof ROLES;
export const ROLE_NAMES = Object.keys(ROLES) as readonly Role[];

/** The default of a new key: it posts, and manages neither channels nor keys. */
export const DEFAULT_KEY_ROLE: Role = "publisher";

/** The role that has exactly these permissions; null: none has. */
export function roleOf(permissions: readonly Permission[]): Role | null {
  const held = PERMISSIONS.filter((one) => holds(permissions, one));
  const isSame = (role: readonly Permission[]): boolean =>
    role.length === held.length && role.every((one) => held.includes(one));
  return ROLE_NAMES.find((name) => isSame(ROLES[name])) ?? null;
}

/** Tools come in sets, one a permission. These are listed over MCP. */
export const DEFAULT_TOOL_SETS: readonly Permission[] = PERMISSIONS.filter((set) => set !== "admin");

/** `all`, or names of sets separated by commas; `null` for a name that is none, or no name at all. */
export function parseToolSets(text: string): readonly Permission[] | null {
  const names = text.split(",").map((name) => name.trim());
  if (names.length === 1 && names[0] === "all") return PERMISSIONS;
  const isKnown = names.every((name) => PERMISSIONS.some((set) => set === name));
  return isKnown ? PERMISSIONS.filter((set) => names.includes(set)) : null;
}

export const DEFAULT_OWNER = "default";

/** Who asks: an owner, and how far their key reaches. */
export interface Caller {
  readonly ownerId: string;
  readonly permissions: readonly Permission[];
  /** The only accounts this caller may see or use; null: all of the owner's. */
  readonly accountIds: readonly string[] | null;
  /** Names the key in logs and binds sessions to it; `local` over stdio, `shell` at the command line. */
  readonly keyId: string;
  /** May name files of this machine (`upload_file` with `path`): only over stdio and the command line. */
  readonly isLocal: boolean;
  /** A person at the command line: the process may read what they may. Default: false. */
  readonly isAtShell?: boolean;
  /** What a program at this machine, for which no key stands, calls itself. Missing: it did not say. */
  readonly program?: string;
  /** A program that a person let in: it has a connection, and knows of no key. Default: false. */
  readonly isProgram?: boolean;
}

/** Under what a caller's work is kept: their key, and of a program at this machine its name. */
export function signatureOf({ keyId, program }: Pick<Caller, "keyId" | "program">): string {
  return program === undefined ? keyId : `${keyId}${BEFORE_PROGRAM}${program}`;
}

/** No key's id holds it. */
const BEFORE_PROGRAM = ":";

/** The key of a signature, and the program's name. */
export function readSignature(signature: string): {
  readonly keyId: string;
  readonly program: string | null;
} {
  const [keyId = "", ...program] = signature.split(BEFORE_PROGRAM);
  return { keyId, program: program.length === 0 ? null : program.join(BEFORE_PROGRAM) };
}

export function isAllowed(caller: Pick<Caller, "permissions">, permission: Permission): boolean {
  return holds(caller.permissions, permission) || caller.permissions.includes("admin");
}

function holds(permissions: readonly Permission[], permission: Permission): boolean {
  return permissions.includes(permission) || (permission === "draft" && permissions.includes("publish"));
}

/** Throws `forbidden` unless the caller has the permission. */
export function requirePermission(caller: Caller, permission: Permission, action: string): void {
  if (isAllowed(caller, permission)) return;
  throw new AppError(
    "forbidden",
    `This key may not ${action}: it lacks the permission "${permission}". Use a key that has it, or ask the owner to create one.`,
  );
}

/** Whether the account is within the key's reach; one that is not is answered as one that does not exist. */
export function canReachAccount(caller: Caller, accountId: string): boolean {
  return caller.accountIds === null || caller.accountIds.includes(accountId);
}
