import { parseSearch } from "../../src/domain/text/compare-words.ts";
import type { PostStatus } from "../../src/domain/posts/post-states.ts";
import type { PostFilter } from "../../src/store/engine/search.ts";
import { BENCH_OWNER, listAccounts } from "./corpus.ts";

/** Pages and searches that are measured, on either engine. */

export const CALLS_A_ROUND = 20;
/** Share of all time that lies before the page: a page far back must cost what the first one costs. */
const DEPTHS = [1, 0.75, 0.5, 0.1];
const SPAN = { start: Date.UTC(2024, 0, 1), end: Date.UTC(2026, 11, 31) };
const DAY = 24 * 60 * 60_000;

export interface Case {
  readonly name: string;
  readonly limit?: number;
  readonly search?: string;
  readonly accounts?: readonly string[];
  readonly providers?: readonly string[];
  readonly statuses?: readonly PostStatus[];
  readonly days?: number;
}

const own = listAccounts().filter((account) => account.ownerId === BENCH_OWNER);
const [hot = "", ...rest] = own.map((account) => account.id);
const cold = rest.at(-1) ?? "";
const fifty = rest.filter((_, at) => at % 7 === 0).slice(0, 50);
const hundred = rest.slice(0, 100);

const WORDS: readonly (readonly [string, string])[] = [
  ["20 posts", "unicorns"],
  ["0.1 %", "thousandth"],
  ["1 %", "percentile"],
  ["10 %", "tenfold"],
  ["50 %", "evergreen"],
  ["two words 50 % and 10 %", "evergreen tenfold"],
  ["two words rare and 50 %", "unicorns evergreen"],
  ["one letter", "s"],
  ["one rare letter", "z"],
  ["two letters", "st"],
  ["three letters", "pro"],
  ["four letters", "mora"],
  ["five letters", "stano"],
  ["three times one letter", "m p t"],
  ["number prefix", "order12"],
  ["long number prefix", "order12345"],
  ["CJK 1", "一"],
  ["CJK 1 rare", "嘿"],
  ["CJK 2", "一丁"],
  ["CJK 4", "一丁丂七"],
  ["emoji 2 %", "🎉"],
  ["emoji 0.01 %", "🦄"],
  ["50%off", "50%off"],
  ["C:\\temp", "C:\\temp"],
  ["#launch-d", "#launch-d"],
  ["full stop", "."],
  ["accent", "é"],
  ["no hit", "nowhereatall"],
  ["no hit, compound", "evergreen%tenfold"],
];

export const CASES: readonly Case[] = [
  { name: "no filter, 50" },
  { name: "no filter, 100", limit: 100 },
  { name: "no filter, 500", limit: 500 },
  { name: "one day", days: 1 },
  { name: "hot account", accounts: [hot] },
  { name: "cold account", accounts: [cold] },
  { name: "50 accounts", accounts: fifty },
  { name: "100 accounts", accounts: hundred },
  { name: "provider", providers: ["youtube"] },
  { name: "three providers", providers: ["youtube", "feed", "bluesky"] },
  ...(["scheduled", "failed", "uploaded", "publishing"] as const).map((status): Case => ({
    name: `status ${status}`,
    statuses: [status],
  })),
  { name: "three statuses", statuses: ["failed", "uploaded", "publishing"] },
  { name: "hot account, publishing", accounts: [hot], statuses: ["publishing"] },
  { name: "cold account, failed", accounts: [cold], statuses: ["failed"] },
  { name: "50 accounts, three statuses", accounts: fifty, statuses: ["failed", "uploaded", "publishing"] },
  {
    name: "100 accounts, four statuses",
    accounts: hundred,
    statuses: ["failed", "uploaded", "publishing", "scheduled"],
  },
  { name: "provider, publishing", providers: ["youtube"], statuses: ["publishing"] },
  { name: "provider, failed, 30 days", providers: ["youtube"], statuses: ["failed"], days: 30 },
  ...WORDS.flatMap(([name, search]): Case[] => [
    { name: `search ${name}`, search },
    { name: `search ${name}, 500`, search, limit: 500 },
    { name: `search ${name}, hot account`, search, accounts: [hot] },
    { name: `search ${name}, cold account`, search, accounts: [cold] },
    { name: `search ${name}, 50 accounts`, search, accounts: fifty },
    { name: `search ${name}, published`, search, statuses: ["published"] },
    { name: `search ${name}, failed`, search, statuses: ["failed"] },
    { name: `search ${name}, uploaded`, search, statuses: ["uploaded"] },
    { name: `search ${name}, publishing`, search, statuses: ["publishing"] },
    { name: `search ${name}, hot account, failed`, search, accounts: [hot], statuses: ["failed"] },
    { name: `search ${name}, hot account, uploaded`, search, accounts: [hot], statuses: ["uploaded"] },
    { name: `search ${name}, cold account, published`, search, accounts: [cold], statuses: ["published"] },
    { name: `search ${name}, provider, 30 days`, search, providers: ["youtube"], days: 30 },
  ]),
];

export function depthOf(call: number): number {
  return DEPTHS[call % DEPTHS.length] ?? 1;
}

/** The moment before which this share of all time lies. */
export function momentAt(depth: number): number {
  return Math.floor(SPAN.start + (SPAN.end - SPAN.start) * depth);
}

export function toFilter(
  { search = "", accounts, providers, statuses, days }: Case,
  depth: number,
): PostFilter {
  const to = days === undefined ? null : momentAt(depth);
  return {
    ownerId: BENCH_OWNER,
    accountIds: accounts ?? null,
    providers: providers ?? null,
    statuses: statuses ?? null,
    terms: parseSearch(search),
    from: to === null ? null : to - (days ?? 0) * DAY,
    to,
  };
}
