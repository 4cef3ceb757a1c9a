import { WEEKDAYS } from "../../src/domain/drafts/series-days.ts";
import {
  describeSeries,
  type LateStart,
  lateStart,
  type ToldSeries,
} from "../../src/domain/drafts/tell-series.ts";
import { now } from "./clock.ts";
import { isJson, jsonOf, textOf, type Json } from "./json.ts";
import { isStatus, type Status } from "./statuses.ts";
import { withValues } from "./values.ts";
import { isZone, lastDayBy } from "./zone.ts";
import { NO_TEXT, splitText, webAddress } from "./texts.ts";

/** Each state has a shape beside its colour, for those who do not see the colour. */
export const DRAFT_STATES = {
  waiting: { label: "Waits for you", sign: "?" },
  open: { label: "Draft", sign: "✎" },
  repeating: { label: "Repeats", sign: "↻" },
  scheduled: { label: "Scheduled", sign: "○" },
  ended: { label: "Ended", sign: "■" },
  discarded: { label: "Discarded", sign: "×" },
} as const;
export type DraftState = keyof typeof DRAFT_STATES;

/** What became of the posts of a draft, in the colours of a post's status. */
export const OUTCOMES = {
  waiting: { label: "Scheduled", sign: "○", status: "scheduled" },
  published: { label: "Published", sign: "✓", status: "published" },
  partly: { label: "Partly published", sign: "!", status: "failed" },
  failed: { label: "Failed", sign: "!", status: "failed" },
  cancelled: { label: "Cancelled", sign: "×", status: "cancelled" },
} as const;
export type Outcome = keyof typeof OUTCOMES;

interface Count {
  readonly length: number;
  /** Null: no limit is known. */
  readonly max: number | null;
  readonly unit: string;
}

interface Medium {
  readonly url: string;
  readonly type: string | null;
  readonly change: string | null;
  readonly altText: string | null;
}

interface ThreadPart {
  readonly text: string;
  readonly count: Count | null;
  readonly media: readonly Medium[];
}

interface Target {
  readonly accountId: string;
  readonly accountName: string | null;
  readonly scheduledAt: number | null;
  /** Null: nothing is known of what will be shown. */
  readonly preview:
    | (ThreadPart & {
        readonly parts: readonly ThreadPart[];
        readonly link: string | null;
        readonly note: string | null;
      })
    | null;
  readonly error: string | null;
  readonly warnings: readonly string[];
}

interface DraftPost {
  readonly id: string;
  readonly accountId: string;
  readonly status: Status;
  readonly scheduledAt: number;
  readonly platformUrl: string | null;
  readonly error: string | null;
}

/** What the pages show of a draft. Times are milliseconds. */
export interface Draft {
  readonly id: string;
  readonly title: string;
  /** What follows the title, where that is the text's first line. */
  readonly text: string;
  readonly state: DraftState;
  readonly revision: number;
  readonly scheduledAt: number | null;
  /** Posts without a time take the next free slot of their channel. */
  readonly isNextSlot: boolean;
  readonly repeat: string | null;
  /** Those that take turns in a series. Empty: always the same. */
  readonly texts: readonly string[];
  /** "by Anna". Empty: not known. */
  readonly writtenBy: string;
  readonly labels: readonly string[];
  readonly note: string | null;
  readonly targets: readonly Target[];
  readonly decision: {
    readonly what: string;
    readonly by: string;
    readonly at: number | null;
    readonly note: string | null;
  } | null;
  readonly posts: readonly DraftPost[];
  readonly outcome: Outcome | null;
}

/** Drafts in the order that people want them in: what waits, what is written, what is decided. */
export function byUrgency(drafts: readonly Draft[]): readonly Draft[] {
  const states = Object.keys(DRAFT_STATES);
  return drafts.toSorted((a, b) => states.indexOf(a.state) - states.indexOf(b.state));
}

/** Null: it has no time of its own. */
export function firstTimeOf({ scheduledAt, targets }: Draft): number | null {
  return scheduledAt ?? targets.find((target) => target.scheduledAt !== null)?.scheduledAt ?? null;
}

/** Null for anything that is not a draft. */
export function readDraft(value: unknown): Draft | null {
  if (!isJson(value)) return null;
  const { state, revision } = value;
  if (typeof state !== "string" || !isState(state) || typeof revision !== "number") return null;
  const caption = firstText(value);
  const title = textOf(value["title"]).trim();
  const { first, rest } = splitText(caption);
  return {
    id: textOf(value["id"]),
    title: title || first || NO_TEXT,
    text: title === "" ? rest : caption,
    state,
    revision,
    scheduledAt: timeOf(value["scheduledAt"]),
    isNextSlot: value["slot"] === "next",
    repeat: isJson(value["repeat"]) ? ruleInWords(readSeries(value["repeat"]), value) : null,
    texts: listOf(jsonOf(value["repeat"])["texts"]).map(textOf),
    writtenBy: writerInWords(value["writtenBy"]),
    labels: listOf(value["labels"]).map(textOf),
    note: textOf(value["note"]) || null,
    targets: listOf(value["targets"]).map((target) => readTarget(jsonOf(target), value)),
    decision: isJson(value["decision"]) ? readDecision(value["decision"]) : null,
    posts: listOf(value["posts"]).flatMap((post) => readPost(jsonOf(post)) ?? []),
    outcome: readOutcome(value["outcome"]),
  };
}

function ruleInWords(series: ToldSeries, draft: Json): string {
  const { what, at } = jsonOf(draft["decision"]);
  const late = lateStartOf(series, { what: textOf(what), at: textOf(at) });
  return withValues(describeSeries(series, late));
}

