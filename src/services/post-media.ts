import type { MediaLimits } from "../domain/account.ts";
import { AppError } from "../domain/errors.ts";
import type { Metadata } from "../domain/post.ts";
import { SECOND } from "../domain/time.ts";
import { OutboundFailure } from "../ports/outbound.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import type { Tables } from "../store/schema.ts";
import type { AppContext } from "./context.ts";
import { resolveMediaUrl } from "./files.ts";

export interface MediaToCheck {
  readonly platform: AnyPlatform;
  readonly ownerId: string;
  readonly mediaUrl: string;
  readonly metadata: Metadata | null;
  readonly signal: AbortSignal;
}

export interface CheckedMedia {
  readonly mediaUrl: string;
  readonly metadata: Metadata | null;
  readonly warnings: readonly string[];
}

/** An address somewhere in a post, and whether it is one of the media items that the platform shows. */
interface Place {
  readonly field: string;
  readonly url: string;
  readonly isItem: boolean;
}

/** How long scheduling waits for an address to answer; not answering is only a warning. */
const LOOK_MS = 3 * SECOND;

/**
 * Resolves every address of a post (`file_…` ids become `r2://` addresses) and checks what is at hand: own files against the
 * platform's limits, remote ones for whether they answer. Throws `invalid` and `not_found` naming the field.
 */
export async function checkPostMedia(ctx: AppContext, check: MediaToCheck): Promise<CheckedMedia> {
  const places = placesOf(check);
  const resolved = new Map<string, string>();
  for (const place of places) {
    if (place.url !== "") resolved.set(place.field, await resolveMediaUrl(ctx, check.ownerId, place.field, place.url));
  }
  assertCount(check, places);
  const notes = await Promise.all(places.map((place) => look(ctx, check, { ...place, url: resolved.get(place.field) ?? "" })));
  const [first] = places;
  return {
    mediaUrl: first === undefined ? "" : (resolved.get(first.field) ?? ""),
    metadata: check.metadata === null ? null : withResolved(check.metadata, resolved),
    warnings: notes.flat(),
  };
}

function placesOf({ mediaUrl, metadata }: MediaToCheck): Place[] {
  const places: Place[] = [{ field: "mediaUrl", url: mediaUrl, isItem: true }];
  visitAddresses(metadata ?? {}, (field, url) => {
    places.push({ field, url, isItem: field.startsWith("metadata.moreMedia") });
    return url;
  });
  return places;
}

function withResolved(metadata: Metadata, resolved: ReadonlyMap<string, string>): Metadata {
  return visitAddresses(metadata, (field, url) => resolved.get(field) ?? url);
}

/** Rebuilds metadata with each of its media addresses replaced; the fields are those of CONTRACT §4. */
function visitAddresses(metadata: Metadata, replace: (field: string, url: string) => string): Metadata {
  const result: Metadata = { ...metadata };
  const inList = (name: string, key: string): void => {
    const list = metadata[name];
    if (!Array.isArray(list)) return;
    result[name] = list.map((item, at) => {
      if (typeof item !== "object" || item === null || Array.isArray(item)) return item;
      const url = item[key];
      return typeof url === "string" ? { ...item, [key]: replace(`metadata.${name}[${at}].${key}`, url) } : item;
    });
  };
  inList("moreMedia", "url");
  inList("thread", "mediaUrl");
  const thumbnail = metadata["thumbnailUrl"];
  if (typeof thumbnail === "string") result["thumbnailUrl"] = replace("metadata.thumbnailUrl", thumbnail);
  return result;
}

function assertCount({ platform }: MediaToCheck, places: readonly Place[]): void {
  const items = places.filter((place) => place.isItem && place.url !== "").length;
  const { maxItems } = platform.capabilities.media;
  if (items > maxItems) {
    throw new AppError(
      "invalid",
      `metadata.moreMedia: makes ${items} media items; ${platform.title} takes at most ${maxItems} in one post.`,
    );
  }
}

async function look(ctx: AppContext, check: MediaToCheck, place: Place): Promise<string[]> {
  if (place.url === "") return [];
  if (!place.url.startsWith("r2://")) return lookAtRemote(ctx, place, check.signal);
  if (!place.isItem) return [];
  const file = await ctx.db.query
    .selectFrom("files")
    .selectAll()
    .where("owner_id", "=", check.ownerId)
    .where("storage_key", "=", place.url.slice("r2://".length))
    .executeTakeFirst();
  return file === undefined ? [] : checkFile(check.platform, place.field, file);
}

/** Own files are at hand: what can never be sent is refused now, what will be changed is told. */
function checkFile(platform: AnyPlatform, field: string, file: Tables["files"]): string[] {
  const { accepts } = platform.capabilities.media;
  const limits = accepts.find((limit) => limit.kind === file.type);
  if (limits === undefined) {
    const kinds = accepts.map((limit) => limit.kind).join(", ");
    throw new AppError("invalid", `${field}: is of type ${file.type}; ${platform.title} takes ${kinds === "" ? "no media" : kinds}.`);
  }
  const problem = describeExcess(limits, file);
  if (problem === null) return [];
  const sentence = `${field}: ${problem} on ${platform.title}.`;
  if (file.type === "image") return [`${sentence} The picture will be fitted to it.`];
  throw new AppError("invalid", `${sentence} Give another file.`);
}

function describeExcess(limits: MediaLimits, file: Tables["files"]): string | null {
  if (!limits.mimeTypes.includes(file.mime_type)) return `is ${file.mime_type}, and must be ${limits.mimeTypes.join(" or ")}`;
  if (limits.maxBytes !== null && file.size_bytes > limits.maxBytes) return `has ${file.size_bytes} bytes, and may have ${limits.maxBytes}`;
  if (limits.maxSeconds !== null && file.duration_seconds !== null && file.duration_seconds > limits.maxSeconds) {
    return `lasts ${Math.round(file.duration_seconds)} seconds, and may last ${limits.maxSeconds}`;
  }
  const ratio = file.width !== null && file.height !== null && file.height > 0 ? file.width / file.height : null;
  if (ratio !== null && limits.maxAspectRatio !== null && ratio > limits.maxAspectRatio) return "is wider than allowed";
  if (ratio !== null && limits.minAspectRatio !== null && ratio < limits.minAspectRatio) return "is taller than allowed";
  return null;
}

async function lookAtRemote(ctx: AppContext, place: Place, signal: AbortSignal): Promise<string[]> {
  try {
    const answer = await ctx.outbound.request({
      method: "HEAD",
      url: place.url,
      timeoutMs: LOOK_MS,
      maxRedirects: 3,
      isUserGiven: true,
      signal,
    });
    answer.body.resume();
    const isGone = answer.status === 404 || answer.status === 410 || answer.status >= 500;
    if (isGone) return [`${place.field}: the address answers ${answer.status} now. It must answer with the media when the post is sent.`];
    const type = answer.headers["content-type"] ?? "";
    return type.startsWith("text/html")
      ? [`${place.field}: the address shows a web page, not a media file. Give the file's own address.`]
      : [];
  } catch (error) {
    if (error instanceof AppError) throw new AppError(error.kind, `${place.field}: ${error.message}`, { cause: error });
    if (error instanceof OutboundFailure) return [`${place.field}: the address does not answer now. It must answer when the post is sent.`];
    throw error;
  }
}
