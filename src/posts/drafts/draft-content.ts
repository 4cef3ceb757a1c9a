import { meantMoment } from "../../domain/arguments/meant-times.ts";
import { channelInFull } from "../../domain/accounts/channel-names.ts";
import type { SaveDraft, Target, TargetInput } from "../../domain/drafts/draft.ts";
import {
  aheadOf,
  lateStartOf,
  missesToday,
  occurrencesOf,
  readSeries,
  type RepeatInput,
  type Series,
} from "../../domain/drafts/repeat.ts";
import { describeShortMonths, isEndless } from "../../domain/drafts/tell-series.ts";
import { AppError } from "../../domain/errors.ts";
import { eachOnce } from "../../domain/posts/plan.ts";
import type { Metadata } from "../../domain/posts/post.ts";
import { formatDay } from "../../domain/posts/for-people.ts";
import { readWallClock } from "../../domain/wall-clock.ts";
import { plural } from "../../domain/text/plain-text.ts";
import { formatTime, toIso } from "../../domain/time.ts";
import { parseMoment, warningsOf } from "../../domain/parse-time.ts";
import type { DraftRow } from "../../store/queries/drafts.ts";
import { findAccount } from "../../channels/accounts/accounts.ts";
import type { AppContext, CallContext } from "../../context.ts";
import { resolveMediaUrl, checkAddresses } from "../../files/media-places.ts";
import { findPlatform } from "../../channels/platform-io/set-up.ts";
import {
  type PartContent,
  partsOf,
  placesIn,
  replaceIn,
  type Schemas,
  sharedSchemas,
} from "./draft-places.ts";

