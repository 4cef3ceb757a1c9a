import { toldState } from "../../domain/accounts/account.ts";
import type { SaidCheck, Target } from "../../domain/drafts/draft.ts";
import {
  fromStored,
  fromStoredOrNull,
  join,
  Message,
  type Said,
  sentencesIn,
  toStored,
} from "../../domain/sentences.ts";
import { aheadOf, type Occurrence, type Series, textOf } from "../../domain/drafts/repeat.ts";
import { AppError, saidOf } from "../../domain/errors.ts";
import type { PostBody } from "../../domain/posts/post-body.ts";
import type { Metadata } from "../../domain/posts/post.ts";
import type { Preview } from "../../domain/posts/preview.ts";
import { DAY, toIso } from "../../domain/time.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import type { AccountRow } from "../../store/queries/accounts.ts";
import { findAccount } from "../../channels/accounts/accounts.ts";
import type { AppContext, CallContext } from "../../context.ts";
import { placesOf } from "../../files/media-places.ts";
import { findPlatform } from "../../channels/platform-io/set-up.ts";
import type { LinkCard } from "../link-cards.ts";
import { mergeMetadata } from "../post-form.ts";
import { prepareForm, preparePost, type PreparedPost } from "../prepare.ts";
import { previewPost } from "../preview.ts";
import type { DraftContent } from "./draft-content.ts";
import type { PartContent } from "./draft-places.ts";

/* What scheduling would say of a draft's posts. */

/** A check, and what the page of the link told: the person who approves has seen that. */
export interface StoredCheck extends SaidCheck {
  readonly card?: LinkCard | null;
}

/** What soon is another way is told when it is found, and kept nowhere. */
export function isPassing(warning: Said): boolean {
  return toldState(String(warning)) === "waits";
}

/** The checks as a draft's column keeps them. */
export function writeChecks(checks: readonly StoredCheck[]): string {
  const stored = checks.map((check) => ({
    ...check,
    error: check.error === null ? null : toStored(check.error),
    warnings: check.warnings.filter((one) => !isPassing(one)).map(toStored),
  }));
  return JSON.stringify(stored);
}

export function readChecks({ checks }: { readonly checks: string }): StoredCheck[] {
  return (JSON.parse(checks) as StoredCheck[]).map((check) => ({
    ...check,
    error: fromStoredOrNull(check.error),
    warnings: check.warnings.map((warning) => fromStored(warning)),
  }));
}

/** By channel, what the pages of links told when a draft was looked at. */
export type Cards = ReadonlyMap<string, LinkCard | null>;

export function cardsOf(checks: readonly StoredCheck[]): Cards {
  return new Map(
    checks.flatMap(({ accountId, card }) => (card === undefined ? [] : [[accountId, card] as const])),
  );
}

/** How a draft's post goes out: at which time or in a slot, with which text. Default: as the draft says. */
export interface PostTiming {
  readonly at?: number;
  readonly slot?: "next";
  readonly caption?: string;
}

export const NO_TIME = "repeat: no time of it lies ahead. Give a later until.";

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
  const prepare = async (): Promise<Pick<TargetPost, "unknown"> & { prepared: PreparedPost }> => {
    if (timing === null) throw new AppError("invalid", NO_TIME);
    const post = await postFor(call, content, target, timing);
    const { account, body, unknown } = post;
    const own = { mediaUrl: target.mediaUrl ?? "", metadata: target.metadata };
    const kept = keptIn(findPlatform(call.ctx, account.provider), [content, own], seen.card);
    return { unknown, prepared: await preparePost(call, body, { account, kept, ...seen }) };
  };
  const done = await prepare().catch(toSaid);
  if (done instanceof Message) {
    const preview = await previewOf(call.ctx, await postFor(call, content, target, {}));
    return { target, check: { accountId, error: done, warnings: [], preview, ...seen }, prepared: null };
  }
  const { prepared } = done;
  const preview = await previewPost(call.ctx, prepared.account, prepared.content, prepared);
  const warnings = [...done.unknown, ...prepared.warnings];
  const card = prepared.card === undefined ? seen : { card: prepared.card };
  return { target, check: { accountId, error: null, warnings, preview, ...card }, prepared };
}

/**
 * What the draft names, as it was read when it was written: its writer was allowed to. What becomes an address only in
 * the post was never looked up.
 */
function keptIn(platform: AnyPlatform, parts: readonly PartContent[], card?: LinkCard | null): Set<string> {
  const places = parts.flatMap((part) => placesOf(platform, part));
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
  const checks = (await Promise.all(checked)).map(({ check }) => check);
  return [...(await withTexts(call, content, checks))];
}

/** The texts that go out in turn are not shown again, so all are checked, and each that cannot be posted is named. */
export async function withTexts(
  call: CallContext,
  content: DraftContent,
  checks: readonly StoredCheck[],
): Promise<readonly StoredCheck[]> {
  return Promise.all(
    checks.map(async (check) => {
      const target = content.targets.find(({ accountId }) => accountId === check.accountId);
      const refused = target === undefined ? [] : await refuseTexts(call, content, target);
      // What is wrong beside the texts is wrong with each of them, and told by the check itself.
      const isSame = ({ why }: { why: Said }): boolean => String(why) === String(check.error);
      if (refused.every((one) => isSame(one) && sentencesIn(one.why)[0]?.field !== "caption")) return check;
      const own = refused.some(isSame) ? null : check.error;
      return { ...check, error: join(own, ...refused.map(({ text, why }) => aboutText(text, why))) };
    }),
  );
}

function aboutText(text: number, why: Said): Said {
  const field = `repeat.texts[${text - 1}]`;
  return new Message(sentencesIn(why).map((one) => (one.field === "caption" ? { ...one, field } : one)));
}

/** Which texts, counted from 1, and why. The channel's own text stands in for all of them. */
async function refuseTexts(
  call: CallContext,
  content: DraftContent,
  target: Target,
): Promise<{ text: number; why: Said }[]> {
  const texts = target.caption === null ? (content.repeat?.texts ?? []) : [];
  const refused: { text: number; why: Said }[] = [];
  for (const [at, caption] of texts.entries()) {
    const why = await refuseText(call, content, { target, caption }).catch(toSaid);
    if (why !== null) refused.push({ text: at + 1, why });
  }
  return refused;
}

async function refuseText(
  call: CallContext,
  content: DraftContent,
  { target, caption }: { readonly target: Target; readonly caption: string },
): Promise<null> {
  const { account, body } = await postFor(call, content, target, { caption });
  const given = { ...body, scheduledAt: call.ctx.clock.now() + DAY };
  await prepareForm(call.ctx, account, { given, label: body.labels?.[0], readsLinks: false });
  return null;
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
function toSaid(error: unknown): Message {
  if (!(error instanceof AppError) || error.kind === "unavailable") throw error;
  return saidOf(error);
}
