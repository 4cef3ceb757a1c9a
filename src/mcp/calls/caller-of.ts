import type { Response } from "express";
import type { Caller } from "../../domain/permissions.ts";

/** The caller that the HTTP app's key check let in. */
export function callerOf(response: Response): Caller {
  const caller: Caller | undefined = response.locals["caller"];
  if (caller === undefined) throw new Error("An MCP handler was reached without the key check.");
  return caller;
}

/** A session belongs to the key that opened it. */
export function isSameKey(one: Caller, other: Caller): boolean {
  return one.ownerId === other.ownerId && one.keyId === other.keyId;
}
