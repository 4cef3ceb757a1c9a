import type { ImportArgs, RowWarning } from "../../domain/posts/post-import.ts";
import { plural } from "../../domain/text/plain-text.ts";
import { type Said, say } from "../../domain/sentences.ts";
import type { PostBody } from "../../domain/posts/post-body.ts";
import type { PostStatus } from "../../domain/posts/post-states.ts";
import { type MadePost, statesOfDrafts } from "../../store/queries/imported-rows.ts";
import type { CallContext } from "../../context.ts";
import type { ReadRow } from "./read-rows.ts";

/*
 * A row is made into a post or a draft once. Where it is a draft, or a post that is cancelled, the counts alone would
 * read as if it were planned.
 */

/** A good row; `id`: the post or draft that it is already. */
interface KnownRow extends Pick<ReadRow, "line" | "body" | "scheduledAt"> {
  readonly id: string | null;
  /** That post as it is. */
  readonly post?: MadePost | undefined;
}

const MADE = say("Drafts that wait for a person: nothing of them goes out before they approve.", {
  next: [{ do: "approve_drafts" }],
});

/** What is said of rows that are drafts or posts already, by what became of those. */
export async function describeExisting(
  call: CallContext,
  args: Pick<ImportArgs, "as">,
  rows: readonly KnownRow[],
): Promise<RowWarning[]> {
  const existing = rows.flatMap((row) => (row.id === null ? [] : [{ ...row, id: row.id }]));
  const drafts = existing.filter(({ id }) => id.startsWith("dft_"));
  return [...(await describeDrafts(call, args, drafts)), ...describePosts(args, existing)];
}

interface ExistingRow extends KnownRow {
  readonly id: string;
}

async function describeDrafts(
  { ctx, caller }: CallContext,
  { as }: Pick<ImportArgs, "as">,
  drafts: readonly ExistingRow[],
): Promise<RowWarning[]> {
  if (drafts.length === 0) return [];
  const states = await statesOfDrafts(
    ctx.store,
    caller.ownerId,
    drafts.map(({ id }) => id),
  );
  const inState = (...wanted: readonly (string | undefined)[]): { readonly line: number }[] =>
    drafts.filter(({ id }) => wanted.includes(states.get(id)));
  const not = as === "posts" ? "not scheduled" : "not made again";
  return [
    ...about(inState("open", "waiting"), (count) =>
      say(
        `${count} ${of(count, "is a draft", "are drafts")} already, from an earlier import, so ${not}. A person approves drafts.`,
        { next: [{ do: "approve_drafts" }] },
      ),
    ),
    ...about(
      inState("discarded"),
      (count) =>
        `${count} ${of(count, "was a draft that was", "were drafts that were")} discarded, so ${not}. Where one is wanted after all, change its row, then import again.`,
    ),
  ];
}

const WANTED = "Where one is wanted after all, change its row, then import again.";

function describePosts({ as }: Pick<ImportArgs, "as">, rows: readonly ExistingRow[]): RowWarning[] {
  const those = (fits: (post: MadePost) => boolean): readonly ExistingRow[] =>
    rows.filter(({ post }) => post !== undefined && fits(post));
  const not = as === "posts" ? "not scheduled again" : "no draft was made";
  const tell = (found: readonly ExistingRow[], words: (count: string) => Said): RowWarning[] =>
    about(found, (count) => words(`${count}${linesOf(found)}`));
  const failed = those(({ status }) => status === "failed");
  const again = { do: "send_again", postIds: failed.slice(0, MAX_LINES).map(({ id }) => id) } as const;
  return [
    ...tell(
      those(({ status, published_at: at }) => status === "cancelled" && at === null),
      (count) =>
        `${count} ${of(count, "was a post that was", "were posts that were")} cancelled, so ${not}. ${WANTED}`,
    ),
    ...tell(
      those(isTakenDownPost),
      (count) =>
        `${count} ${of(count, "was a post that was", "were posts that were")} live and taken down, so ${not}. ${WANTED}`,
    ),
    ...tell(failed, (count) =>
      say(
        `${count} ${of(count, "is a post that", "are posts that")} failed, so ${not}. A failed post can be sent again.`,
        { next: [again] },
      ),
    ),
    ...tell(
      those(({ status }) => OUT.includes(status)),
      (count) =>
        `${count} ${of(count, "is a post that is", "are posts that are")} out or under way already, so ${not}.`,
    ),
    ...(as === "posts" ? describeWaiting(those(({ status }) => status === "scheduled")) : []),
    ...describeOneOfBoth(rows),
    ...tell(as === "drafts" ? those(({ status }) => status === "scheduled") : [], (count) =>
      say(
        `${count} ${of(count, "is a post already, which goes", "are posts already, which go")} out at the planned time without an approval, so ${not}.`,
        { next: [{ do: "see", of: "posts" }] },
      ),
    ),
  ];
}

