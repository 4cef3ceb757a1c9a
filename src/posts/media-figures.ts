import type { PlatformCapabilities } from "../domain/accounts/capabilities.ts";
import { asSent, type MediaFigures } from "../domain/files/media-limits.ts";
import { allFilesOf, findFileByKey, findFileRow } from "../store/queries/files.ts";
import type { AppContext } from "../context.ts";
import { figuresOf, OWN_SCHEME } from "../files/files.ts";

/** Of the owner's files among the addresses; who may use them, and whether they are there, is told later. */
export async function figuresByUrl(
  ctx: AppContext,
  ownerId: string,
  urls: readonly string[],
): Promise<ReadonlyMap<string, MediaFigures>> {
  const figures = new Map<string, MediaFigures>();
  const reach = allFilesOf(ownerId);
  for (const url of new Set(urls)) {
    const row = url.startsWith(OWN_SCHEME)
      ? await findFileByKey(ctx.store, reach, url.slice(OWN_SCHEME.length))
      : url.startsWith("file_")
        ? await findFileRow(ctx.store, reach, url)
        : null;
    if (row?.status === "ready") figures.set(url, figuresOf(row));
  }
  return figures;
}

/** The same as the platform gets them. */
export function figuresAsSent(
  figures: ReadonlyMap<string, MediaFigures>,
  { media }: Pick<PlatformCapabilities, "media">,
): ReadonlyMap<string, MediaFigures> {
  return new Map([...figures].map(([url, one]) => [url, asSent(one, media.accepts)]));
}
