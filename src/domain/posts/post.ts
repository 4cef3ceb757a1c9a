import * as z from "zod";
import { Said } from "../sentences.ts";
import { POST_STATUSES } from "./post-states.ts";
import { Preview } from "./preview.ts";

/** Metadata as a caller gives it and as it is shown again. Each platform's schema says what it may hold. */
export const Metadata = z.record(z.string(), z.json()).meta({ id: "Metadata" });
export type Metadata = z.infer<typeof Metadata>;

/** A post as every face shows it: exactly these fields, always all present. */
export const Post = z
  .strictObject({
    id: z.string().describe("Post identifier."),
    accountId: z.string().describe("The account the post is on."),
    provider: z.string().describe("Platform name in lower case."),
    mediaUrl: z.string().describe('Location of the media. "" for a text-only post.'),
    scheduledAt: z.iso.datetime().describe("When the post goes live, UTC."),
    status: z.enum(POST_STATUSES),
    caption: z.string().nullable(),
    metadata: Metadata.nullable().describe("The platform's own fields, for example a title."),
    leadMinutes: z.int().nullable().describe("Minutes before scheduledAt it is uploaded."),
    platformPostId: z.string().nullable().describe("Identifier on the platform."),
    platformUrl: z.string().nullable().describe("Address on the platform."),
    error: Said.nullable().describe("Why it failed or waits, and what to do."),
    attempts: z.int().min(0).describe("How often it was tried."),
    publishedAt: z.iso.datetime().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: "Post" });
export type Post = z.infer<typeof Post>;
/** Before a face words it, as all of these. */
export type SaidPost = z.input<typeof Post>;

/**
 * What made a post late. `load`: nothing but other work of the publisher. `limit`: more was due than one
 * process works on at a time. `order`: an earlier post of the same channel had to be tried again first.
 */
export const LATE_CAUSES = [
  "no_worker",
  "account_busy",
  "spacing",
  "rate_limit",
  "retry",
  "order",
  "media",
  "clock",
  "limit",
  "channel",
  "load",
] as const;
export type LateCause = (typeof LATE_CAUSES)[number];

/** One try to bring a post onto its platform. */
export const Attempt = z
  .strictObject({
    id: z.string(),
    number: z.int().min(1),
    startedAt: z.iso.datetime(),
    finishedAt: z.iso.datetime().nullable().describe("Null while it runs, or when the process died in it."),
    outcome: z.enum([
      "running",
      "published",
      "uploaded",
      "waiting",
      "retrying",
      "failed",
      "unknown",
      "interrupted",
    ]),
    error: Said.nullable(),
    latenessMs: z.int().nullable().describe("Milliseconds after its due moment at which it was taken up."),
    lateCause: z.enum(LATE_CAUSES).nullable().describe("What made it late. Null: it was on time."),
    steps: z.array(
      z.strictObject({
        step: z.string(),
        state: z.enum(["intent", "done", "rejected", "not_sent", "unknown"]),
        startedAt: z.iso.datetime(),
        finishedAt: z.iso.datetime().nullable(),
      }),
    ),
  })
  .meta({ id: "Attempt" });
export type Attempt = z.infer<typeof Attempt>;
export type SaidAttempt = z.input<typeof Attempt>;

/** How far the films of a post are that its platform does not take as they are. */
export const Preparing = z.strictObject({
  percent: z.int().min(0).max(100),
  problem: Said.nullable().describe("Why it fails."),
});
export type Preparing = z.infer<typeof Preparing>;

/** Live numbers of one post, as the platform reports them. Null: not offered. Zero: zero. */
export const Insights = z
  .strictObject({
    available: z.boolean(),
    reason: Said.nullable().describe("Why it is not available."),
    fetchedAt: z.iso.datetime(),
    state: z.enum(["live", "private", "processing", "removed", "rejected", "unknown"]),
    visibility: z.string().nullable(),
    metrics: z.strictObject({
      views: z.int().nullable(),
      impressions: z.int().nullable(),
      reach: z.int().nullable(),
      likes: z.int().nullable(),
      comments: z.int().nullable(),
      shares: z.int().nullable(),
      saves: z.int().nullable(),
      clicks: z.int().nullable(),
    }),
  })
  .meta({ id: "Insights" });
export type Insights = z.infer<typeof Insights>;
/** Before a face has worded it. */
export type SaidInsights = z.input<typeof Insights>;

export type Metrics = Insights["metrics"];

/** Beside what a dry run shows. A post that it shows has no id. */
export const DryRun = z.literal(true).optional().describe("Set on a dry run.");

/** Beside it, on a dry run alone. */
export const DryRunPreview = Preview.optional().describe("What the platform will show.");

/** What became of one post of several that were to be scheduled. */
export const BatchResult = z.strictObject({
  index: z.int().describe("Place in posts, from 0."),
  post: Post.nullable(),
  warnings: z.array(Said),
  error: Said.nullable().describe("Why this one was not scheduled."),
  dryRun: DryRun,
  preview: DryRunPreview,
});
export type BatchResult = z.infer<typeof BatchResult>;
export type SaidBatchResult = z.input<typeof BatchResult>;
