import { SECOND } from "../domain/time.ts";

/** Longest message that is read, on every transport. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** How long an ending server waits for the calls under way. */
export const GRACE_MS = 5 * SECOND;

/** Keeps a stream open through proxies, and finds out that its client has gone. */
export const KEEP_ALIVE_MS = 15 * SECOND;
