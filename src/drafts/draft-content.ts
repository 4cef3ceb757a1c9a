import type { Check, SaveDraft, Target, TargetInput } from "../domain/drafts/draft.ts";
import { aheadOf, type Occurrence, readSeries, type Series, textOf } from "../domain/drafts/repeat.ts";
import { AppError, sentenceOf } from "../domain/errors.ts";
import { eachOnce } from "../domain/posts/plan.ts";
import type { PostBody } from "../domain/posts/post-body.ts";
import type { Metadata } from "../domain/posts/post.ts";
import type { Preview } from "../domain/posts/preview.ts";
import { parseMoment, quote, toIso } from "../domain/time.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import type { DraftRow } from "../store/queries/drafts.ts";
import { findAccount } from "../accounts/accounts.ts";
import type { AppContext, CallContext } from "../context.ts";
import { placesOf, resolveMediaUrl } from "../files/media-places.ts";
import { findPlatform } from "../platform-io/set-up.ts";
import type { LinkCard } from "../posts/link-cards.ts";
import { checkAddresses } from "../posts/post-checks.ts";
import { contentOf as contentOfPost, mergeMetadata } from "../posts/post-form.ts";
import { previewPost } from "../posts/preview.ts";
import { preparePost, type PreparedPost } from "../posts/schedule-post.ts";
import { type Own, partsOf, placesIn, replaceIn, type Schemas, sharedSchemas } from "./draft-places.ts";

/** What a writer gives of a draft, whole. */
export interface DraftContent {
  readonly title: string | null;
  readonly caption: string | null;
  readonly mediaUrl: string;
  readonly metadata: Metadata | null;
  readonly targets: readonly Target[];
  readonly scheduledAt: number | null;
  readonly slot: "next" | null;
  readonly repeat: Series | null;
  readonly labels: readonly string[];
  readonly note: string | null;
}

const EMPTY: DraftContent = {
  title: null,
  caption: null,
  mediaUrl: "",
  metadata: null,
  targets: [],
  scheduledAt: null,
  slot: null,
  repeat: null,
  labels: [],
  note: null,
};

export function contentOf(row: DraftRow): DraftContent {
  return {
    title: row.title,
    caption: row.caption,
    mediaUrl: row.media_url,
    metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as Metadata),
    targets: JSON.parse(row.targets) as Target[],
    scheduledAt: row.scheduled_at,
    slot: row.slot,
    repeat: row.repeat === null ? null : (JSON.parse(row.repeat) as Series),
    labels: JSON.parse(row.labels) as string[],
    note: row.note,
  };
}

/** A check, and what the page of the link told: whoever approves it has seen that. */
export interface StoredCheck extends Check {
  readonly card?: LinkCard | null;
}

/** By channel, what the pages of links told when a draft was looked at. */
export type Cards = ReadonlyMap<string, LinkCard | null>;

export function cardsOf(checks: readonly StoredCheck[]): Cards {
  return new Map(
    checks.flatMap(({ accountId, card }) => (card === undefined ? [] : [[accountId, card] as const])),
  );
}

/** The columns of a content. */
export function toColumns(content: DraftContent) {
  return {
    title: content.title,
    caption: content.caption,
    media_url: content.mediaUrl,
    metadata: content.metadata === null ? null : JSON.stringify(content.metadata),
    targets: JSON.stringify(content.targets),
    scheduled_at: content.scheduledAt,
    slot: content.slot,
    repeat: content.repeat === null ? null : JSON.stringify(content.repeat),
    labels: JSON.stringify(content.labels),
    note: content.note,
  };
}

/**
 * The content that a call makes of the one before. What it leaves out stays. Throws `invalid` naming the field, and
 * `not_found` for channels and files beyond the caller's reach.
 */
export async function changeContent(
  call: CallContext,
  before: DraftContent | null,
  input: SaveDraft,
): Promise<{ content: DraftContent; warnings: string[] }> {
  const base = before ?? EMPTY;
  const { timezone } = call.ctx.settings;
  const time = readTime("scheduledAt", input.scheduledAt, timezone);
  const kept = new Set((await partsOf(call, base)).flatMap(placesIn).map(({ url }) => url));
  const targets = input.targets === undefined ? null : await readTargets(call, input.targets, kept);
  const metadata = input.metadata === undefined ? base.metadata : patch(base.metadata, input.metadata);
  const shared = { mediaUrl: orElse(input.mediaUrl, base.mediaUrl) ?? "", metadata };
  const schemas = await sharedSchemas(call, targets?.targets ?? base.targets);
  const own = await resolveOwn(call, shared, { schemas, at: "", kept });
  const content = {
    title: orElse(input.title, base.title),
    caption: orElse(input.caption, base.caption),
    ...own,
    targets: targets?.targets ?? base.targets,
    scheduledAt: time === undefined ? base.scheduledAt : time.ms,
    slot: orElse(input.slot, base.slot),
    repeat: readRepeat(call.ctx, input.repeat, base.repeat),
    labels: input.labels === undefined ? base.labels : eachOnce(input.labels),
    note: orElse(input.note, base.note),
  };
  assertOneTime(content);
  return { content, warnings: [...(time?.warnings ?? []), ...(targets?.warnings ?? [])] };
}

