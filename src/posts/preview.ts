import type { PlatformCapabilities } from "../domain/accounts/capabilities.ts";
import type { FileType } from "../domain/files/file.ts";
import { checkMedia, type MediaFigures, type MediaSkills } from "../domain/files/media-limits.ts";
import { captionLength } from "../domain/posts/caption.ts";
import type { Poll, Subtitles } from "../domain/posts/common-metadata.ts";
import type { Metadata } from "../domain/posts/post.ts";
import type { Preview } from "../domain/posts/preview.ts";
import type { AnyPlatform, PlatformPost, PlatformPreview } from "../ports/platform.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import type { AppContext } from "../context.ts";
import { skillsOf } from "../files/media-skills.ts";
import { figuresByUrl, type MediaPlace, placesOf } from "../files/media-places.ts";
import { capabilitiesFor, toPlatformAccount } from "../channels/platform-io/connect-io.ts";
import { findPlatform } from "../channels/platform-io/set-up.ts";
import { asUnsent, figuresAsSent, type PostContent } from "./post-form.ts";
import { changeInWords } from "./post-media.ts";

/** Where a content has media, and what is known of those. */
interface KnownMedia {
  readonly places: readonly MediaPlace[];
  readonly figures: ReadonlyMap<string, MediaFigures>;
}

/**
 * What the account's platform will show of a content, which may be unfinished or wrong: what it cannot be is
 * told by `checkForm`. It makes no request. `known`: of a post that was prepared.
 */
export async function previewPost(
  ctx: AppContext,
  account: AccountRow,
  content: PostContent,
  known: Partial<KnownMedia> = {},
): Promise<Preview> {
  const platform = findPlatform(ctx, account.provider);
  const metadata = readableFields(platform, content.metadata ?? {});
  const draft = asUnsent(platform, content, metadata);
  const capabilities = capabilitiesFor(ctx, account, draft);
  const { places = placesOf(platform, { mediaUrl: draft.mediaUrl, metadata }) } = known;
  const urls = places.map(({ url }) => url);
  const figures = known.figures ?? (await figuresByUrl(ctx, account.owner_id, urls));
  const sent = figuresAsSent(figures, capabilities);
  const shown = platform.preview?.(draft, { account: toPlatformAccount(account), media: sent }) ?? {};
  const skills = await skillsOf(ctx, capabilities);
  return makePreview({ platform, capabilities, places, figures, post: draft, skills }, shown);
}

/** Each field by itself, with the platform's defaults; what is missing or wrong is left out. */
function readableFields({ metadata: { shape } }: AnyPlatform, given: Metadata): PlatformPost["metadata"] {
  const read = Object.entries(shape).flatMap(([key, field]) => {
    const { success, data } = field.safeParse(Object.hasOwn(given, key) ? given[key] : undefined);
    return success && data !== undefined ? [[key, data]] : [];
  });
  return Object.fromEntries(read) as PlatformPost["metadata"];
}

interface PreviewInput extends KnownMedia {
  readonly platform: AnyPlatform;
  readonly capabilities: PlatformCapabilities;
  readonly post: PlatformPost;
  readonly skills: MediaSkills;
}

function makePreview(at: PreviewInput, shown: PlatformPreview): Preview {
  const { capabilities, post } = at;
  const given = post.metadata as CommonFields;
  const { firstComment: comment = "" } = given;
  const items = at.places.filter(({ isItem, url }) => isItem && url !== "");
  const write = shown.write ?? ((text: string): string => text);
  const count = (text: string, max: number | null) => countOf(at, shown.counted?.(text) ?? [text], max);
  const caption = write(post.caption ?? "");
  const { maxLength, withMedia = maxLength } = capabilities.caption;
  const { title = given.title, body = caption, link = given.link, note = noteOf(given) } = shown;
  const text = [title, body].filter((one) => one !== undefined && one !== null && one !== "").join("\n\n");
  return {
    text: text === "" ? null : text,
    parts: [
      ...(given.thread ?? []).map(({ caption: part, mediaUrl = "" }) => ({
        text: write(part),
        count: count(write(part), maxLength),
        media: mediaUrl === "" ? [] : [mediaOf(at, mediaUrl)],
      })),
      // How long a comment may be, its own field says.
      ...(comment === "" ? [] : [{ text: comment, count: countOf(at, [comment], null), media: [] }]),
    ],
    count: count(caption, items.length > 0 ? withMedia : maxLength),
    media: items.map(({ url }) => mediaOf(at, url)),
    link: link ?? null,
    note: withAltTexts(items, note),
  };
}

/** No picture shows it, and so it would be approved unseen. */
function withAltTexts(items: readonly MediaPlace[], note: string | null): string | null {
  const texts = items.flatMap(({ alt }) =>
    typeof alt?.text === "string" && alt.text !== "" ? alt.text : [],
  );
  if (texts.length === 0) return note;
  const told = `Alt text: ${texts.map((text) => `“${text}”`).join(", ")}.`;
  return note === null ? told : `${told} ${note}`;
}

function noteOf({ spoilerText = "", poll, subtitles = [] }: CommonFields): string | null {
  const notes = [
    ...(spoilerText.trim() === "" ? [] : [`Shown after a click on the warning: ${spoilerText}`]),
    ...(poll === undefined ? [] : [pollInWords(poll)]),
    ...(subtitles.length === 0
      ? []
      : [`With subtitles: ${subtitles.map(({ language }) => language).join(", ")}.`]),
  ];
  return notes.length === 0 ? null : notes.join(" ");
}

function pollInWords({ options, hours, multiple = false }: Poll): string {
  const choice = multiple ? ", several may be chosen" : "";
  return `A poll, open for ${hours} ${hours === 1 ? "hour" : "hours"}${choice}: ${options.join(" / ")}.`;
}

/** As `commonMetadata` has them, on the platforms that do. */
interface CommonFields {
  readonly title?: string;
  readonly link?: string;
  readonly thread?: readonly { readonly caption: string; readonly mediaUrl?: string }[];
  readonly firstComment?: string;
  readonly spoilerText?: string;
  readonly poll?: Poll;
  readonly subtitles?: readonly Subtitles[];
}

function countOf(
  { platform, capabilities }: PreviewInput,
  pieces: readonly string[],
  max: number | null,
): Preview["count"] {
  const { caption } = capabilities;
  const lengths = pieces.map((piece) => captionLength(piece, caption, platform.measure));
  return { length: lengths.reduce((sum, length) => sum + length, 0), max, unit: caption.unit };
}

function mediaOf({ capabilities, figures, skills }: PreviewInput, url: string): Preview["media"][number] {
  const known = figures.get(url);
  if (known === undefined) return { url, type: typeByAddress(url), change: null };
  const { changes } = checkMedia(known, capabilities.media.accepts, skills);
  const change = changes.length === 0 ? null : `T${changeInWords(known.type, changes).slice(1)}.`;
  return { url, type: known.type, change };
}

const ENDINGS: readonly (readonly [FileType, RegExp])[] = [
  ["image", /\.(avif|gif|heic|jpe?g|png|tiff?|webp)$/i],
  ["video", /\.(m4v|mkv|mov|mp4|webm)$/i],
  ["audio", /\.(aac|flac|m4a|mp3|ogg|wav)$/i],
  ["document", /\.pdf$/i],
];

/** What it seems to be, until its bytes are looked at. */
function typeByAddress(url: string): FileType | null {
  const path = url.replace(/[?#].*$/s, "");
  return ENDINGS.find(([, ending]) => ending.test(path))?.[0] ?? null;
}
