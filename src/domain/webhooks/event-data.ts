import * as z from "zod";
import { Said } from "../sentences.ts";

/** What an event about a draft tells. `accountIds`: all its channels. */
export const DraftEvent = z
  .strictObject({
    draftId: z.string(),
    title: z.string().nullable(),
    text: z.string().nullable().describe("Its caption."),
    accountIds: z.array(z.string()),
    scheduledAt: z.iso.datetime().nullable().describe("Null: at once, in slots, or repeated."),
    writtenBy: z.string().nullable().describe("Whose key wrote it."),
    decision: z
      .strictObject({
        what: z.enum(["approved", "changes", "discarded", "stopped"]),
        by: z.string().nullable(),
        note: z.string().nullable(),
      })
      .nullable()
      .describe("Null while it waits."),
    posts: z
      .array(
        z.strictObject({
          id: z.string(),
          accountId: z.string(),
          status: z.string(),
          platformUrl: z.string().nullable(),
          error: Said.nullable(),
        }),
      )
      .describe("What came of it. Empty before it is approved."),
  })
  .meta({ id: "DraftEvent" });
export type DraftEvent = z.input<typeof DraftEvent>;

const DigestPost = z.strictObject({
  id: z.string(),
  accountId: z.string(),
  provider: z.string(),
  text: z.string(),
  scheduledAt: z.iso.datetime(),
  error: Said.nullable(),
});

const digestPosts = (meaning: string) =>
  z.strictObject({ count: z.int(), posts: z.array(DigestPost) }).describe(`${meaning} The first ten.`);

/** The day, as it looks at eight in the morning. */
export const DigestEvent = z
  .strictObject({
    date: z.iso.date(),
    timezone: z.string(),
    today: digestPosts("What goes out today."),
    failed: digestPosts("What was due yesterday and failed."),
    results: z
      .array(
        DigestPost.pick({ id: true, accountId: true, provider: true, text: true }).extend({
          metrics: z.record(z.string(), z.int()),
        }),
      )
      .describe("What was told since yesterday of posts 24 hours after they went live. The first ten."),
    waitingDrafts: z.int().describe("Drafts that wait for a decision."),
    unknownOutcome: z.int().describe("Posts that may have gone out or not."),
    accountsToReconnect: z.array(z.strictObject({ id: z.string(), name: z.string(), provider: z.string() })),
  })
  .meta({ id: "DigestEvent" });
export type DigestEvent = z.input<typeof DigestEvent>;
