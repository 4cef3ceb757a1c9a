import { assertTakesPosts } from "../domain/accounts/account.ts";
import { meantMoment } from "../domain/arguments/meant-times.ts";
import { AppError } from "../domain/errors.ts";
import { newId } from "../domain/ids.ts";
import type { MediaFigures } from "../domain/files/media-limits.ts";
import { eachOnce, type PlanFields } from "../domain/posts/plan.ts";
import type { PostBody, PostInput } from "../domain/posts/post-body.ts";
import type { Preview } from "../domain/posts/preview.ts";
import { withUtm } from "../domain/posts/utm.ts";
import { type Said, say } from "../domain/sentences.ts";
import { DAY, MINUTE, SECOND, formatTime, toZoned } from "../domain/time.ts";
import { parseMoment, warningsOf, warnOfFar } from "../domain/parse-time.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import type { PostRow } from "../store/schema/tables.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import { findPlan, labelsOf, type NewPlan } from "../store/queries/plans.ts";
import type { DraftTexts } from "../store/queries/drafts.ts";
import { freshRow, type PostContentRow } from "../store/queries/posts.ts";
import { findAccount, readUtm } from "../channels/accounts/accounts.ts";
import { keptUntil } from "../channels/accounts/late-posts.ts";
import type { AppContext, CallContext } from "../context.ts";
import { checkAddresses, type FileUse, placesOf, replaceAddresses } from "../files/media-places.ts";
import { capabilitiesFor } from "../channels/platform-io/connect-io.ts";
import { findPlatform } from "../channels/platform-io/set-up.ts";
import { type LinkCard, withLinkCard } from "./link-cards.ts";
import { type CheckedForm, checkForm, contentOf, mergeMetadata, toContentRow } from "./post-form.ts";
import { checkPostMedia } from "./post-media.ts";
import { previewPost } from "./preview.ts";
import { findSlot, noSlot, timesOn } from "./slots.ts";
import { warnOfChannel, warnOfDone, warnOfDoubles, warnOfNow, warnOfSilence } from "./warnings.ts";

/*
 * From what a caller gives of a post to what may be stored of it. Refusals come in this order: what is wrong whatever
 * the channel is (`readInput`), the form of the whole content (`prepareForm`), what the state of post and channel
 * forbids, which the caller of the two checks between them, and the media (`prepare`).
 */

/** How far in the past a time may lie and still mean now: clocks differ, agents are slow. */
export const NOW_WINDOW_MS = 5 * MINUTE;

/** A call may take so long. */
const SLACK_MS = 10 * SECOND;

/** Reads `scheduledAt`; none is now, and a moment in the last five minutes is now too. */
export function readScheduledAt(
  call: Pick<CallContext, "ctx" | "tellsZone">,
  text: string | undefined,
): { ms: number; warnings: string[] } {
  const { clock, settings } = call.ctx;
  const now = clock.now();
  if (text === undefined) return { ms: now, warnings: [] };
  const { timezone } = settings;
  const parsed = parseMoment("scheduledAt", text, timezone, meantMoment({ now, timezone }));
  const { ms } = parsed;
  if (ms < now - NOW_WINDOW_MS) {
    throw new AppError(
      "invalid",
      say(`${toZoned(ms, timezone)} is in the past. The server's time is ${toZoned(now, timezone)}.`, {
        field: "scheduledAt",
        next: [{ do: "give_time", isFuture: true }],
      }),
    );
  }
  const far = warnOfFar("scheduledAt", ms, { now, timezone });
  const over =
    now - ms < SLACK_MS ? [] : [`Its time, ${formatTime(ms, timezone)}, has passed, so now was taken.`];
  return { ms: Math.max(ms, now), warnings: [...warningsOf(call, parsed), ...over, ...far] };
}

/**
 * What a caller gives, as far as that needs neither post nor platform. `thumbnailUrl` is a short form of
 * `metadata.thumbnailUrl`. `scheduledAt`: now where none is given. Throws `invalid`.
 */
export function readInput(
  call: CallContext,
  input: PostInput,
): { given: ParsedPostInput; warnings: string[] } {
  const { ms: scheduledAt, warnings } = readScheduledAt(call, input.scheduledAt);
  const { thumbnailUrl } = input;
  const own = input.metadata?.["thumbnailUrl"];
  if (thumbnailUrl !== undefined && own !== undefined && own !== thumbnailUrl)
    throw new AppError("invalid", "thumbnailUrl: differs from metadata.thumbnailUrl. Give one of the two.");
  const metadata = thumbnailUrl === undefined ? input.metadata : { ...input.metadata, thumbnailUrl };
  checkAddresses(call.ctx, { ...input, metadata });
  return { given: { ...input, scheduledAt, metadata }, warnings };
}

