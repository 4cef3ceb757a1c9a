import { DEFAULT_OWNER, PERMISSIONS, type Caller, type Permission } from "../domain/permissions.ts";

/** Whoever sits at this machine as the user that the data folder belongs to: the default owner. */
export function localCaller(permissions: readonly Permission[] = PERMISSIONS): Caller {
  return { ownerId: DEFAULT_OWNER, permissions, accountIds: null, keyId: "local", isLocal: true };
}
