import { DEFAULT_OWNER, PERMISSIONS, type Caller, type Permission } from "../domain/permissions.ts";

/**
 * Whoever sits at this machine as the user that the data folder belongs to: the default owner, or the one
 * that they name.
 */
export function localCaller({
  ownerId = DEFAULT_OWNER,
  permissions = PERMISSIONS,
}: { readonly ownerId?: string; readonly permissions?: readonly Permission[] } = {}): Caller {
  return { ownerId, permissions, accountIds: null, keyId: "local", isLocal: true };
}

/** The default owner at the command line, for whom one command is done. */
export function shellCaller(): Caller {
  return { ...localCaller(), isAtShell: true };
}
