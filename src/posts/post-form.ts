import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { coerceArguments } from "../domain/arguments/coerce.ts";
import type { PlatformCapabilities } from "../domain/accounts/capabilities.ts";
import { AppError } from "../domain/errors.ts";
import { explainInvalid } from "../domain/explain-invalid.ts";
import { asSent, type MediaFigures } from "../domain/files/media-limits.ts";
import { captionLength, isBlank } from "../domain/posts/caption.ts";
import { hasMention } from "../domain/posts/mentions.ts";
import type { Metadata } from "../domain/posts/post.ts";
import { type Said, say, sentencesIn } from "../domain/sentences.ts";
import { nearestName } from "../domain/settings/nearest-name.ts";
import { MINUTE } from "../domain/time.ts";
import type { AnyPlatform, CheckResult, PlatformPost } from "../ports/platform.ts";
import type { PlatformAccount } from "../ports/platform-io.ts";
import type { PostRow } from "../store/schema/tables.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import { type PostContentRow, readMetadata } from "../store/queries/posts.ts";
import type { AppContext } from "../context.ts";
import { figuresByUrl, type MediaPlace, placesOf } from "../files/media-places.ts";
import { asWritten, capabilitiesFor, toPlatformAccount } from "../channels/platform-io/connect-io.ts";
import { gatesOf } from "../channels/platform-io/gated-options.ts";
import { findPlatform } from "../channels/platform-io/set-up.ts";

/** A post's content, whole, before it is checked. */
export interface PostContent {
  readonly scheduledAt: number;
  readonly mediaUrl: string;
  readonly caption: string | null;
  readonly metadata: Metadata | null;
  readonly leadMinutes: number | null;
}

/** What a post holds. */
export function contentOf(row: PostRow): PostContent {
  return {
    scheduledAt: row.scheduled_at,
    mediaUrl: row.media_url,
    caption: row.caption,
    metadata: readMetadata(row),
    leadMinutes: row.lead_minutes,
  };
}

/** The columns of a content. */
export function toContentRow(
  { content, capabilities, places }: Pick<CheckedForm, "content" | "capabilities" | "places">,
  fileIds: string | null,
): PostContentRow {
  const lead = (content.leadMinutes ?? capabilities.leadMinutes.default) * MINUTE;
  return {
    media_url: content.mediaUrl,
    caption: content.caption,
    metadata: content.metadata === null ? null : JSON.stringify(content.metadata),
    lead_minutes: content.leadMinutes,
    scheduled_at: content.scheduledAt,
    due_at: content.scheduledAt - lead,
    content_hash: hashContent(content),
    is_light: places.every(({ url }) => url === "") ? 1 : 0,
    file_ids: fileIds,
  };
}

/** One text in two spellings of Unicode is the same post. */
function hashContent({ mediaUrl, caption, scheduledAt }: PostContent): string {
  return hash("sha256", JSON.stringify([mediaUrl, caption?.normalize("NFC") ?? null, scheduledAt]));
}

/** What another time changes in a waiting post's row. */
export function movedTo(
  row: PostRow,
  scheduledAt: number,
): Pick<PostRow, "scheduled_at" | "due_at" | "next_at" | "content_hash"> {
  const due = row.due_at + scheduledAt - row.scheduled_at;
  const hash = hashContent({ ...contentOf(row), scheduledAt });
  return { scheduled_at: scheduledAt, due_at: due, next_at: due, content_hash: hash };
}

/** A content whose form is right for its account. */
export interface CheckedForm {
  readonly platform: AnyPlatform;
  /** Those of the account, with a post of this kind. */
  readonly capabilities: PlatformCapabilities;
  readonly content: PostContent;
  /** Where it has addresses of media, or could. */
  readonly places: readonly MediaPlace[];
  readonly warnings: readonly Said[];
}

/**
 * Whether a whole content is right for its account, as far as the content alone tells. `live`: what the post was
 * published with. Throws `invalid` naming the field.
 */
export async function checkForm(
  ctx: AppContext,
  account: AccountRow,
  given: PostContent,
  live: Metadata | null = null,
): Promise<CheckedForm> {
  const platform = findPlatform(ctx, account.provider);
  const caption = given.caption === "" ? null : given.caption;
  const metadata =
    given.metadata === null || Object.keys(given.metadata).length === 0 ? null : given.metadata;
  const content = { ...given, caption, metadata };
  const parsed = platform.metadata.safeParse(metadata ?? {}, { reportInput: true });
  if (!parsed.success) {
    const within = { prefix: "metadata", owner: platform.title };
    const choosable = Object.keys(platform.choices ?? {});
    throw explainInvalid(parsed.error, platform.metadata, { within, meant: nearestName, choosable });
  }
  const read = parsed.data as PlatformPost["metadata"];
  const draft = asUnsent(platform, { ...content, caption: isBlank(caption ?? "") ? null : caption }, read);
  const capabilities = capabilitiesFor(ctx, account, draft);
  const post = { ...draft, leadMinutes: content.leadMinutes ?? capabilities.leadMinutes.default };
  const form = { platform, capabilities, content, places: placesOf(platform, content) };
  const verdict = await askPlatform(ctx, account, { ...form, post, live });
  const errors = oncePerField([
    ...checkThread(parsed.data),
    ...checkCaption(form, post, toPlatformAccount(account)),
    ...checkLead(form),
    ...checkEmpty(form),
    ...verdict.errors,
  ]);
  if (errors.length > 0) throw new AppError("invalid", errors);
  return { ...form, warnings: verdict.warnings };
}