function orElse<T>(given: T | undefined, before: T): T {
  return given === undefined ? before : given;
}

function readTime(
  field: string,
  text: string | null | undefined,
  timezone: string,
): { ms: number | null; warnings: string[] } | undefined {
  if (text === undefined || text === null) return text === null ? { ms: null, warnings: [] } : undefined;
  const { ms, warning } = parseMoment(field, text, timezone);
  return { ms, warnings: warning === null ? [] : [warning] };
}

function readRepeat(ctx: AppContext, given: SaveDraft["repeat"], before: Series | null): Series | null {
  if (given === undefined || given === null) return given === null ? null : before;
  return readSeries(given, { now: ctx.clock.now(), timezone: ctx.settings.timezone });
}

/** A draft goes out at a time, in slots, or again and again. */
function assertOneTime({ scheduledAt, slot, repeat, targets }: DraftContent): void {
  const given = Object.entries({ scheduledAt, slot, repeat }).filter(([, value]) => value !== null);
  if (given.length > 1)
    throw new AppError(
      "invalid",
      `${given.map(([name]) => name).join(", ")}: give one of them, and null for what the draft had before.`,
    );
  if (repeat === null) return;
  if (targets.some((target) => target.scheduledAt !== null))
    throw new AppError(
      "invalid",
      "targets.scheduledAt: a series has one time for all channels. Leave it out.",
    );
}

async function readTargets(
  call: CallContext,
  given: readonly TargetInput[],
  kept: ReadonlySet<string>,
): Promise<{ targets: Target[]; warnings: string[] }> {
  const { ctx, caller } = call;
  const targets: Target[] = [];
  const warnings: string[] = [];
  for (const [at, one] of given.entries()) {
    const account = await findAccount(ctx, caller, one.accountId);
    if (targets.some(({ accountId }) => accountId === account.id))
      throw new AppError(
        "invalid",
        `targets[${at}].accountId: ${quote(account.name)} is in the list already. A draft goes to a channel once. Make another draft.`,
      );
    const time = readTime(`targets[${at}].scheduledAt`, one.scheduledAt, ctx.settings.timezone);
    warnings.push(...(time?.warnings ?? []));
    const platform = findPlatform(ctx, account.provider);
    const own = await resolveOwn(
      call,
      { mediaUrl: one.mediaUrl ?? "", metadata: patch(null, one.metadata ?? null) },
      { schemas: [platform], at: `targets[${at}].`, kept },
    );
    targets.push({
      accountId: account.id,
      caption: one.caption ?? null,
      mediaUrl: one.mediaUrl === undefined || one.mediaUrl === null ? null : own.mediaUrl,
      metadata: own.metadata,
      scheduledAt: time?.ms === undefined || time.ms === null ? null : toIso(time.ms),
    });
  }
  return { targets, warnings };
}

/** Null in a target's metadata stays: it takes the shared key away there. */
function patch(before: Metadata | null, given: Metadata | null): Metadata | null {
  if (given === null) return null;
  const merged = { ...before, ...given };
  const kept =
    before === null
      ? merged
      : Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
  return Object.keys(kept).length === 0 ? null : kept;
}

/** With the ids of files as their addresses: what the writer may not use, no approval schedules. */
async function resolveOwn(
  { ctx, caller }: CallContext,
  own: Own,
  { schemas, at, kept }: { schemas: Schemas; at: string; kept: ReadonlySet<string> },
): Promise<Own> {
  checkAddresses(ctx, {
    mediaUrl: own.mediaUrl,
    ...(own.metadata === null ? {} : { metadata: own.metadata }),
  });
  const urls = new Map<string, string>();
  for (const { field, url } of placesIn({ schemas, at, own })) {
    if (url === "" || urls.has(url)) continue;
    const given = { field, text: url, isKept: kept.has(url) };
    urls.set(url, (await resolveMediaUrl(ctx, caller, given)).url);
  }
  return replaceIn(schemas, own, urls);
}

/** How a draft's post goes out: at which time or in a slot, with which text. Default: as the draft says. */
export interface PostTiming {
  readonly at?: number;
  readonly slot?: "next";
  readonly caption?: string;
}

export const NO_TIME = "repeat: no time of it lies ahead. Give a later until, or more times.";

/** What a target's post is made of. */
interface TargetPost {
  readonly account: AccountRow;
  /** As schedule_post takes it. */
  readonly body: PostBody;
  /** Shared keys that its platform does not know, in sentences. */
  readonly unknown: readonly string[];
}

