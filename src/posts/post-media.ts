import { acceptedFor } from "../domain/accounts/capabilities.ts";
import { AppError } from "../domain/errors.ts";
import { isFields } from "../domain/explain-invalid.ts";
import { fileTypeOf } from "../domain/files/file.ts";
import {
  asSent,
  changesPicture,
  checkCounts,
  checkMedia,
  declaredBytes,
  HEIC_TYPE,
  type MediaFigures,
  NOT_UNCHANGED,
} from "../domain/files/media-limits.ts";
import type { Caller } from "../domain/permissions.ts";
import { SECOND } from "../domain/time.ts";
import { OutboundFailure } from "../ports/outbound.ts";
import { allFilesOf, type FileRow } from "../store/queries/files.ts";
import type { AppContext } from "../context.ts";
import type { FilmForm } from "../domain/files/film-form.ts";
import { figuresOf } from "../files/files.ts";
import { filmOf, type FilmUse } from "../files/films.ts";
import { adviceOnMedia, skillsOf, refusal } from "../files/media-skills.ts";
import {
  type FileUse,
  findFileAt,
  type MediaPlace,
  type ResolvedMedia,
  resolveMediaUrl,
} from "../files/media-places.ts";
import type { CheckedForm } from "./post-form.ts";
import { mimeTypeOf, warnOfSize, warnOfType } from "./said-media.ts";

interface MediaToCheck extends CheckedForm {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** The addresses that the post has already. */
  readonly kept: ReadonlySet<string>;
  /** The post is on its platform. */
  readonly isLive: boolean;
}

/** A place with the address that is stored. */
interface StoredPlace extends MediaPlace {
  /** The owner's file that it leads to. */
  readonly row: FileRow | null;
  readonly file: FileUse | null;
}

interface CheckedMedia {
  readonly places: readonly MediaPlace[];
  /** What is known of the owner's files among them, by address. */
  readonly figures: ReadonlyMap<string, MediaFigures>;
  /** As a post's row holds them. */
  readonly fileIds: string | null;
  readonly warnings: readonly string[];
  /** The owner's files; they must be there still when the post is written (`requireFiles`). */
  readonly files: readonly FileUse[];
}

/** What scheduling sees of an address. */
interface Look {
  readonly warnings: readonly string[];
  /** An item of the post whose kind is known. */
  readonly item: MediaFigures | null;
  /** It is a picture, and neither the post nor the file says what it shows. */
  readonly isUndescribed: boolean;
  /** What is made of it. */
  readonly film: FilmUse | null;
}

const NOTHING: Look = { warnings: [], item: null, isUndescribed: false, film: null };

/** How long scheduling waits for an address to answer; not answering is only a warning. */
const LOOK_MS = 3 * SECOND;

/**
 * Resolves every address of a post (`file_…` ids become `r2://` addresses) and checks what is at hand: own
 * files against the platform's limits, remote ones for whether they answer. Of a live post nothing is looked at: the
 * platform gets what is new to it at once. Throws `invalid` and `not_found` naming the field.
 */
export async function checkPostMedia(ctx: AppContext, check: MediaToCheck): Promise<CheckedMedia> {
  const places: StoredPlace[] = [];
  for (const place of check.places) places.push({ ...place, ...(await resolve(ctx, check, place)) });
  if (check.isLive) return told(places, []);
  assertCount(check, places);
  const looks = await Promise.all(places.map((place) => look(ctx, check, place)));
  const items = looks.flatMap(({ item }) => item ?? []);
  const excess = checkCounts(items, check.capabilities.media.accepts);
  if (excess !== null) throw refusal(check.platform, "metadata.moreMedia", [excess]);
  const withFilms = places.map((place, at) => {
    const film = looks[at]?.film ?? null;
    return film === null || place.file === null ? place : { ...place, file: { ...place.file, film } };
  });
  return told(withFilms, [
    ...looks.flatMap(({ warnings }) => warnings),
    ...warnOfMissingAltText(places, looks),
    ...warnOfStrayAltText(check),
  ]);
}

/** A live post has its media there: of what it had already the source may be gone. */
async function resolve(
  ctx: AppContext,
  { caller, kept, isLive }: MediaToCheck,
  { field, url }: MediaPlace,
): Promise<ResolvedMedia> {
  if (url === "") return { url, row: null, file: null };
  const isKept = kept.has(url);
  if (!isLive || !isKept) return resolveMediaUrl(ctx, caller, { field, text: url, isKept });
  return { url, row: await findFileAt(ctx.store, allFilesOf(caller.ownerId), url), file: null };
}

