import { isDeepStrictEqual } from "node:util";
import { type Said, say, sentencesIn } from "../domain/sentences.ts";
import * as z from "zod";
import type { PlatformCapabilities } from "../domain/accounts/capabilities.ts";
import { AppError } from "../domain/errors.ts";
import { captionLength, isBlank } from "../domain/posts/caption.ts";
import { hasMention } from "../domain/posts/mentions.ts";
import type { Metadata } from "../domain/posts/post.ts";
import type { AnyPlatform, Checked, PlatformPost, Choice } from "../ports/platform.ts";
import type { PostRow } from "../store/schema/tables.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import { readMetadata } from "../store/queries/posts.ts";
import type { AppContext, CallContext } from "../context.ts";
import { placesOf } from "../files/media-places.ts";
import { figuresAsSent, figuresByUrl } from "./media-figures.ts";
import { asWritten, capabilitiesFor, toPlatformAccount } from "../platform-io/connect-io.ts";
import { explainInvalid } from "../domain/explain-invalid.ts";
import { nearestName } from "../domain/settings/nearest-name.ts";
import { asMeant } from "../domain/arguments/usual-form.ts";
import { checkGated } from "../platform-io/gated-options.ts";
import { findPlatform, readSetting } from "../platform-io/set-up.ts";
import { reconnectSentence } from "../domain/accounts/account.ts";
import { quote, SECOND, deadline } from "../domain/time.ts";
import { type PlatformAccount, PlatformFault } from "../ports/platform-io.ts";
import { fitChoices } from "../platform-io/fit-answers.ts";
import { createPlatformIo } from "../connecting/account-io.ts";
import { findAccount } from "../accounts/accounts.ts";
import type { Choices, ChoicesArgs } from "../domain/accounts/platform-listing.ts";

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

/** A content whose form is right for its account. */
export interface CheckedForm {
  readonly platform: AnyPlatform;
  /** Those of the account, with a post of this kind. */
  readonly capabilities: PlatformCapabilities;
  readonly content: PostContent;
  readonly warnings: readonly Said[];
}

/**
 * Whether a whole content is right for its account, as far as the content alone tells. Apart from
 * `checkContent`, because it comes before what the state of post and channel forbids. `live`: what the post was
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
  const draft = asWritten<PlatformPost>(platform, {
    id: "",
    caption: caption === null || isBlank(caption) ? null : caption,
    mediaUrl: content.mediaUrl,
    metadata: parsed.data as PlatformPost["metadata"],
    scheduledAt: content.scheduledAt,
    leadMinutes: content.leadMinutes ?? platform.capabilities.leadMinutes.default,
    platformPostId: null,
    platformUrl: null,
  });
  const capabilities = capabilitiesFor(ctx, account, draft);
  const post = { ...draft, leadMinutes: content.leadMinutes ?? capabilities.leadMinutes.default };
  const form = { platform, capabilities, content };
  const verdict = await askPlatform(ctx, account, { platform, capabilities, post, live });
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

/** Our own check and the platform's may find the same, such as a text that is too long. */
function oncePerField(errors: readonly Said[]): Said[] {
  const fieldOf = (error: Said): string | null | undefined => sentencesIn(error)[0]?.field;
  return errors.filter((error, at) => errors.findIndex((other) => fieldOf(other) === fieldOf(error)) === at);
}

async function askPlatform(
  ctx: AppContext,
  account: AccountRow,
  {
    platform,
    capabilities,
    post,
    live,
  }: Pick<Form, "platform" | "capabilities"> & {
    readonly post: PlatformPost;
    readonly live: Metadata | null;
  },
): Promise<Checked> {
  // What is out already is no plan.
  const planned = Object.entries(post.metadata).filter(
    ([field, value]) => !isDeepStrictEqual(value, live?.[field]),
  );
  const gated = gatesOf(ctx, account, { platform, metadata: Object.fromEntries(planned) });
  if (platform.check === undefined) return gated;
  const urls = placesOf(platform, { mediaUrl: post.mediaUrl, metadata: post.metadata }).map(({ url }) => url);
  const own = platform.check(post, {
    account: toPlatformAccount(account),
    media: figuresAsSent(await figuresByUrl(ctx, account.owner_id, urls), capabilities),
    now: ctx.clock.now(),
  });
  return { errors: [...gated.errors, ...own.errors], warnings: [...gated.warnings, ...own.warnings] };
}