async function postFor(
  { ctx, caller }: CallContext,
  content: DraftContent,
  target: Target,
  { at, slot, caption }: PostTiming,
): Promise<TargetPost> {
  const account = await findAccount(ctx, caller, target.accountId);
  const platform = findPlatform(ctx, account.provider);
  const shared = Object.entries(content.metadata ?? {});
  const isKnown = ([key]: [string, unknown]): boolean => Object.hasOwn(platform.metadata.shape, key);
  const metadata = mergeMetadata(
    platform,
    Object.fromEntries(shared.filter(isKnown)) as Metadata,
    target.metadata ?? {},
  );
  const text = target.caption ?? caption ?? content.caption;
  const own = target.scheduledAt === null ? content.scheduledAt : Date.parse(target.scheduledAt);
  const isInSlot = at === undefined && (slot !== undefined || (own === null && content.slot !== null));
  const time = isInSlot ? null : (at ?? own);
  const body = {
    accountId: account.id,
    mediaUrl: target.mediaUrl ?? content.mediaUrl,
    ...(text === null ? {} : { caption: text }),
    ...(metadata === null ? {} : { metadata }),
    ...(time === null ? {} : { scheduledAt: toIso(time) }),
    ...(isInSlot ? { slot: "next" as const } : {}),
    labels: [...content.labels],
    ...(content.note === null ? {} : { note: content.note }),
  };
  const unknown = shared.filter((entry) => !isKnown(entry)).map(([key]) => key);
  return {
    account,
    body,
    unknown: unknown.map(
      (key) => `metadata.${key}: ${platform.title} has no such field, so it is left out there.`,
    ),
  };
}

/** What scheduling a target's post would say, and the post itself where it may be stored. */
export interface CheckedTarget {
  readonly target: Target;
  readonly check: StoredCheck;
  /** Null: it cannot be scheduled. */
  readonly prepared: PreparedPost | null;
}

/**
 * Checks the post of one target, as `preparePost` does. `timing`: null where no time of a series lies ahead. A link's
 * page is read where `cards` have none.
 */
export async function checkTarget(
  call: CallContext,
  content: DraftContent,
  { target, timing, cards }: { target: Target; timing: PostTiming | null; cards: Cards },
): Promise<CheckedTarget> {
  const { accountId } = target;
  const seen = cards.has(accountId) ? { card: cards.get(accountId) ?? null } : {};
  const prepare = async (): Promise<TargetPost & { prepared: PreparedPost }> => {
    if (timing === null) throw new AppError("invalid", NO_TIME);
    const post = await postFor(call, content, target, timing);
    const { account, body } = post;
    const kept = keptIn(call, post, seen.card);
    return { ...post, prepared: await preparePost(call, body, { account, kept, ...seen }) };
  };
  const done = await prepare().catch(toSentence);
  const post = typeof done === "string" ? await postFor(call, content, target, {}) : done;
  const preview =
    typeof done === "string"
      ? await previewOf(call.ctx, post)
      : await previewPost(call.ctx, done.account, contentOfPost(done.prepared.row));
  if (typeof done === "string")
    return { target, check: { accountId, error: done, warnings: [], preview, ...seen }, prepared: null };
  const { prepared } = done;
  const warnings = [...done.unknown, ...prepared.warnings];
  const card = prepared.card === undefined ? seen : { card: prepared.card };
  return { target, check: { accountId, error: null, warnings, preview, ...card }, prepared };
}

/** What the draft names: whoever wrote it there was allowed to. */
function keptIn({ ctx }: CallContext, { account, body }: TargetPost, card?: LinkCard | null): Set<string> {
  const own = { mediaUrl: body.mediaUrl ?? "", metadata: body.metadata ?? null };
  const places = placesOf(findPlatform(ctx, account.provider), own);
  return new Set([...places.map(({ url }) => url), card?.picture ?? ""]);
}

function previewOf(ctx: AppContext, { account, body }: TargetPost): Promise<Preview> {
  return previewPost(ctx, account, {
    caption: body.caption ?? null,
    mediaUrl: body.mediaUrl ?? "",
    metadata: body.metadata ?? null,
    scheduledAt: ctx.clock.now(),
    leadMinutes: null,
  });
}

/** What scheduling would say of each target now. */
export async function checkDraft(
  call: CallContext,
  content: DraftContent,
  cards: Cards = new Map(),
): Promise<StoredCheck[]> {
  const timing = timingOf(content, call.ctx.clock.now());
  const checked = content.targets.map((target) => checkTarget(call, content, { target, timing, cards }));
  return (await Promise.all(checked)).map(({ check }) => check);
}

/** Of a series its next occurrence. Null: there is none. */
function timingOf({ repeat }: DraftContent, now: number): PostTiming | null {
  if (repeat === null) return {};
  const [next] = aheadOf(repeat, now);
  return next === undefined ? null : timingAt(repeat, next);
}

export function timingAt(series: Series, occurrence: Occurrence): PostTiming {
  const caption = textOf(series, occurrence);
  return { at: occurrence.at, ...(caption === undefined ? {} : { caption }) };
}

/** Only what the caller can mend is told. A bug stays a bug. */
function toSentence(error: unknown): string {
  if (!(error instanceof AppError) || error.kind === "unavailable") throw error;
  return sentenceOf(error);
}
