import { sql, type Selectable } from "kysely";
import { fromStoredOrNull, say } from "../../domain/sentences.ts";
import { AppError } from "../../domain/errors.ts";
import type { Metadata, SaidPost } from "../../domain/posts/post.ts";
import { assertAgrees, conflictSentence, TRANSITIONS, type Trigger } from "../../domain/posts/post-states.ts";
import { toIso, toIsoOrNull } from "../../domain/time.ts";
import { RESTORED_STEP } from "../engine/ledger.ts";
import type { ShownRow, PostRow, Tables } from "../schema/tables.ts";
import { findRow, indexOf, listRows, queryOf } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";
import { notePosts } from "./events.ts";
import { countFileUses } from "./files.ts";
import { standingOf } from "./publishing/standing.ts";
import { insertPlan, type NewPlan, wordsBeside, wordsOf } from "./plans.ts";
import { tokensOf } from "./search.ts";

export function toPost(row: ShownRow): SaidPost {
  return {
    id: row.id,
    accountId: row.account_id,
    provider: row.provider,
    mediaUrl: row.media_url,
    scheduledAt: toIso(row.scheduled_at),
    status: row.status,
    caption: row.caption,
    metadata: readMetadata(row),
    leadMinutes: row.lead_minutes,
    platformPostId: row.platform_post_id,
    platformUrl: row.platform_url,
    error: fromStoredOrNull(row.error, row.id),
    attempts: row.attempts,
    publishedAt: toIsoOrNull(row.published_at),
    createdAt: toIso(row.created_at),
    updatedAt: toIso(row.updated_at),
  };
}

export function readMetadata(row: Pick<PostRow, "metadata">): Metadata | null {
  return row.metadata === null ? null : (JSON.parse(row.metadata) as Metadata);
}

/** What is stored for a post; times are milliseconds. */
export interface PostContentRow {
  readonly media_url: string;
  readonly caption: string | null;
  readonly metadata: string | null;
  readonly lead_minutes: number | null;
  readonly scheduled_at: number;
  readonly due_at: number;
  readonly content_hash: string;
  readonly is_light: number;
  readonly file_ids: string | null;
}

export interface NewPost extends PostContentRow {
  readonly id: string;
  readonly owner_id: string;
  readonly account_id: string;
  readonly provider: string;
  readonly created_at: number;
}

/** The row that a new post begins as. */
export function freshRow(post: NewPost): PostRow {
  return {
    ...post,
    next_at: post.due_at,
    status: "scheduled",
    platform_post_id: null,
    platform_url: null,
    error: null,
    in_doubt: 0,
    attempts: 0,
    tries: 0,
    run: 1,
    fence: 0,
    lease_worker: null,
    published_at: null,
    slot_at: null,
    warnings: null,
    updated_at: post.created_at,
  };
}

/** `plan`: what a plan says of it. Null: nothing. */
export async function insertPost(tx: Tx, row: PostRow, plan: NewPlan | null = null): Promise<void> {
  await insertPosts(tx, [{ row, plan }]);
}

/** Makes a post findable by its words, and those that a plan says of it. */
export async function indexPost(tx: Tx, row: Pick<PostRow, "id" | "caption" | "metadata">): Promise<void> {
  await putIntoIndex(tx, row, (await wordsBeside(tx, [row.id])).get(row.id) ?? []);
}

function putIntoIndex(
  tx: Tx,
  { id, caption, metadata }: Pick<PostRow, "id" | "caption" | "metadata">,
  beside: readonly string[],
): Promise<void> {
  return indexOf(tx).put(tx, id, tokensOf({ caption, metadata: readMetadata({ metadata }), beside }));
}

/** Below both engines' limits of values in a statement. */
const INSERTED_TOGETHER = 200;

/** The same for many. */
export async function insertPosts(
  tx: Tx,
  posts: readonly { readonly row: PostRow; readonly plan: NewPlan | null }[],
): Promise<void> {
  for (let at = 0; at < posts.length; at += INSERTED_TOGETHER) {
    const some = posts.slice(at, at + INSERTED_TOGETHER);
    await queryOf(tx)
      .insertInto("posts")
      .values(some.map(({ row }) => row))
      .execute();
    for (const { row, plan } of some) {
      if (plan !== null) await insertPlan(tx, row, plan);
      await putIntoIndex(tx, row, plan === null ? [] : wordsOf(plan));
    }
    const rows = some.map(({ row }) => row);
    await countFileUses(tx, { before: [], after: rows });
    await notePosts(tx, rows);
  }
}