function describeWaiting(rows: readonly ExistingRow[]): RowWarning[] {
  const changed = rows.filter(isChanged);
  const [first] = changed;
  const lines = rows.length === 1 ? "" : linesOf(changed) || ` (line ${first?.line})`;
  const differ =
    first === undefined
      ? ""
      : ` ${rows.length === 1 ? "It was" : `${changed.length} of them ${changed.length === 1 ? "was" : "were"}`} changed since${lines}: rows shows what the post is now, not what the table says.`;
  return about(
    rows,
    (count) =>
      `${count}${linesOf(rows)} ${of(count, "is a post", "are posts")} already, so not scheduled again.${differ}`,
  );
}

/** Whether a post says something else now, or at another time, than its row does. */
function isChanged({ post, body, scheduledAt }: ExistingRow): boolean {
  if (post === undefined || post.updated_at === post.created_at) return false;
  return (
    post.caption !== (body.caption ?? null) || (scheduledAt !== null && post.scheduled_at !== scheduledAt)
  );
}

/** Rows that differ, and stand for one post all the same. */
function describeOneOfBoth(rows: readonly ExistingRow[]): RowWarning[] {
  const first = new Map(rows.toReversed().map(({ id, line }) => [id, line]));
  const again = rows.filter(({ id, line }) => first.get(id) !== line);
  const told = again.map(({ id, line }) => `line ${line} is the one of line ${first.get(id)}`);
  const more = told.length > MAX_LINES ? `, and ${told.length - MAX_LINES} more` : "";
  return about(
    again,
    () => `Rows that differ are one post already: ${told.slice(0, MAX_LINES).join(", ")}${more}.`,
  );
}

const OUT: readonly PostStatus[] = ["publishing", "uploaded", "published"];

function isTakenDownPost({ status, published_at: at }: MadePost): boolean {
  return status === "cancelled" && at !== null;
}

/** So many are named. */
const MAX_LINES = 20;

/** Which of the file, where they are several. */
function linesOf(rows: readonly ExistingRow[]): string {
  if (rows.length < 2) return "";
  const more = rows.length > MAX_LINES ? ` and ${rows.length - MAX_LINES} more` : "";
  const lines = rows.slice(0, MAX_LINES).map(({ line }) => line);
  return ` (lines ${lines.join(", ")}${more})`;
}

/** Where nothing tells when. */
const NO_TIME = say(
  "The table has no time, so neither have its drafts: what is approved goes out at once. A person can give a time with the approval.",
);

/** After rows were made into drafts. */
export function describeMade(
  { as }: Pick<ImportArgs, "as">,
  rows: readonly { readonly line: number; readonly mark: string }[],
  made: ReadonlySet<string>,
): RowWarning[] {
  const drafts = as === "drafts" ? rows.filter(({ mark }) => made.has(mark)) : [];
  return about(drafts, () => MADE);
}

/** Of rows that say nothing of a time, as only drafts may. */
export function describeUntimed(
  rows: readonly { readonly line: number; readonly body: Pick<PostBody, "scheduledAt" | "slot"> }[],
): RowWarning[] {
  return about(
    rows.filter(({ body }) => isUntimed(body)),
    () => NO_TIME,
  );
}

export function isUntimed({ scheduledAt, slot }: Pick<PostBody, "scheduledAt" | "slot">): boolean {
  return scheduledAt === undefined && slot === undefined;
}

function about(rows: readonly { readonly line: number }[], tell: (count: string) => Said): RowWarning[] {
  const [first] = rows;
  if (first === undefined) return [];
  return [{ line: first.line, rows: rows.length, warning: tell(plural(rows.length, "row")) }];
}

function of(count: string, one: string, several: string): string {
  return count.startsWith("1 ") ? one : several;
}