/** Where it begins later than it says. One that is not approved would be now; of a discarded one it is not known. */
export function lateStartOf(
  series: ToldSeries,
  decision: { readonly what: string; readonly at: string } | null,
): LateStart | null {
  if (decision?.what === "stopped" || decision?.what === "discarded" || !isZone(series.timezone)) return null;
  const begun = decision?.what === "approved" ? Date.parse(decision.at) : now();
  return Number.isNaN(begun) ? null : lateStart(series, lastDayBy(series, begun));
}

/** The first text that goes out: texts that take turns stand in for the text of all. */
function firstText(draft: Json): string {
  const own = listOf(draft["targets"]).map((target) => textOf(jsonOf(target)["caption"]));
  const inTurn = listOf(jsonOf(draft["repeat"])["texts"]).map(textOf);
  return [...inTurn, textOf(draft["caption"]), ...own].find((text) => text !== "") ?? "";
}

function readTarget(target: Json, draft: Json): Target {
  const accountId = textOf(target["accountId"]);
  const check = jsonOf(listOf(draft["checks"]).find((one) => jsonOf(one)["accountId"] === accountId));
  const metadata = { ...jsonOf(draft["metadata"]), ...jsonOf(target["metadata"]) };
  // Left out where it is the caption.
  const preview = { text: target["caption"] ?? draft["caption"], ...jsonOf(check["preview"]) };
  return {
    accountId,
    accountName: textOf(target["accountName"]) || null,
    scheduledAt: timeOf(target["scheduledAt"]) ?? timeOf(draft["scheduledAt"]),
    preview: isJson(check["preview"]) ? readPreview(preview, metadata) : null,
    error: textOf(check["error"]) || null,
    warnings: listOf(check["warnings"]).map(textOf),
  };
}

function readPreview(preview: Json, metadata: Json): NonNullable<Target["preview"]> {
  const more = listOf(metadata["moreMedia"]).map((one) => textOf(jsonOf(one)["altText"]));
  const thread = listOf(metadata["thread"]).map((one) => textOf(jsonOf(one)["altText"]));
  return {
    ...readPart(preview, [textOf(metadata["altText"]), ...more]),
    parts: listOf(preview["parts"]).map((one, at) => readPart(jsonOf(one), [thread[at] ?? ""])),
    link: textOf(preview["link"]) || null,
    note: textOf(preview["note"]) || null,
  };
}

function readPart(part: Json, altTexts: readonly string[]): ThreadPart {
  return {
    text: textOf(part["text"]),
    count: isJson(part["count"]) ? readCount(part["count"]) : null,
    media: listOf(part["media"]).map((one, at) => readMedium(jsonOf(one), altTexts[at] ?? "")),
  };
}

function readMedium(medium: Json, altText: string): Medium {
  return {
    url: textOf(medium["url"]),
    type: textOf(medium["type"]) || null,
    change: textOf(medium["change"]) || null,
    altText: altText || null,
  };
}

function readCount({ length, max, unit }: Json): Count | null {
  if (typeof length !== "number") return null;
  return { length, max: typeof max === "number" ? max : null, unit: textOf(unit) };
}

/** Callers without a key: a person or an assistant on the machine that Posthorn runs on. */
export const NO_KEY = "This machine";
/** A person at the command line, whose name is not known. */
const AT_SHELL = "The command line";
export const ON_THIS_COMPUTER = "on this computer";

function nameOfPerson(who: unknown): string {
  const name = textOf(jsonOf(who)["name"]);
  if (name === AT_SHELL) return "Someone on the command line";
  return name === NO_KEY ? `Someone ${ON_THIS_COMPUTER}` : name;
}

/** "by Anna", or where it was written. Empty: not known. */
function writerInWords(who: unknown): string {
  const name = textOf(jsonOf(who)["name"]);
  if (name === AT_SHELL) return "written on the command line";
  return name === NO_KEY ? `written ${ON_THIS_COMPUTER}` : name === "" ? "" : `by ${name}`;
}

function readDecision(decision: Json): NonNullable<Draft["decision"]> {
  return {
    what: textOf(decision["what"]),
    by: nameOfPerson(decision["by"]),
    at: timeOf(decision["at"]),
    note: textOf(decision["note"]) || null,
  };
}

function readPost(post: Json): DraftPost | null {
  const status = textOf(post["status"]);
  const scheduledAt = timeOf(post["scheduledAt"]);
  if (!isStatus(status) || scheduledAt === null) return null;
  return {
    id: textOf(post["id"]),
    accountId: textOf(post["accountId"]),
    status,
    scheduledAt,
    platformUrl: webAddress(textOf(post["platformUrl"])),
    error: textOf(post["error"]) || null,
  };
}

function readOutcome(value: unknown): Outcome | null {
  const outcome = textOf(value);
  return isOutcome(outcome) ? outcome : null;
}

function isOutcome(text: string): text is Outcome {
  return Object.hasOwn(OUTCOMES, text);
}

function isState(text: string): text is DraftState {
  return Object.hasOwn(DRAFT_STATES, text);
}

function timeOf(value: unknown): number | null {
  const ms = Date.parse(textOf(value));
  return Number.isNaN(ms) ? null : ms;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const UNITS = ["day", "week", "month", "year"] as const;

function readSeries(series: Json): ToldSeries {
  const { every, times, until } = series;
  const days = WEEKDAYS.filter((day) => listOf(series["days"]).includes(day));
  return {
    every: typeof every === "number" ? every : 1,
    unit: UNITS.find((unit) => unit === series["unit"]) ?? "day",
    days: days.length === 0 ? undefined : days,
    time: textOf(series["time"]),
    timezone: textOf(series["timezone"]),
    from: textOf(series["from"]),
    until: until === undefined ? undefined : textOf(until),
    times: typeof times === "number" ? times : undefined,
    texts: listOf(series["texts"]).map(textOf),
  };
}