/** The post, or null for one that does not exist or belongs to another owner. */
export async function findPost(reader: Reader, ownerId: string, id: string): Promise<PostRow | null> {
  return (await findRow(reader, "posts", { id, owner_id: ownerId })) ?? null;
}

/** Reads the post and locks it until the transaction ends. Null for a missing post, or another owner's. */
export async function lockPost(tx: Tx, ownerId: string, id: string): Promise<PostRow | null> {
  const row = await queryOf(tx)
    .selectFrom("posts")
    .selectAll()
    .where("id", "=", id)
    .where("owner_id", "=", ownerId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row ?? null;
}

/** Those of these posts that are the owner's, in the order of their times. */
export function findPosts(reader: Reader, ownerId: string, ids: readonly string[]): Promise<PostRow[]> {
  return queryOf(reader)
    .selectFrom("posts")
    .selectAll()
    .where("owner_id", "=", ownerId)
    .where("id", "in", ids)
    .orderBy("scheduled_at")
    .orderBy("id")
    .execute();
}

export interface TransitionSet extends Partial<PostContentRow> {
  readonly next_at?: number | null;
  readonly platform_post_id?: string | null;
  readonly platform_url?: string | null;
  readonly error?: string | null;
  readonly in_doubt?: number;
  readonly tries?: number;
  readonly run?: number;
  readonly published_at?: number | null;
  readonly slot_at?: number | null;
  readonly updated_at: number;
}

/**
 * The only function by which use cases write `status`: a single UPDATE that names the states it may come from.
 * Throws `not_found` for a foreign or missing post, `conflict` for one in another state or one that a publisher
 * holds.
 */
export async function transition(
  tx: Tx,
  post: { ownerId: string; id: string },
  trigger: Trigger,
  set: TransitionSet,
): Promise<PostRow> {
  const { from, to } = TRANSITIONS[trigger];
  const before = await lockPost(tx, post.ownerId, post.id);
  if (before === null) throw postNotFound(post.id);
  const row = await queryOf(tx)
    .updateTable("posts")
    // The fence tells others that what they have read is not the post any more.
    .set({
      ...set,
      ...slotOf(set),
      ...(to === null ? {} : { status: to }),
      fence: sql<number>`fence + CASE status WHEN 'published' THEN 0 ELSE 1 END`,
    })
    .where("id", "=", post.id)
    .where("status", "in", [...from])
    .where(({ eb, or }) => or([eb("lease_worker", "is", null), eb("status", "=", "published")]))
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw await whyNot(tx, before, { trigger, now: set.updated_at });
  if (to !== null) assertAgrees(row);
  if (set.caption !== undefined || set.metadata !== undefined) await indexPost(tx, row);
  await countFileUses(tx, { before: [before], after: [row] });
  const isMoved = row.status === "scheduled" && row.scheduled_at !== before.scheduled_at;
  if (row.status !== before.status || isMoved) await notePosts(tx, [row]);
  return row;
}

/** A post that gets another time, or comes back, holds no slot unless it is given one. */
function slotOf({ scheduled_at: at, slot_at: slot }: TransitionSet) {
  if (at === undefined || slot !== undefined) return {};
  return {
    slot_at: sql<
      number | null
    >`CASE WHEN status = 'scheduled' AND scheduled_at = ${at} THEN slot_at ELSE NULL END`,
  };
}

async function whyNot(
  tx: Tx,
  row: PostRow,
  { trigger, now }: { readonly trigger: Trigger; readonly now: number },
): Promise<AppError> {
  const { from } = TRANSITIONS[trigger];
  const fits = from.some((status) => status === row.status);
  if (fits)
    return new AppError(
      "conflict",
      say("The post is being worked on right now.", { next: [{ do: "look", postId: row.id }] }),
    );
  return new AppError("conflict", conflictSentence(trigger, await standingOf(tx, row, { now })));
}

export function postNotFound(id: string): AppError {
  const shown = id.length > 40 ? `${id.slice(0, 40)}…` : id;
  if (id.startsWith("dft_"))
    return new AppError(
      "not_found",
      say(`${JSON.stringify(shown)} is the id of a draft, not of a post.`, {
        next: [{ do: "read_draft", revision: null }, { do: "discard_draft" }],
      }),
    );
  return new AppError(
    "not_found",
    say(`There is no post ${JSON.stringify(shown)}.`, { next: [{ do: "list", of: "posts" }] }),
  );
}

/** In order of creation. The expression keeps SQLite from sorting all of the owner's posts for each page. */
export function listPostsById(
  reader: Reader,
  ownerId: string,
  page: { readonly after: string; readonly limit: number },
): Promise<PostRow[]> {
  return queryOf(reader)
    .selectFrom("posts")
    .selectAll()
    .where(sql<string>`owner_id || ''`, "=", ownerId)
    .where("id", ">", page.after)
    .orderBy("id")
    .limit(page.limit)
    .execute();
}

/** The owner's posts that wait for a time after that, or at it with a later id; earliest first. */
export function listWaitingPosts(
  reader: Reader,
  ownerId: string,
  {
    after,
    limit,
  }: { readonly after: { readonly scheduledAt: number; readonly id: string }; readonly limit: number },
): Promise<PostRow[]> {
  return queryOf(reader)
    .selectFrom("posts")
    .selectAll()
    .where("owner_id", "=", ownerId)
    .where("status", "=", "scheduled")
    .where(sql<boolean>`(scheduled_at, id) > (${after.scheduledAt}, ${after.id})`)
    .orderBy("scheduled_at")
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** How many of the owner's posts wait though their time is over. */
export async function countOverdue(reader: Reader, ownerId: string, now: number): Promise<number> {
  const { count } = await queryOf(reader)
    .selectFrom("posts")
    .select(sql<number>`count(*)`.as("count"))
    .where("owner_id", "=", ownerId)
    .where("status", "=", "scheduled")
    .where("scheduled_at", "<", now)
    .executeTakeFirstOrThrow();
  return Number(count);
}

type AttemptRow = Selectable<Tables["attempts"]>;
type StepRow = Pick<Selectable<Tables["effects"]>, "run" | "step" | "state" | "started_at" | "finished_at">;

/** The attempts of a post, and its steps on the platform, each oldest first. */
export async function readAttempts(
  reader: Reader,
  post: Pick<PostRow, "id" | "owner_id">,
): Promise<{ attempts: AttemptRow[]; steps: StepRow[] }> {
  const owned = { post_id: post.id, owner_id: post.owner_id };
  const attempts = await listRows(reader, "attempts", owned, "number");
  const steps = await queryOf(reader)
    .selectFrom("effects")
    .select(["run", "step", "state", "started_at", "finished_at"])
    .where("post_id", "=", post.id)
    .where("step", "not like", "once:%")
    .where("step", "not like", "extra:%")
    .where("step", "<>", RESTORED_STEP)
    .orderBy("started_at")
    .execute();
  return { attempts, steps };
}

/** What was refused of a post after it went live, as a field of the answer. {} where nothing was. */
export function readWarnings({ warnings }: { warnings?: string | null }): { warnings?: string[] } {
  return warnings === null || warnings === undefined ? {} : { warnings: JSON.parse(warnings) as string[] };
}

/** A post as an event keeps it: as it was at that time. */
export function showSnapshot(snapshot: string): SaidPost & { warnings?: string[] } {
  const row: ShownRow & { warnings?: string | null } = JSON.parse(snapshot);
  return { ...toPost(row), ...readWarnings(row) };
}

/** The results of the steps that are done in the post's present run. */
export async function readResults(
  reader: Reader,
  post: Pick<PostRow, "id" | "run">,
): Promise<{ step: string; result: string }[]> {
  const done = { post_id: post.id, run: post.run, state: "done" } as const;
  const rows = await listRows(reader, "effects", done, "step");
  return rows.flatMap(({ step, result }) => (result === null ? [] : [{ step, result }]));
}

/** Whether anything was begun in the post's present run. */
export async function hasEffects(reader: Reader, post: Pick<PostRow, "id" | "run">): Promise<boolean> {
  return (await findRow(reader, "effects", { post_id: post.id, run: post.run })) !== undefined;
}
