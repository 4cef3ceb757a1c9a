import type { z } from "zod";
import type { AppError } from "../../domain/errors.ts";
import { explainInvalid } from "../../domain/explain-invalid.ts";
import type { Metadata } from "../../domain/posts/post.ts";
import type { AnyPlatform } from "../../ports/platform.ts";

/** What a platform does not take of `metadata`, each field by its full name. */
export function explainMetadata(error: z.ZodError, platform: AnyPlatform): AppError {
  return explainInvalid(error, platform.metadata, { prefix: "metadata", owner: platform.title });
}

/** Merges key by key; null removes a key (CONTRACT §5, PATCH). An empty result is null. */
export function mergeMetadata(current: Metadata | null, patch: Metadata | null): Metadata | null {
  if (patch === null) return null;
  const merged = Object.fromEntries(
    Object.entries({ ...current, ...patch }).filter(([, value]) => value !== null),
  );
  return Object.keys(merged).length === 0 ? null : merged;
}