/** What the channel does not have of the options that not everybody has. */
function gatesOf(
  ctx: AppContext,
  account: AccountRow,
  { platform, metadata }: Pick<PlatformPost, "metadata"> & { readonly platform: AnyPlatform },
): Checked {
  const setting = (name: string): string | null => readSetting(ctx, platform, name);
  return checkGated(platform, { metadata }, { account: toPlatformAccount(account), setting });
}

type Form = Omit<CheckedForm, "warnings">;

function checkCaption(
  { platform, capabilities, content }: Form,
  post: PlatformPost,
  account: PlatformAccount,
): string[] {
  const { caption } = post;
  const { maxLength, withMedia, unit } = capabilities.caption;
  const hasMedia = placesOf(platform, content).some(({ isItem, url }) => isItem && url !== "");
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
    return [key, isRemoved ? undefined : asMeant(field, value)];
  });
  const all = Object.entries<unknown>({ ...current, ...Object.fromEntries(given) });
  const merged = all.filter(([, value]) => value !== undefined);
  return merged.length === 0 ? null : (Object.fromEntries(merged) as Metadata);
}

const ASK_TIMEOUT_MS = 20 * SECOND;
const MAX_CHOICES = 100;

/**
 * The values that a metadata field may have on this channel. Throws `invalid` for a field that has none to
 * look up, `conflict` for a channel that must be reconnected, `unavailable` and `rate_limited` when the
 * platform cannot be asked.
 */
export async function listChoices(
  { ctx, caller, signal }: CallContext,
  { accountId, field, search = "" }: ChoicesArgs,
): Promise<Choices> {
  const account = await findAccount(ctx, caller, accountId);
  const platform = findPlatform(ctx, account.provider);
  const lookUp = findLookUp(platform, field);
  if (account.status === "reconnect_required" || account.status === "disconnected")
    throw new AppError("conflict", reconnectSentence(account, account.status_reason));
  const [closed] = gatesOf(ctx, account, { platform, metadata: { [field]: "" } }).errors;
  if (closed !== undefined) throw new AppError("conflict", closed);
  const timeout = deadline(ASK_TIMEOUT_MS);
  const choices = await ask(ctx, { platform, account, timeout }, async () => {
    const io = await createPlatformIo(ctx, account, AbortSignal.any([signal, timeout]));
    return lookUp(search.trim(), io);
  });
  return { choices: fitChoices(choices).slice(0, MAX_CHOICES) };
}

function findLookUp(
  { title, choices = {} }: AnyPlatform,
  field: string,
): NonNullable<AnyPlatform["choices"]>[string] {
  const lookUp = Object.hasOwn(choices, field) ? choices[field] : undefined;
  if (lookUp !== undefined) return lookUp;
  if (field === "mention")
    throw new AppError(
      "invalid",
      `field: ${title} cannot be asked for people. @[Name](id) shows the name there.`,
    );
  const known = Object.keys(choices);
  throw new AppError(
    "invalid",
    known.length === 0
      ? say(`${title} has no fields to look up.`, { field: "field", next: [{ do: "list", of: "platforms" }] })
      : say(`${quote(field)} cannot be looked up on ${title}.`, {
          field: "field",
          next: [{ do: "use_fields", of: null, known }],
        }),
  );
}

async function ask(
  ctx: AppContext,
  at: { readonly platform: AnyPlatform; readonly account: AccountRow; readonly timeout: AbortSignal },
  work: () => Promise<readonly Choice[]>,
): Promise<readonly Choice[]> {
  try {
    return await work();
  } catch (error) {
    const isFault = error instanceof PlatformFault;
    if (!isFault && !at.timeout.aborted) throw error;
    ctx.log.warn({ accountId: at.account.id, err: error }, "choices could not be read");
    if (!isFault)
      throw new AppError("unavailable", `${at.platform.title} did not answer in time. Try again later.`);
    const said = `${at.platform.title} did not tell the choices: ${error.message}`;
    if (error.kind === "auth" || error.kind === "rejected")
      throw new AppError("conflict", said, { cause: error });
    const kind = error.kind === "rate" ? "rate_limited" : "unavailable";
    throw new AppError(kind, `${said} Try again later.`, { cause: error });
  }
}
