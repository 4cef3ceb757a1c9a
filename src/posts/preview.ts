import type { PlatformCapabilities } from "../domain/accounts/capabilities.ts";
import type { FileType } from "../domain/files/file.ts";
import { checkMedia, type MediaFigures } from "../domain/files/media-limits.ts";
import { captionLength } from "../domain/posts/caption.ts";
import type { Metadata } from "../domain/posts/post.ts";
import type { Preview } from "../domain/posts/preview.ts";
import type { AnyPlatform, PlatformPost, Shown } from "../ports/platform.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import type { AppContext } from "../context.ts";
import { placesOf } from "../files/media-places.ts";
import { capabilitiesFor, toPlatformAccount } from "../platform-io/connect-io.ts";
import { findPlatform } from "../platform-io/set-up.ts";
import { figuresByUrl, type PostContent } from "./post-form.ts";

/**
 * What the account's platform will show of a content, which may be unfinished or wrong: what it cannot be is
 * told by `checkForm`. Asks nobody outside.
 */
export async function previewPost(
  ctx: AppContext,
  account: AccountRow,
  content: PostContent,
): Promise<Preview> {
  const platform = findPlatform(ctx, account.provider);
  const metadata = readableFields(platform, content.metadata ?? {});
  const draft: PlatformPost = {
    id: "",
    caption: content.caption === "" ? null : content.caption,
    mediaUrl: content.mediaUrl,
    metadata,
    scheduledAt: content.scheduledAt,
    leadMinutes: content.leadMinutes ?? platform.capabilities.leadMinutes.default,
    platformPostId: null,
    platformUrl: null,
  };
  const capabilities = capabilitiesFor(ctx, account, draft);
  const urls = placesOf(platform, { mediaUrl: draft.mediaUrl, metadata }).map(({ url }) => url);
  const figures = await figuresByUrl(ctx, account.owner_id, urls);
  const shown = platform.preview?.(draft, toPlatformAccount(account)) ?? {};
  return makePreview({ platform, capabilities, figures, post: draft }, shown);
}

/** Each field by itself, with the platform's defaults; what is missing or wrong is left out. */
function readableFields({ metadata: { shape } }: AnyPlatform, given: Metadata): PlatformPost["metadata"] {
  const read = Object.entries(shape).flatMap(([key, field]) => {
    const { success, data } = field.safeParse(Object.hasOwn(given, key) ? given[key] : undefined);
    return success && data !== undefined ? [[key, data]] : [];
  });
  return Object.fromEntries(read) as PlatformPost["metadata"];
}

interface Previewed {
  readonly platform: AnyPlatform;
  readonly capabilities: PlatformCapabilities;
  readonly figures: ReadonlyMap<string, MediaFigures>;
  readonly post: PlatformPost;
}

function makePreview(at: Previewed, shown: Shown): Preview {
  const { platform, capabilities, post } = at;
  const { title, link, thread, firstComment } = post.metadata as CommonFields;
  const items = placesOf(platform, post).filter(({ isItem, url }) => isItem && url !== "");
  const later = thread ?? [];
  const texts = shown.parts ?? [...later.map(({ caption }) => caption), ...textsOf(firstComment)];
  const { maxLength, withMedia } = capabilities.caption;
  const text = shown.text === undefined ? textsOf(title, post.caption).join("\n\n") : shown.text;
  return {
    text: text === "" ? null : text,
    parts: texts.map((part, index) => {
      const mediaUrl = later[index]?.mediaUrl ?? "";
      const max = index < later.length ? maxLength : null;
      return {
        text: part,
        count: countOf(at, part, max),
        media: mediaUrl === "" ? [] : [mediaOf(at, mediaUrl)],
      };
    }),
    count: countOf(
      at,
      shown.counted ?? post.caption ?? "",
      items.length > 0 ? (withMedia ?? maxLength) : maxLength,
    ),
    media: items.map(({ url }) => mediaOf(at, url)),
    link: shown.link === undefined ? (link ?? null) : shown.link,
    note: shown.note ?? null,
  };
}

/** As `commonMetadata` has them, on the platforms that do. */
interface CommonFields {
  readonly title?: string;
  readonly link?: string;
  readonly thread?: readonly { readonly caption: string; readonly mediaUrl?: string }[];
  readonly firstComment?: string;
}

function textsOf(...texts: readonly (string | null | undefined)[]): string[] {
  return texts.flatMap((text) => (text === undefined || text === null || text === "" ? [] : [text]));
}

function countOf({ platform, capabilities }: Previewed, text: string, max: number | null): Preview["count"] {
  const { caption } = capabilities;
  return { length: captionLength(text, caption, platform.measure), max, unit: caption.unit };
}

function mediaOf({ capabilities, figures }: Previewed, url: string): Preview["media"][number] {
  const known = figures.get(url);
  if (known === undefined) return { url, type: typeByAddress(url), change: null };
  const { changes } = checkMedia(known, capabilities.media.accepts);
  const change = changes.length === 0 ? null : `The picture will be ${changes.join(", ")}.`;
  return { url, type: known.type, change };
}

const ENDINGS: readonly (readonly [FileType, RegExp])[] = [
  ["image", /\.(avif|gif|heic|jpe?g|png|tiff?|webp)$/i],
  ["video", /\.(m4v|mkv|mov|mp4|webm)$/i],
  ["audio", /\.(aac|flac|m4a|mp3|ogg|wav)$/i],
];

/** What it seems to be, until its bytes are looked at. */
function typeByAddress(url: string): FileType | null {
  const path = url.replace(/[?#].*$/s, "");
  return ENDINGS.find(([, ending]) => ending.test(path))?.[0] ?? null;
}
