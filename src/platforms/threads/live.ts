import * as z from "zod";
import type { Metrics } from "../../domain/posts/post.ts";
import { DAY, SECOND } from "../../domain/time.ts";
import { Id } from "../../ports/platform-values.ts";
import type { Choice, Inspection, PlatformAnalytics, PostInsights } from "../../ports/platform.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { inspectAccount } from "../shared/meta/accounts.ts";
import { Created, dayBefore } from "../shared/meta/graph.ts";
import { needScope } from "../shared/consent.ts";
import { apiOf, ask, askOrGone, MILD, NOT_ALLOWED, sendOrGone } from "./api.ts";
import type { ThreadsPost } from "./metadata.ts";
import { publishStep } from "./publish.ts";
import { idReader } from "../shared/live.ts";

export function inspect(io: PlatformIo): Promise<Inspection> {
  const limit = "me/threads_publishing_limit";
  return inspectAccount(apiOf(io), { me: "me", picture: "threads_profile_picture_url", limit });
}

const Numbers = z.looseObject({
  data: z.array(
    z.looseObject({
      name: z.string(),
      values: z.array(z.looseObject({ value: z.number(), end_time: z.string().optional() })).optional(),
      total_value: z.looseObject({ value: z.number() }).optional(),
      link_total_values: z.array(z.looseObject({ value: z.number() })).optional(),
    }),
  ),
});

const idOf = idReader("is not the id of a post on Threads, so it cannot be found there.", /^\d+$/);

export async function insights(post: ThreadsPost, io: PlatformIo): Promise<PostInsights> {
  const id = idOf(post);
  if ((await askOrGone(io, { path: id, query: { fields: "id" } }, Created)) === null)
    return { state: "removed", visibility: null, metrics: {} };
  return { state: "live", visibility: "public", metrics: await readNumbers(io, id) };
}

function needNumbers(io: PlatformIo): void {
  needScope(io, ["threads_manage_insights"], NOT_ALLOWED);
}

async function readNumbers(io: PlatformIo, id: string): Promise<Partial<Metrics>> {
  const query = { metric: "views,likes,replies,reposts,quotes,shares" };
  try {
    needNumbers(io);
    const { data } = await ask(io, { path: `${id}/insights`, query, rules: MILD }, Numbers);
    const all = new Map(data.map(({ name, values }) => [name, values?.[0]?.value]));
    const shares = ["reposts", "quotes", "shares"].flatMap((name) => all.get(name) ?? []);
    const metrics = { views: all.get("views"), likes: all.get("likes"), comments: all.get("replies") };
    return {
      ...Object.fromEntries(Object.entries(metrics).filter(([, value]) => value !== undefined)),
      ...(shares.length === 0 ? {} : { shares: shares.reduce((sum, value) => sum + value, 0) }),
    };
  } catch (error) {
    if (!(error instanceof PlatformFault) || error.kind !== "rejected") throw error;
    io.log.warn({ id, err: error }, "Threads did not give the numbers of a post");
    return {};
  }
}

export const ACCOUNT_METRICS = ["followers", "views", "likes", "comments", "shares", "clicks"] as const;

/** The first day that Threads has numbers of. */
const FIRST_SECOND = 1_712_991_600;

/** Views by day, and the sums of the whole time. */
export async function analytics(
  range: { from: string; to: string },
  io: PlatformIo,
): Promise<PlatformAnalytics> {
  needNumbers(io);
  const since = Math.max(Math.floor(Date.parse(range.from) / SECOND), FIRST_SECOND);
  const until = Math.floor((Date.parse(range.to) + DAY) / SECOND);
  const query = { metric: "views,likes,replies,reposts,quotes,clicks,followers_count", since, until };
  const { data } = await ask(io, { path: "me/threads_insights", query, rules: MILD }, Numbers);
  const sums = new Map<string, number>();
  for (const { name, values, total_value: total, link_total_values: links } of data) {
    const parts = total === undefined ? (values ?? links ?? []).map(({ value }) => value) : [total.value];
    if (parts.length > 0)
      sums.set(
        name,
        parts.reduce((sum, value) => sum + value, 0),
      );
  }
  const named = {
    followers: sums.get("followers_count"),
    views: sums.get("views"),
    likes: sums.get("likes"),
    comments: sums.get("replies"),
    shares:
      sums.has("reposts") || sums.has("quotes")
        ? (sums.get("reposts") ?? 0) + (sums.get("quotes") ?? 0)
        : undefined,
    clicks: sums.get("clicks"),
  };
  const totals: Record<string, number> = {};
  for (const [name, value] of Object.entries(named)) if (value !== undefined) totals[name] = value;
  const unavailable = ACCOUNT_METRICS.filter((name) => totals[name] === undefined).map((metric) => ({
    metric,
    reason: "Threads has no numbers for this period.",
  }));
  const views = data.find(({ name }) => name === "views")?.values ?? [];
  return { totals, days: views.flatMap(dayOf), unavailable };
}

function dayOf({ value, end_time: end }: { value: number; end_time?: string | undefined }) {
  const date = dayBefore(end);
  return date === null ? [] : [{ date, metrics: { views: value } }];
}

const Places = z.looseObject({
  data: z.array(
    z.looseObject({
      id: Id,
      name: z.string(),
      address: z.string().nullish().catch(null),
      city: z.string().nullish().catch(null),
    }),
  ),
});

/** Places by a word of their names. https://developers.facebook.com/documentation/threads/create-posts/location-tagging */
export async function places(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  if (search === "") return [];
  const query = { q: search, fields: "id,name,address,city" };
  const { data } = await ask(io, { path: "location_search", query, rules: MILD }, Places);
  return data.map(({ id, name, address, city }) => ({
    value: id,
    label: [name, address, city].filter((one) => (one ?? "") !== "").join(", "),
  }));
}

/** The whole thread, its last post first. */
export async function remove(post: ThreadsPost, io: PlatformIo): Promise<void> {
  const parts = (post.metadata.thread ?? []).map((_part, at) => io.resultOf(publishStep(at + 2)));
  const ids = [idOf(post), ...parts.filter((id) => typeof id === "string")];
  for (const id of ids.toReversed()) await sendOrGone(io, { method: "DELETE", path: id, isIdempotent: true });
}
