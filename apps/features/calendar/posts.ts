import { besidePlatform, shortNames } from "../../../src/domain/accounts/channel-names.ts";
import { isJson, jsonOf, textOf, type Json } from "../../shared/json.ts";
import { type Draft, firstTimeOf, readDraft } from "../../shared/drafts.ts";
import { isStatus, type Status } from "../../shared/statuses.ts";
import { keepBehind, sentencesBehind } from "../../shared/sentences.ts";
import { NO_TEXT, splitText, webAddress } from "../../shared/texts.ts";
import { withValues } from "../../shared/values.ts";
import { isZone } from "../../shared/zone.ts";

/** A draft and when it would go out, or the first part of it. */
export type CalendarDraft = Draft & { readonly at: number };

/** What the page shows of a post. */
export interface CalendarPost {
  readonly id: string;
  readonly accountId: string;
  readonly provider: string;
  readonly scheduledAt: number;
  readonly status: Status;
  /** Null: none was given. */
  readonly caption: string | null;
  readonly title: string;
  readonly text: string;
  readonly mediaUrl: string;
  readonly platformUrl: string | null;
  readonly error: string | null;
  /** As the server writes it. */
  readonly updatedAt: string;
}

/** A time of a channel's week that nothing takes yet. */
export interface FreeSlot {
  readonly accountId: string;
  readonly at: number;
}

/** A series' times that have no post yet. */
export interface ComingSeries {
  readonly draftId: string;
  readonly title: string;
  /** In words. */
  readonly rule: string;
  readonly coming: readonly number[];
}

/** One of these times. */
export interface ComingPost extends Pick<ComingSeries, "draftId" | "title"> {
  readonly at: number;
}

export interface Calendar {
  readonly posts: readonly CalendarPost[];
  /** Those that are written or wait for a decision, with the time that they are for. */
  readonly drafts: readonly CalendarDraft[];
  readonly freeSlots: readonly FreeSlot[];
  readonly series: readonly ComingSeries[];
  /** What channels are called, by their ids. */
  readonly names: ReadonlyMap<string, string>;
  /** What tells them from others of their platforms. */
  readonly shortNames: ReadonlyMap<string, string>;
  /** What platforms are called, by their providers. */
  readonly platforms: ReadonlyMap<string, string>;
  readonly from: number;
  readonly to: number;
  readonly timezone: string;
}

/** Null for anything that is not a calendar. */
export function readCalendar(value: Json | null): Calendar | null {
  if (value === null || !Array.isArray(value["posts"])) return null;
  const from = Date.parse(textOf(value["from"]));
  const to = Date.parse(textOf(value["to"]));
  const timezone = textOf(value["timezone"]);
  if (Number.isNaN(from) || Number.isNaN(to) || !isZone(timezone)) return null;
  const posts = value["posts"].flatMap((post: unknown) => readPost(post) ?? []);
  const names = readNames(value["names"]);
  const platforms = readNames(value["platforms"]);
  return {
    posts,
    drafts: rowsOf(value["drafts"]).flatMap(readPlanned),
    freeSlots: rowsOf(value["freeSlots"]).flatMap(readSlot),
    series: rowsOf(value["series"]).map((one) => readComing(jsonOf(one))),
    names,
    shortNames: shortNames(names, [...platforms.values()]),
    platforms,
    from,
    to,
    timezone,
  };
}

function rowsOf(rows: unknown): readonly unknown[] {
  return Array.isArray(rows) ? rows : [];
}

function readPlanned(value: unknown): readonly CalendarDraft[] {
  const draft = readDraft(value);
  const at = draft === null ? null : firstTimeOf(draft);
  return draft === null || at === null ? [] : [{ ...draft, at }];
}

function readSlot(value: unknown): readonly FreeSlot[] {
  const at = Date.parse(textOf(jsonOf(value)["at"]));
  return Number.isNaN(at) ? [] : [{ accountId: textOf(jsonOf(value)["accountId"]), at }];
}

