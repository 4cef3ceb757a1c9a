import type * as z from "zod";
import type { AppError } from "../../domain/errors.ts";
import { explainInvalid } from "../../domain/explain-invalid.ts";
import { withoutLeftOut } from "../../domain/left-out.ts";
import type { Metadata } from "../../domain/posts/post.ts";
import { nearestName } from "../../domain/settings/nearest-name.ts";
import { inUsualForm } from "../../domain/arguments/usual-form.ts";
import type { AnyPlatform } from "../../ports/platform.ts";

/** What a platform does not take of `metadata`, each field by its full name. */
export function explainMetadata(error: z.ZodError, platform: AnyPlatform): AppError {
  const within = { prefix: "metadata", owner: platform.title };
  return explainInvalid(error, platform.metadata, { within, meant: nearestName });
}

/**
 * Merges key by key. Null removes a key, and so does an empty text where the platform's field may not be
 * empty. One that the platform does not know stays, so that it is refused like any other. An empty result is
 * null.
 */
export function mergeMetadata(
  platform: AnyPlatform,
  current: Metadata | null,
  patch: Metadata | null,
): Metadata | null {
  if (patch === null) return null;
  const { shape } = platform.metadata;
  const given = Object.entries(patch).map(([key, value]) => {
    const field = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (field === undefined)
      return [key, value === null && Object.hasOwn(current ?? {}, key) ? undefined : value];
    const isRemoved = value === null || (value === "" && !field.safeParse("").success);
    return [key, isRemoved ? undefined : withoutLeftOut(field, inUsualForm(field, value))];
  });
  const all = Object.entries<unknown>({ ...current, ...Object.fromEntries(given) });
  const merged = all.filter(([, value]) => value !== undefined);
  return merged.length === 0 ? null : (Object.fromEntries(merged) as Metadata);
}
