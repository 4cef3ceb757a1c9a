import * as z from "zod";
import { Said } from "../sentences.ts";
import { optionalBounds, optionalName, optionalNames } from "../optional.ts";
import { DAY, HOUR, MINUTE } from "../time.ts";

/** What is known of a live post, in the order in which it is packed. */
export const METRICS = [
  "views",
  "impressions",
  "reach",
  "likes",
  "comments",
  "shares",
  "saves",
  "clicks",
] as const;
export type Metric = (typeof METRICS)[number];

/**
 * When a post is looked at after it went live. `spreadMs`: the moment is somewhere within, another one for each
 * post. `withinMs`: what was not asked by then is left out, as it would not compare with the others.
 */
export const AGES = [
  { name: "1h", column: "h1", afterMs: HOUR, spreadMs: 10 * MINUTE, withinMs: 30 * MINUTE },
  { name: "24h", column: "h24", afterMs: DAY, spreadMs: HOUR, withinMs: 6 * HOUR },
  { name: "7d", column: "d7", afterMs: 7 * DAY, spreadMs: HOUR, withinMs: DAY },
  { name: "30d", column: "d30", afterMs: 30 * DAY, spreadMs: HOUR, withinMs: 3 * DAY },
] as const;
export type AgeColumn = (typeof AGES)[number]["column"];

/** Comparing fewer posts than this says nothing. */
export const FEW_POSTS = 20;

/** What a post shows; `several`: more than one. */
export const MEDIA_TYPES = ["text", "image", "video", "audio", "document", "several", "other"] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

/** Those that a single file is of. */
export const FILE_MEDIA = ["image", "video", "audio", "document"] as const satisfies readonly MediaType[];

const GROUPS = ["post", "account", "label", "weekdayHour", "mediaType"] as const;
export type ReportBy = (typeof GROUPS)[number];

/** Which posts, put together how. */
export const ReportArgs = z.strictObject({
  ...optionalBounds("Live"),
  accountId: optionalNames(500).describe("Only these channels."),
  label: optionalName(50).describe("Only with this label."),
  by: z.enum(GROUPS).default("post").describe("A row for each."),
  metric: z.enum(METRICS).optional().describe("Orders rows. Default: the commonest."),
  at: z
    .enum(AGES.map(({ name }) => name))
    .default("24h")
    .describe("So long after a post went live."),
  limit: z.int().min(1).max(500).default(20).describe("Rows."),
});
export type ReportArgs = z.infer<typeof ReportArgs>;

const Figure = z.strictObject({
  sum: z.number(),
  median: z.number(),
  posts: z.int(),
});

export const ReportRow = z.strictObject({
  key: z.string(),
  posts: z.int(),
  sampled: z.int(),
  metrics: z.record(z.string(), Figure.nullable()),
  post: z
    .strictObject({
      accountId: z.string(),
      publishedAt: z.iso.datetime(),
      text: z.string(),
      mediaUrl: z.string(),
      platformUrl: z.string().nullable(),
    })
    .optional(),
});
export type ReportRow = z.infer<typeof ReportRow>;

/** What worked. */
export const Report = z.strictObject({
  rows: z.array(ReportRow).describe("Best first. sampled: posts with the metric. Null is not 0."),
  metric: z.string().describe("Orders rows."),
  from: z.iso.datetime().describe("Start."),
  to: z.iso.datetime().describe("End."),
  timezone: z.string().describe("Zone of dates."),
  note: z.string().nullable().describe("What forbids conclusions. Tell it."),
  unavailable: z
    .array(z.strictObject({ accountId: z.string(), metric: z.string(), reason: Said }))
    .describe("Channels without the metric."),
});
export type Report = z.infer<typeof Report>;

/** When a snapshot may be taken at last. */
function endOf(at: number, step: number): number {
  const age = AGES[step];
  return age === undefined ? -Infinity : at + age.afterMs + age.withinMs;
}

/**
 * The next snapshot of a post from this step on that is not too late, and its moment. `spread`: from 0 to 1, the
 * same for each of the post's. Null: there is none any more.
 */
export function nextSnapshot(
  { at, spread }: { readonly at: number; readonly spread: number },
  step: number,
  now: number,
): { readonly step: number; readonly nextAt: number } | null {
  const next = AGES.findIndex((_, one) => one >= step && endOf(at, one) > now);
  const age = AGES[next];
  return age === undefined
    ? null
    : { step: next, nextAt: at + age.afterMs + Math.floor(spread * age.spreadMs) };
}

/** Figures as they are stored: `120,,,5,,,,`. */
export function packFigures(metrics: Readonly<Partial<Record<Metric, number | null>>>): string {
  return METRICS.map((name) => {
    const value = metrics[name] ?? null;
    return value === null || !Number.isSafeInteger(value) || value < 0 ? "" : String(value);
  }).join(",");
}

export function unpackFigures(packed: string): Partial<Record<Metric, number>> {
  const values = packed.split(",");
  return Object.fromEntries(
    METRICS.flatMap((name, at) => ((values[at] ?? "") === "" ? [] : [[name, Number(values[at])]])),
  );
}
