import * as z from "zod";
import { Said } from "../sentences.ts";
import { Moment, Slot } from "../time-fields.ts";
import { optionalName, optionalText } from "../optional.ts";
import { planFields } from "../posts/plan.ts";
import { Preview } from "../posts/preview.ts";
import { POST_STATUSES } from "../posts/post-states.ts";
import { Metadata } from "../posts/post.ts";
import { Repeat, Series } from "./repeat.ts";

/**
 * `open`: being written. `waiting`: for a person's decision. `scheduled`: its posts are made. `repeating`: they
 * are made again and again. `ended`: such a series that is over.
 */
export const DRAFT_STATES = ["open", "waiting", "scheduled", "repeating", "ended", "discarded"] as const;
export type DraftState = (typeof DRAFT_STATES)[number];

/** What became of a draft's posts. `partly`: some failed. */
export const OUTCOMES = ["waiting", "published", "partly", "failed", "cancelled"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** A channel that a draft goes to. Null: as the draft has it. */
export const Target = z
  .strictObject({
    accountId: z.string(),
    caption: z.string().nullable(),
    mediaUrl: z.string().nullable(),
    metadata: Metadata.nullable().describe("Over the draft's, key by key."),
    scheduledAt: z.iso.datetime().nullable(),
  })
  .meta({ id: "Target" });
export type Target = z.infer<typeof Target>;

const By = z.strictObject({ keyId: z.string(), name: z.string().describe("The key's name.") });
export type By = z.infer<typeof By>;

/** What a person said of a draft. */
export const Decision = z.strictObject({
  what: z.enum(["approved", "changes", "discarded", "stopped"]),
  by: By,
  at: z.iso.datetime(),
  note: z.string().nullable(),
  revision: z.int().describe("The one that it is about."),
});
export type Decision = z.infer<typeof Decision>;

/** What scheduling on one channel would say. */
export const Check = z.strictObject({
  accountId: z.string(),
  error: Said.nullable().describe("Why it cannot be scheduled yet."),
  warnings: z.array(Said),
  preview: Preview.describe("What will be shown there."),
});
export type Check = z.infer<typeof Check>;
/** Before a face words it, as all of these. */
export type SaidCheck = z.input<typeof Check>;

/** Content with its channels, a time and a decision; once approved, the group of its posts. */
export const Draft = z
  .strictObject({
    id: z.string(),
    title: z.string().nullable(),
    state: z.enum(DRAFT_STATES),
    revision: z.int().min(1).describe("Rises with every change."),
    caption: z.string().nullable(),
    mediaUrl: z.string(),
    metadata: Metadata.nullable(),
    targets: z.array(Target),
    scheduledAt: z.iso.datetime().nullable(),
    slot: Slot.nullable(),
    repeat: Series.nullable(),
    labels: z.array(z.string()),
    note: z.string().nullable(),
    checks: z.array(Check).describe("One a channel, of the last change."),
    writtenBy: By,
    decision: Decision.nullable(),
    posts: z.array(
      z.strictObject({
        id: z.string(),
        accountId: z.string(),
        status: z.enum(POST_STATUSES),
        scheduledAt: z.iso.datetime(),
        platformUrl: z.string().nullable(),
        error: Said.nullable(),
      }),
    ),
    outcome: z.enum(OUTCOMES).nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: "Draft" });
export type Draft = z.infer<typeof Draft>;
export type SaidDraft = z.input<typeof Draft>;

const MAX_TARGETS = 50;
const fields = z.record(z.string(), z.json());
const scheduledAt = Moment.describe("ISO 8601. Without an offset: in the owner's time zone.");

const TargetInput = z.strictObject({
  accountId: z.string().describe("A channel: id, name, handle or platform."),
  caption: z.string().min(0).max(100_000).nullable().optional().describe("Another text here. Empty: none."),
  mediaUrl: z.string().min(0).max(4_096).nullable().optional().describe("Another medium here. Empty: none."),
  metadata: fields.nullable().optional().describe("Over the shared fields, key by key."),
  scheduledAt: scheduledAt.nullable().optional().describe("Another time here."),
});
export type TargetInput = z.infer<typeof TargetInput>;

/** The body of `save_draft`. What is left out stays; null empties, and for a text an empty one, too. */
export const SaveDraft = z.strictObject({
  id: optionalName(100).describe("The draft to change. Left out: a new one."),
  revision: z.int().min(1).optional().describe("With id: the revision you saw."),
  title: z.string().max(300).nullable().optional().describe("Never published."),
  caption: z.string().max(100_000).nullable().optional().describe("The text for all channels."),
  mediaUrl: z.string().max(4_096).nullable().optional().describe("As in schedule_post."),
  metadata: fields
    .nullable()
    .optional()
    .describe("Fields for all channels, as in schedule_post. Merged key by key."),
  targets: z.array(TargetInput).max(MAX_TARGETS).optional().describe("Where it goes. Replaces the list."),
  scheduledAt: scheduledAt.nullable().optional().describe("When. No time, slot or repeat: once approved."),
  slot: Slot.nullable().optional().describe("The next free slot of each channel."),
  repeat: Repeat.nullable().optional().describe("A series."),
  labels: planFields.labels,
  note: planFields.note.unwrap().nullable().optional().describe("For people who plan. Never published."),
  submit: z.boolean().optional().describe("Ask a person to decide."),
});
export type SaveDraft = z.infer<typeof SaveDraft>;

export const DECISIONS = ["approve", "changes", "discard", "stop"] as const;

/** The body of `decide_draft`. */
export const DecideDraft = z.strictObject({
  id: z.string().optional().describe("From list_drafts."),
  revision: z.int().min(1).optional().describe("The one that the person saw."),
  drafts: z
    .array(
      z.strictObject({ id: z.string().describe("Its id."), revision: z.int().min(1).describe("As seen.") }),
    )
    .min(1)
    .max(50)
    .optional()
    .describe("Several, instead of id and revision."),
  decision: z
    .enum(DECISIONS)
    .describe("approve: per draft all or none. changes: back to the writer. stop: ends a series."),
  note: optionalText(2_000).describe("Why, or what to change."),
  scheduledAt: scheduledAt.optional().describe("With approve: another time for all."),
  slot: Slot.optional().describe("With approve: the next free slots instead."),
});
export type DecideDraft = z.infer<typeof DecideDraft>;

/** What became of one of several. */
export const DecidedDraft = z.strictObject({
  id: z.string(),
  draft: Draft.nullable(),
  error: Said.nullable(),
});
export type DecidedDraft = z.infer<typeof DecidedDraft>;
export type SaidDecidedDraft = z.input<typeof DecidedDraft>;

/** Which drafts. */
export const ListDraftsArgs = z.strictObject({
  id: optionalName(100).describe("Only this one."),
  state: z.array(z.enum(DRAFT_STATES)).min(1).optional().describe("Only these states."),
  label: optionalName(50).describe("Only with this label."),
  accountId: optionalName(300).describe("Only those for this channel."),
  search: optionalText(500).describe("Words in texts, title, labels or note."),
  limit: z.int().min(1).max(500).default(20).describe("Drafts per page."),
  cursor: z.string().optional().describe("nextCursor of the previous page."),
});
export type ListDraftsArgs = z.infer<typeof ListDraftsArgs>;

/** A page of drafts. */
export const DraftPage = z.strictObject({
  drafts: z.array(Draft).describe("Last changed first."),
  nextCursor: z.string().nullable().describe("Null on the last page."),
});
export type DraftPage = z.infer<typeof DraftPage>;
export type SaidDraftPage = z.input<typeof DraftPage>;

/** The first text that goes out: texts that take turns stand in for the text of all. Null: there is none. */
export function firstTextOf({
  caption,
  targets,
  repeat,
}: {
  readonly caption: string | null;
  readonly targets: readonly { readonly caption: string | null }[];
  readonly repeat: { readonly texts?: readonly string[] | undefined } | null;
}): string | null {
  const own = targets.find((target) => target.caption !== null)?.caption ?? null;
  return repeat?.texts?.[0] ?? caption ?? own;
}

/** What became of posts, together. Null: there are none. */
export function outcomeOf(statuses: readonly string[]): Outcome | null {
  if (statuses.length === 0) return null;
  const live = statuses.filter((status) => status !== "cancelled");
  if (live.length === 0) return "cancelled";
  const failed = live.filter((status) => status === "failed").length;
  if (failed === live.length) return "failed";
  if (failed > 0) return "partly";
  return live.every((status) => status === "published") ? "published" : "waiting";
}

/** Posts of a draft by their times, and of one time in the order of the channels. */
export function inOrder<Post extends { readonly account_id: string; readonly scheduled_at: number }>(
  posts: readonly Post[],
  targets: readonly Target[],
): readonly Post[] {
  const ids = targets.map(({ accountId }) => accountId);
  const place = ({ account_id: id }: Post): number => ids.indexOf(id);
  return posts.toSorted((a, b) => a.scheduled_at - b.scheduled_at || place(a) - place(b));
}