function told(places: readonly StoredPlace[], warnings: readonly string[]): CheckedMedia {
  const ids = [...new Set(places.flatMap(({ row }) => row?.id ?? []))].sort();
  return {
    places,
    figures: new Map(places.flatMap(({ url, row }) => (row === null ? [] : [[url, figuresOf(row)]]))),
    fileIds: ids.length === 0 ? null : JSON.stringify(ids),
    warnings,
    files: places.flatMap(({ file }) => file ?? []),
  };
}

/** Texts that describe nothing. A thumbnail may be what is described. */
function warnOfStrayAltText({ content: { metadata }, places }: MediaToCheck): string[] {
  const isText = (text: unknown): boolean => typeof text === "string" && text.trim() !== "";
  const [first] = places.filter(({ field }) => field === "mediaUrl");
  const isStray = first?.url === "" && isText(first.alt?.text) && metadata?.["thumbnailUrl"] === undefined;
  const thread: unknown = metadata?.["thread"];
  const parts = Array.isArray(thread) ? thread.filter(isFields) : [];
  const inThread = parts.some(({ mediaUrl, altText }) => isText(altText) && !isText(mediaUrl));
  const fields = [...(isStray ? ["metadata.altText"] : []), ...(inThread ? ["metadata.thread"] : [])];
  return fields.map(
    (field) => `${field}: an alt text describes a picture or video, and there is none. Add it as mediaUrl.`,
  );
}

/** Once a post, however many pictures it has: they are counted in its order. */
function warnOfMissingAltText(places: readonly MediaPlace[], looks: readonly Look[]): string[] {
  const silent = places.filter((_place, at) => looks[at]?.isUndescribed);
  const [first] = silent.flatMap(({ alt }) => alt ?? []);
  if (first === undefined) return [];
  const shown = places.filter(({ isShown, url }) => isShown && url !== "");
  const numbers = silent.map((place) => shown.indexOf(place) + 1);
  const those =
    shown.length === 1
      ? "the picture has"
      : numbers.length === 1
        ? `picture ${numbers.join("")} of ${shown.length} has`
        : `pictures ${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)} have`;
  return [
    `${first.field}: ${those} no alt text. Say in a sentence what can be seen, for people who cannot see it.`,
  ];
}

/** An empty text says that there is nothing to tell. */
function isUndescribed({ isShown, alt }: MediaPlace, type: string): boolean {
  return type === "image" && isShown && alt !== null && (alt.text ?? null) === null;
}

function assertCount({ platform, capabilities }: MediaToCheck, places: readonly MediaPlace[]): void {
  const items = places.filter((place) => place.isItem && place.url !== "").length;
  const { maxItems } = capabilities.media;
  if (items > maxItems) {
    throw new AppError(
      "invalid",
      `metadata.moreMedia: makes ${items} media items, but ${platform.title} takes at most ${maxItems} in one post.`,
    );
  }
}

async function look(ctx: AppContext, check: MediaToCheck, place: StoredPlace): Promise<Look> {
  if (place.url === "") return NOTHING;
  const { row: file } = place;
  if (file === null) return lookAtRemote(ctx, check, place);
  // Own files are at hand: what can never be sent is refused now, what will be changed is told.
  const { platform, capabilities } = check;
  const figures = figuresOf(file);
  const { accepts } = capabilities.media;
  const skills = await skillsOf(ctx, capabilities);
  const isUnchanged = figures.type === "image" && !changesPicture(figures, skills);
  if (!place.isShown) {
    if (isUnchanged) await requirePlain(ctx, check, { place, file });
    return NOTHING;
  }
  const { problems, changes, film: form } = checkMedia(figures, accepts, skills);
  if (problems.length > 0)
    throw refusal(platform, place.field, problems, await adviceOnMedia(ctx, figures, capabilities));
  if (isUnchanged && form === null) await requirePlain(ctx, check, { place, file });
  const isChanged = changes.length > 0;
  const changed = `${place.field}: ${changeInWords(figures.type, changes)} for ${platform.title}.`;
  const sent = asSent(figures, accepts);
  const problem = await explainUnfetchable(ctx, check, sent);
  if (problem !== null) throw new AppError("invalid", `${place.field}: ${problem}`);
  return {
    warnings: isChanged ? [changed] : [],
    item: place.isItem ? sent : null,
    isUndescribed: file.alt_text === null && isUndescribed(place, figures.type),
    film: form === null ? null : orderOf(ctx, file, form),
  };
}