function readComing(series: Json): ComingSeries {
  const coming = rowsOf(series["coming"]).map((at) => Date.parse(textOf(at)));
  return {
    draftId: textOf(series["draftId"]),
    title: splitText(textOf(series["text"])).first || NO_TEXT,
    rule: withValues(textOf(series["rule"])),
    coming: coming.filter((at) => !Number.isNaN(at)),
  };
}

function readNames(names: unknown): ReadonlyMap<string, string> {
  return new Map(Object.entries(jsonOf(names)).map(([id, name]) => [id, textOf(name).trim()]));
}

type Calls = Pick<Calendar, "names" | "platforms">;

/** The channel by its name; only its platform where no name is known. */
export function channelOf(calendar: Calls, post: CalendarPost): string {
  const name = calendar.names.get(post.accountId) ?? "";
  const platform = platformOf(calendar, post);
  return name === "" ? platform : besidePlatform(name, platform);
}

export function platformOf({ platforms }: Calls, { provider }: CalendarPost): string {
  return platforms.get(provider) || provider;
}

/**
 * Distinguishes a post's channel in a word or two: the platform, or the channel's name where there
 * are several on that platform, or its handle where they are called the same. Null where there is only one channel.
 */
export function placeOf({ posts, ...calls }: Calendar, post: CalendarPost): string | null {
  const others = posts.filter((one) => one.accountId !== post.accountId);
  if (others.length === 0) return null;
  const isAlike = others.some(({ provider }) => provider === post.provider);
  return (isAlike && calls.shortNames.get(post.accountId)) || platformOf(calls, post);
}

export function readPost(value: unknown): CalendarPost | null {
  if (!isJson(value)) return null;
  const status = textOf(value["status"]);
  const scheduledAt = Date.parse(textOf(value["scheduledAt"]));
  if (!isStatus(status) || Number.isNaN(scheduledAt)) return null;
  const caption = textOf(value["caption"]);
  const metadata = isJson(value["metadata"]) ? value["metadata"] : {};
  const title = textOf(metadata["title"]).trim();
  const { first, rest } = splitText(caption);
  const post: CalendarPost = {
    id: textOf(value["id"]),
    accountId: textOf(value["accountId"]),
    provider: textOf(value["provider"]),
    scheduledAt,
    status,
    caption: value["caption"] === null ? null : caption,
    title: title || first || NO_TEXT,
    text: title === "" || title === caption.trim() ? rest : caption,
    mediaUrl: textOf(value["mediaUrl"]),
    platformUrl: webAddress(textOf(value["platformUrl"])),
    error: textOf(value["error"]) || null,
    updatedAt: textOf(value["updatedAt"]),
  };
  keepBehind(post, "error", sentencesBehind(value, "error"));
  return post;
}

/** Moved, reworded or cancelled. */
export function canMove(post: CalendarPost): boolean {
  return post.status === "scheduled";
}

/** By their times, those that are cancelled last. */
export function inOrder(posts: readonly CalendarPost[]): readonly CalendarPost[] {
  const isOff = ({ status }: CalendarPost): number => (status === "cancelled" ? 1 : 0);
  return posts.toSorted(
    (a, b) => isOff(a) - isOff(b) || a.scheduledAt - b.scheduledAt || (a.id < b.id ? -1 : 1),
  );
}

/** What failed, then what waits for a person, is under way or is coming, then what is over. */
const URGENCY: Readonly<Record<Status, number>> = {
  failed: 0,
  publishing: 2,
  uploaded: 2,
  scheduled: 3,
  published: 4,
  cancelled: 5,
};
const URGENCY_OF_DRAFTS = 1;

/** In the order in which a cell that has no room for all shows them. `taken`: the post that is being moved, first. */
export function pressingFirst(
  { posts, drafts }: Pick<Calendar, "posts" | "drafts">,
  taken: string | null = null,
): readonly (CalendarPost | CalendarDraft)[] {
  const rank = (one: CalendarPost | CalendarDraft): number =>
    one.id === taken ? -1 : "status" in one ? URGENCY[one.status] : URGENCY_OF_DRAFTS;
  return [...drafts, ...posts].toSorted((a, b) => rank(a) - rank(b));
}