type ParsedPostInput = Omit<PostInput, "scheduledAt" | "thumbnailUrl"> & { readonly scheduledAt?: number };

/** What a post is to be. */
interface PostSpec {
  readonly given: ParsedPostInput;
  /** The post as it stands: what is not given stays. */
  readonly before?: PostRow;
  /** What it names already, which a limited key may leave in it. Default: what `before` does. */
  readonly kept?: ReadonlySet<string> | undefined;
  /** The first label of a new post. */
  readonly label?: string | undefined;
  /** False: pages of links are not read. Default: they are. */
  readonly readsLinks?: boolean;
  /** What the page of its link told when the post was looked at: it is not read again. */
  readonly card?: LinkCard | null;
  /** It is on its platform: nothing is added to it, and the platform has its media. */
  readonly isLive?: boolean;
}

/** What may be stored of a post. */
export interface PreparedContent extends CheckedForm {
  readonly account: AccountRow;
  /** What the page of its link told, where that is shown. */
  readonly card?: LinkCard | null;
  /** What is known of its own files, by address. */
  readonly figures: ReadonlyMap<string, MediaFigures>;
  readonly files: readonly FileUse[];
  readonly row: PostContentRow;
  readonly warnings: Said[];
}

/** A post whose form is right. */
interface PreparedForm extends CheckedForm, Pick<PreparedContent, "account" | "card"> {
  readonly wanted: PostSpec;
  readonly toldOfCard: readonly string[];
}

const EMPTY = { mediaUrl: "", caption: null, metadata: null, leadMinutes: null };

/** The whole content, whose form is right for the channel. Throws `invalid` naming the field. */
export async function prepareForm(
  ctx: AppContext,
  account: AccountRow,
  wanted: PostSpec,
): Promise<PreparedForm> {
  const { given, before, readsLinks = true, isLive = false } = wanted;
  const platform = findPlatform(ctx, account.provider);
  const base = before === undefined ? { ...EMPTY, scheduledAt: ctx.clock.now() } : contentOf(before);
  const { caption, metadata } = isLive ? given : await withUtmOf(ctx, account, wanted);
  const merged = metadata === undefined ? base.metadata : mergeMetadata(platform, base.metadata, metadata);
  const {
    metadata: whole,
    warnings: toldOfCard,
    ...card
  } = metadata === undefined || isLive || !readsLinks
    ? { metadata: merged, warnings: [] }
    : await withLinkCard(ctx, platform, merged, wanted.card);
  const content = {
    scheduledAt: given.scheduledAt ?? base.scheduledAt,
    mediaUrl: given.mediaUrl ?? base.mediaUrl,
    caption: caption === undefined ? base.caption : caption,
    metadata: whole,
    leadMinutes: given.leadMinutes === undefined ? base.leadMinutes : given.leadMinutes,
  };
  const form = await checkForm(ctx, account, content, isLive ? base.metadata : null);
  return { ...form, ...card, account, wanted, toldOfCard };
}

/** With what the account adds to links. */
async function withUtmOf(
  { store }: AppContext,
  account: AccountRow,
  { given, before, label }: PostSpec,
): Promise<ParsedPostInput> {
  const utm = readUtm(account);
  if (utm === null || (given.caption ?? given.metadata ?? null) === null) return given;
  const plan = before === undefined ? null : await findPlan(store, before.id);
  const [first = ""] = plan === null ? [] : labelsOf(plan);
  return withUtm(given, { utm, provider: account.provider, label: label ?? first });
}

/**
 * Looks at the media of a content, and turns it into what is stored: ids of files become their addresses, texts stay
 * as they came. Throws `invalid` naming the field, `not_found` for a file that is not the owner's.
 */
export async function prepare(
  { ctx, caller, signal }: CallContext,
  { wanted, toldOfCard, ...form }: PreparedForm,
): Promise<PreparedContent> {
  const { platform, content: given } = form;
  const { before, kept = addressesIn(platform, before), isLive = false } = wanted;
  const { mediaUrl, metadata } = given;
  const media = await checkPostMedia(ctx, { ...form, caller, signal, kept, isLive });
  const stored = new Map(media.places.map(({ field, url }) => [field, url]));
  const at = (field: string, url: string): string => stored.get(field) ?? url;
  const content = {
    ...given,
    mediaUrl: at("mediaUrl", mediaUrl),
    metadata: metadata === null ? null : replaceAddresses(platform, metadata, at),
  };
  const { places, figures, files } = media;
  const row = toContentRow({ ...form, content, places }, media.fileIds);
  const warnings = isLive
    ? []
    : [
        ...toldOfCard,
        ...media.warnings,
        ...form.warnings,
        ...(await warnOfChannel(ctx, { ...form, row, id: before?.id ?? null })),
      ];
  return { ...form, content, places, figures, files, row, warnings };
}