/** As its platform's file sees it before it is on its way; `metadata`: as the platform reads it. */
export function asUnsent(
  platform: AnyPlatform,
  { mediaUrl, caption, scheduledAt, leadMinutes }: PostContent,
  metadata: PlatformPost["metadata"],
): PlatformPost {
  const lead = leadMinutes ?? platform.capabilities.leadMinutes.default;
  const post = { id: "", caption: caption === "" ? null : caption, mediaUrl, metadata, scheduledAt };
  return asWritten(platform, { ...post, leadMinutes: lead, platformPostId: null, platformUrl: null });
}

/** Our own check and the platform's may find the same, such as a text that is too long. */
function oncePerField(errors: readonly Said[]): Said[] {
  const fieldOf = (error: Said): string | null | undefined => sentencesIn(error)[0]?.field;
  return errors.filter((error, at) => errors.findIndex((other) => fieldOf(other) === fieldOf(error)) === at);
}

async function askPlatform(
  ctx: AppContext,
  account: AccountRow,
  form: Form & { readonly post: PlatformPost; readonly live: Metadata | null },
): Promise<CheckResult> {
  const { platform, capabilities, places, post, live } = form;
  // What is out already is no plan.
  const planned = Object.entries(post.metadata).filter(
    ([field, value]) => !isDeepStrictEqual(value, live?.[field]),
  );
  const gated = gatesOf(ctx, account, { metadata: Object.fromEntries(planned) });
  if (platform.check === undefined) return gated;
  const urls = places.map(({ url }) => url);
  const own = platform.check(post, {
    account: toPlatformAccount(account),
    media: figuresAsSent(await figuresByUrl(ctx, account.owner_id, urls), capabilities),
    now: ctx.clock.now(),
  });
  return { errors: [...gated.errors, ...own.errors], warnings: [...gated.warnings, ...own.warnings] };
}

/** What is known of media, as the platform gets them. */
export function figuresAsSent(
  figures: ReadonlyMap<string, MediaFigures>,
  { media }: Pick<PlatformCapabilities, "media">,
): ReadonlyMap<string, MediaFigures> {
  return new Map([...figures].map(([url, one]) => [url, asSent(one, media.accepts)]));
}

type Form = Omit<CheckedForm, "warnings">;

function checkCaption(
  { platform, capabilities, places }: Form,
  post: PlatformPost,
  account: PlatformAccount,
): string[] {
  const { caption } = post;
  const { maxLength, withMedia, unit } = capabilities.caption;
  const hasMedia = places.some(({ isItem, url }) => isItem && url !== "");
  const limit = hasMedia ? (withMedia ?? maxLength) : maxLength;
  if (limit === null || caption === null) return [];
  const length = countedOf(platform, post, account)
    .map((piece) => captionLength(piece, capabilities.caption, platform.measure))
    .reduce((sum, one) => sum + one, 0);
  if (length <= limit) return [];
  const counted = unit === "weighted" ? "characters, as the platform counts them" : unit;
  const beside = hasMedia && withMedia !== undefined ? " beside media" : "";
  return [
    `caption: has ${length} ${counted}, but ${platform.title} takes at most ${limit}${beside}. Shorten it by ${length - limit}.`,
  ];
}

/** What counts of the caption: as readers see it, where that is not as it is written. */
function countedOf(platform: AnyPlatform, post: PlatformPost, account: PlatformAccount): readonly string[] {
  const caption = post.caption ?? "";
  if (post.metadata["format"] !== "markdown" && !hasMention(caption)) return [caption];
  const { write = (text: string) => text, counted } =
    platform.preview?.(post, { account, media: new Map() }) ?? {};
  return counted?.(write(caption)) ?? [write(caption)];
}

function checkLead({ platform, capabilities, content }: Form): string[] {
  const { leadMinutes } = content;
  const { min, max } = capabilities.leadMinutes;
  if (leadMinutes === null || (leadMinutes >= min && leadMinutes <= max)) return [];
  return [`leadMinutes: must be from ${min} to ${max} on ${platform.title}.`];
}

function checkEmpty({ platform, capabilities, content }: Form): Said[] {
  if (content.mediaUrl !== "") return [];
  if (capabilities.media.required) {
    return [
      say(`is required, as ${platform.title} takes no post without media.`, {
        field: "mediaUrl",
        next: [{ do: "add_media" }],
      }),
    ];
  }
  const hasLink = content.metadata?.["link"] !== undefined;
  return isBlank(content.caption ?? "") && !hasLink
    ? ["caption: is empty, and there are no media. Give a text, media, or both."]
    : [];
}

const Threaded = z.object({
  thread: z.array(z.object({ caption: z.string(), mediaUrl: z.string().optional() })),
});

function checkThread(metadata: unknown): string[] {
  const { thread } = Threaded.safeParse(metadata).data ?? { thread: [] };
  return thread.flatMap(({ caption, mediaUrl }, at) =>
    isBlank(caption) && mediaUrl === undefined
      ? [`metadata.thread[${at}].caption: is empty. Give the part a text, or leave it out.`]
      : [],
  );
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
    return [key, isRemoved ? undefined : coerceArguments(field, value)];
  });
  const all = Object.entries<unknown>({ ...current, ...Object.fromEntries(given) });
  const merged = all.filter(([, value]) => value !== undefined);
  return merged.length === 0 ? null : (Object.fromEntries(merged) as Metadata);
}
