import type * as z from "zod";
import type { AppError } from "../../domain/errors.ts";
import { explainInvalid } from "../../domain/explain-invalid.ts";
import type { Metadata } from "../../domain/posts/post.ts";
import type { AnyPlatform } from "../../ports/platform.ts";

/** What a platform does not take of `metadata`, each field by its full name. */
export function explainMetadata(error: z.ZodError, platform: AnyPlatform): AppError {
  return explainInvalid(error, platform.metadata, { prefix: "metadata", owner: platform.title });
}

/**
 * Merges key by key; null removes a key. One that the platform does not know stays, so that it is refused
 * like any other. An empty result is null.
 */
export function mergeMetadata(
  platform: AnyPlatform,
  current: Metadata | null,
  patch: Metadata | null,
): Metadata | null {
  if (patch === null) return null;
  const isKnown = (key: string): boolean =>
    Object.hasOwn(platform.metadata.shape, key) || Object.hasOwn(current ?? {}, key);
  const merged = Object.fromEntries(
    Object.entries({ ...current, ...patch }).filter(([key, value]) => value !== null || !isKnown(key)),
  );
  return Object.keys(merged).length === 0 ? null : merged;
}