/**
 * Where pictures are not changed, only the bytes tell whether one may be sent as it is: how it was turned, and where
 * it was taken, is in no record of it.
 */
async function requirePlain(
  { probe, files }: AppContext,
  { platform, capabilities, signal }: MediaToCheck,
  { place, file }: { readonly place: MediaPlace; readonly file: FileRow },
): Promise<void> {
  const { size_bytes: sizeBytes, mime_type: mimeType, storage_key: key } = file;
  const usual = [mimeType === HEIC_TYPE ? "image/jpeg" : mimeType];
  const { mimeTypes = usual, maxBytes } =
    acceptedFor({ type: "image", mimeType }, capabilities.media.accepts) ?? {};
  const limits = { mimeTypes, maxBytes: maxBytes ?? Infinity };
  const source = { sizeBytes, read: (range: { start: number; end: number }) => files.read(key, range) };
  try {
    if (!(await probe.fitImage(source, { mimeType, limits }, signal)).isChanged) return;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw error.about(place.field);
  }
  throw new AppError("invalid", `${place.field}: ${platform.title} ${NOT_UNCHANGED}`);
}

/** The picture or film, and what is done to it. */
export function changeInWords(type: string, changes: readonly string[]): string {
  return `the ${type === "image" ? "picture" : "video"} will be ${changes.join(", ")}`;
}

function orderOf({ clock }: AppContext, file: FileRow, form: FilmForm): FilmUse {
  const facts = { ...figuresOf(file), sha256: file.sha256 ?? "" };
  const order = { ownerId: file.owner_id, fileKey: file.storage_key, postId: null, facts, form };
  return { film: filmOf(order), at: clock.now() };
}

/**
 * Why a platform that fetches media itself could not fetch this, which is ours or copied by us: it would fail
 * at the post's time. Null where it can, or does not.
 */
async function explainUnfetchable(
  ctx: AppContext,
  { platform, capabilities }: MediaToCheck,
  media: { readonly type: string },
): Promise<string | null> {
  const { fetchesMedia, fetchesFrom = "public" } = capabilities;
  if (fetchesFrom === "near" || !fetchesMedia.some((kind) => kind === media.type)) return null;
  const ours = fetchesFrom === "ours";
  if (await ctx.publicMedia.canBeFetched({ ours })) return null;
  return (
    `${platform.title} fetches it by itself and cannot reach this Posthorn. ` +
    `Set POSTHORN_PUBLIC_URL to an https:// address that is open to the internet${ours ? "" : ", or keep the files in a bucket (POSTHORN_S3_…)"}.`
  );
}

async function lookAtRemote(ctx: AppContext, check: MediaToCheck, place: MediaPlace): Promise<Look> {
  const { url } = place;
  const request = { method: "HEAD", url, timeoutMs: LOOK_MS, maxRedirects: 3, signal: check.signal } as const;
  try {
    const answer = await ctx.outbound.request(request);
    answer.body.resume();
    const isGone = answer.status === 404 || answer.status === 410 || answer.status >= 500;
    if (isGone)
      return warn(
        `${place.field}: the address answers ${answer.status} now. It must answer with the media when the post is sent.`,
      );
    const type = answer.headers["content-type"] ?? "";
    const isCopied = place.isShown && check.capabilities.fetchesFrom === "ours";
    const media = { type: fileTypeOf(mimeTypeOf(type)) };
    const problem = isCopied ? await explainUnfetchable(ctx, check, media) : null;
    if (problem !== null) throw new AppError("invalid", problem);
    if (type.startsWith("text/html"))
      return warn(
        `${place.field}: the address shows a web page, not a media file. Give the file's own address.`,
      );
    if (!place.isShown || answer.status !== 200) return NOTHING;
    const said = { mimeType: mimeTypeOf(type), type: media.type, sizeBytes: declaredBytes(answer.headers) };
    const warnings = [
      ...warnOfSize(check, place.field, said),
      ...warnOfType(check, { field: place.field, skills: await skillsOf(ctx, check.capabilities) }, said),
    ];
    return { ...NOTHING, warnings, isUndescribed: isUndescribed(place, media.type) };
  } catch (error) {
    if (error instanceof AppError) throw error.about(place.field);
    if (error instanceof OutboundFailure)
      return warn(`${place.field}: the address does not answer now. It must answer when the post is sent.`);
    throw error;
  }
}

function warn(warning: string): Look {
  return { ...NOTHING, warnings: [warning] };
}