/** What a writer gives of a draft, whole. */
export interface DraftContent {
  /** Null: of a draft that is not there yet. */
  readonly id: string | null;
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
  id: null,
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
    id: row.id,
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

/** The columns of a content. */
export function toColumns(content: Omit<DraftContent, "id">) {
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

/** Throws `invalid` for what is wrong whatever the draft holds, before it is looked up. */
export function checkContentForm(call: CallContext, input: SaveDraft): void {
  const { scheduledAt, slot, mediaUrl, metadata, targets = [] } = input;
  const time = readTime(call, "scheduledAt", scheduledAt)?.ms ?? null;
  checkAddresses(call.ctx, { mediaUrl, metadata });
  for (const [at, target] of targets.entries()) {
    readTime(call, `targets[${at}].scheduledAt`, target.scheduledAt);
    checkAddresses(call.ctx, target);
  }
  const repeat = readRepeat(call.ctx, input.repeat, null);
  assertOneTime({ scheduledAt: time, slot: slot ?? null, repeat, targets });
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
  const time = readTime(call, "scheduledAt", input.scheduledAt);
  const kept = new Set((await partsOf(call, base)).flatMap(placesIn).map(({ url }) => url));
  const targets = input.targets === undefined ? null : await readTargets(call, input.targets, kept);
  const metadata = input.metadata === undefined ? base.metadata : patch(base.metadata, input.metadata);
  const shared = { mediaUrl: orElse(input.mediaUrl, base.mediaUrl) ?? "", metadata };
  const schemas = await sharedSchemas(call, targets?.targets ?? base.targets);
  const own = await resolveOwn(call, shared, { schemas, at: "", kept });
  const content = {
    id: base.id,
    title: orElse(input.title, base.title),
    caption: orElse(input.caption, base.caption),
    ...own,
    targets: targets?.targets ?? base.targets,
    ...readWhen(call, input, base, time?.ms),
    labels: input.labels === undefined ? base.labels : eachOnce(input.labels),
    note: orElse(input.note, base.note),
  };
  assertOneTime(content);
  const first = content.repeat === null ? [] : describeFirst(call.ctx, input.repeat ?? null, content.repeat);
  const told = [
    ...(time?.warnings ?? []),
    ...(targets?.warnings ?? []),
    ...first,
    ...describeTexts(call, content),
  ];
  return { content, warnings: [...new Set(told)] };
}

type When = Pick<DraftContent, "scheduledAt" | "slot" | "repeat">;

/** A time, a slot or a series takes the place of what the draft had of the three. */
function readWhen({ ctx }: CallContext, input: SaveDraft, base: When, time: number | null | undefined): When {
  const given = [time, input.slot, input.repeat].filter((one) => one !== undefined && one !== null);
  const before = given.length === 0 ? base : EMPTY;
  return {
    scheduledAt: time === undefined ? before.scheduledAt : time,
    slot: orElse(input.slot, before.slot),
    repeat: readRepeat(ctx, input.repeat, before.repeat),
  };
}

const NO_END =
  "repeat: has no end, so the series goes on until a person ends it. Give until or times if that was not meant.";

/** Texts that take turns stand in for the text of all, and begin again after the last. */
function describeTexts({ ctx }: CallContext, { caption, repeat, targets }: DraftContent): string[] {
  const { texts = [] } = repeat ?? {};
  if (repeat !== null && isEndless(repeat) && texts.length < 2) return [NO_END];
  if (repeat?.texts === undefined) return [];
  const isOwn = targets.length > 0 && targets.every((target) => target.caption !== null);
  return [
    ...describeLeftOver(repeat, ctx.clock.now()),
    ...(caption === null
      ? []
      : [
          "caption: is not used, because repeat.texts take turns in its place. Add it to repeat.texts if it is to go out.",
        ]),
    ...(isOwn
      ? [
          "repeat.texts: are not used, because each channel has a caption of its own. Leave those out if the texts are to take turns.",
        ]
      : []),
    ...(repeat.texts.length > 1 && isEndless(repeat)
      ? [
          "repeat.texts: after its last text the series begins again with the first, and it has no end. Give it an end if that was not meant.",
        ]
      : []),
  ];
}

/** Of a series that is over before each of its texts has had its turn. */
export function describeLeftOver(series: Series, begun: number): string[] {
  const { texts = [] } = series;
  if (isEndless(series)) return [];
  let turns = 0;
  for (const _occurrence of occurrencesOf(series, { begun })) if (++turns >= texts.length) return [];
  const left = texts.length - turns;
  const which = left === 1 ? "The last text never goes" : `The last ${left} texts never go`;
  return turns === 0 ? [] : [`${which} out: the series ends after ${plural(turns, "time")}.`];
}

/** "On Mondays" and a start may be meant otherwise; with nothing `given`, only a start whose time has passed. */
function describeFirst(
  { clock, settings: { timezone } }: AppContext,
  given: RepeatInput | null,
  repeat: Series,
): string[] {
  const now = clock.now();
  const [first] = aheadOf(repeat, now);
  const late = lateStartOf(repeat, now);
  if (first === undefined || (given === null && late === null)) return [];
  const isLate = given !== null && missesToday(given, { now, timezone });
  const over = isLate ? "today" : late === null ? null : formatDay(late.missed);
  const counted = isLate ? "" : describeCounted(repeat, first.at, now);
  const why = counted || (over === null ? "" : `, because ${repeat.time} of ${over} is over`);
  return [
    `The first of the series is on ${formatTime(first.at, timezone)}${why}.`,
    ...(given === null ? [] : describeShortMonths(repeat)),
  ];
}

/** Every second week is counted from that of the first day, which passes over a day that is nearer. */
function describeCounted(repeat: Series, first: number, now: number): string {
  if (repeat.every === 1) return "";
  const [nearest] = aheadOf({ ...repeat, every: 1 }, now);
  if (nearest === undefined || nearest.at >= first) return "";
  return `, and not on ${formatDay(readWallClock(nearest.at, repeat.timezone).date)}, because its ${repeat.unit}s are counted from that of ${formatDay(repeat.from)}. Give another from if that was not meant`;
}

function orElse<T>(given: T | undefined, before: T): T {
  return given === undefined ? before : given;
}

function readTime(
  call: CallContext,
  field: string,
  text: string | null | undefined,
): { ms: number | null; warnings: string[] } | undefined {
  if (text === undefined || text === null) return text === null ? { ms: null, warnings: [] } : undefined;
  const { timezone } = call.ctx.settings;
  const parsed = parseMoment(field, text, timezone, meantMoment({ now: call.ctx.clock.now(), timezone }));
  return { ms: parsed.ms, warnings: warningsOf(call, parsed) };
}

function readRepeat(ctx: AppContext, given: SaveDraft["repeat"], before: Series | null): Series | null {
  if (given === undefined || given === null) return given === null ? null : before;
  return readSeries(given, { now: ctx.clock.now(), timezone: ctx.settings.timezone });
}

type TimesOfDraft = Pick<DraftContent, "scheduledAt" | "slot" | "repeat"> & {
  readonly targets: readonly Pick<TargetInput, "scheduledAt">[];
};

/** A draft goes out at a time, in slots, or again and again. */
function assertOneTime({ scheduledAt, slot, repeat, targets }: TimesOfDraft): void {
  const given = Object.entries({ scheduledAt, slot, repeat }).filter(([, value]) => value !== null);
  if (given.length > 1)
    throw new AppError(
      "invalid",
      `${given.map(([name]) => name).join(", ")}: give one of them. It takes the place of what the draft had.`,
    );
  if (repeat === null) return;
  if (targets.some((target) => (target.scheduledAt ?? null) !== null))
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
    const account = await findAccount(ctx, caller, one.accountId, `targets[${at}].accountId`);
    if (targets.some(({ accountId }) => accountId === account.id))
      throw new AppError(
        "invalid",
        `targets[${at}].accountId: ${channelInFull(account)} is in the list already. A draft goes to a channel once. Make another draft.`,
      );
    const time = readTime(call, `targets[${at}].scheduledAt`, one.scheduledAt);
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
  own: PartContent,
  { schemas, at, kept }: { schemas: Schemas; at: string; kept: ReadonlySet<string> },
): Promise<PartContent> {
  const urls = new Map<string, string>();
  for (const { field, url } of placesIn({ schemas, at, own })) {
    if (url === "" || urls.has(url)) continue;
    const given = { field, text: url, isKept: kept.has(url) };
    urls.set(url, (await resolveMediaUrl(ctx, caller, given)).url);
  }
  return replaceIn(schemas, own, urls);
}