function addressesIn(platform: AnyPlatform, before?: PostRow): ReadonlySet<string> {
  return new Set(before === undefined ? [] : placesOf(platform, contentOf(before)).map(({ url }) => url));
}

/** A new post that may be stored. */
export interface PreparedPost extends PreparedContent {
  readonly row: PostRow;
  /** What a plan says of it. Null: nothing. */
  readonly plan: NewPlan | null;
  /** Its time is that of the slot it would get; which one it gets is told when it is stored. */
  readonly isInSlot: boolean;
  /** Only of a dry run. */
  readonly preview?: Preview;
}

/** What is known of a new post before it is prepared. */
interface PrepareOptions extends Pick<PostSpec, "kept" | "readsLinks" | "card"> {
  /** Its account, where that was looked up already. */
  readonly account?: AccountRow;
  /** Posts of the same call, whose slots it does not get. */
  readonly before?: readonly PostRow[];
  /** This very call schedules it, unless it is a dry run. Default: it is only looked at. */
  readonly isDone?: boolean;
  /** It stands in a list, in which a time is easily forgotten. */
  readonly isOneOfSeveral?: boolean;
  /** The draft that it is made of. */
  readonly draftId?: string | null;
  /** What is drafted, where that was read already. */
  readonly drafts?: readonly DraftTexts[];
}

/** Checks a post and makes its row, and stores nothing. Throws as `schedulePost` does. */
export async function preparePost(
  call: CallContext,
  input: PostBody,
  {
    account: found,
    before = [],
    isDone = false,
    isOneOfSeveral = false,
    draftId,
    drafts,
    ...known
  }: PrepareOptions = {},
): Promise<PreparedPost> {
  const { ctx, caller } = call;
  const { dryRun = false } = input;
  const isInSlot = input.slot !== undefined;
  if (isInSlot && input.scheduledAt !== undefined)
    throw new AppError("invalid", "slot, scheduledAt: give one of the two. A slot has its own time.");
  const { given, warnings: told } = readInput(call, input);
  const account = found ?? (await findAccount(ctx, caller, input.accountId));
  const lead = input.leadMinutes ?? capabilitiesFor(ctx, account, null).leadMinutes.default;
  const wish = { after: ctx.clock.now() + lead * MINUTE, taken: timesOn(before, account.id) };
  const slot = isInSlot ? await findSlot(ctx.store, account, wish) : null;
  // What is wrong with the form is told first, also where there is no slot.
  const timed = isInSlot ? { ...given, scheduledAt: slot ?? wish.after + DAY } : given;
  const form = await prepareForm(ctx, account, { ...known, given: timed, label: input.labels?.[0] });
  assertTakesPosts(account, dryRun);
  if (isInSlot && slot === null) throw noSlot(account);
  const prepared = await prepare(call, form);
  const row = freshRow({
    ...prepared.row,
    id: newId("post"),
    owner_id: caller.ownerId,
    account_id: account.id,
    provider: account.provider,
    created_at: ctx.clock.now(),
  });
  const isShown = dryRun || isOneOfSeveral;
  const how = { isTimed: isInSlot || input.scheduledAt !== undefined, isShown, isDone: isDone && !dryRun };
  const warnings = [
    ...(how.isDone ? warnOfDone(call) : []),
    ...(account.paused === 0 && keptUntil(ctx, account, row.scheduled_at) === null
      ? warnOfNow(call, how)
      : []),
    ...told,
    ...prepared.warnings,
    ...(await warnOfDoubles(ctx, row, {
      beside: before,
      isDone: how.isDone,
      text: input.caption,
      draftId,
      drafts,
    })),
    ...(await warnOfSilence(call, [row.scheduled_at])),
  ];
  const post = { ...prepared, row, plan: planOf(input), isInSlot, warnings };
  return dryRun ? { ...post, preview: await previewPost(ctx, account, post.content, post) } : post;
}

/** What its caller says of it beside its content. Null: nothing. */
function planOf({ labels = [], note }: PlanFields): NewPlan | null {
  if (labels.length === 0 && note === undefined) return null;
  return { draftId: null, occurrence: 0, labels: eachOnce(labels), note: note ?? null };
}
