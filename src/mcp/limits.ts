import { MINUTE, SECOND } from "../domain/time.ts";
import { TIME_LIMITS } from "../domain/time-limits.ts";

/** Longest message that is read over HTTP. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** Longest line that is read over stdio: the SDK takes 10 MiB, and ends without a word beyond. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;

/** Levels of a message over HTTP, where it is written again on its way: far below what exhausts the stack. */
export const MAX_MESSAGE_LEVELS = 1_000;

/** How long an ending server waits for the calls under way. */
export const GRACE_MS = TIME_LIMITS.callsDrain;

/** Keeps a stream open through proxies, and finds out that its client has gone. */
export const KEEP_ALIVE_MS = 15 * SECOND;

/** What a model should be given at once: 20,000 tokens of some four characters. */
export const MAX_RESULT_CHARS = 80_000;

/** A page whose length was not asked for: 4,000 tokens. */
export const DEFAULT_PAGE_CHARS = 16_000;

/** Lists change only with a new version or another key. */
export const LIST_CACHE_MS = 5 * MINUTE;
