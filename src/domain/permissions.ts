import { AppError } from "./errors.ts";

/** What a key may do. `admin` stands for keys, webhooks, and everything of the owner's. */
export const PERMISSIONS = ["read", "publish", "accounts", "files", "admin"] as const;
export type Permission = (typeof PERMISSIONS)[number];

export const DEFAULT_OWNER = "default";

/** Who asks: an owner, and how far their key reaches. */
export interface Caller {
  readonly ownerId: string;
  readonly permissions: readonly Permission[];
  /** The only accounts this caller may see or use; null: all of the owner's. */
  readonly accountIds: readonly string[] | null;
  /** Names the key in logs and binds sessions to it; `local` for stdio and the command line. */
  readonly keyId: string;
  /** May name files of this machine (`upload_file` with `path`): only over stdio and the command line. */
  readonly isLocal: boolean;
}

export function isAllowed(caller: Caller, permission: Permission): boolean {
  return caller.permissions.includes(permission) || caller.permissions.includes("admin");
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
