import { sql, type SqlBool } from "kysely";
import { assert } from "../../../domain/errors.ts";
import { TRANSITIONS } from "../../../domain/posts/post-states.ts";
import { deleteRows, findRow, insertNew, queryOf, updateRows } from "../../engine/statements.ts";
import {
  Fenced,
  LIVE_STEP,
  type AccountWait,
  type EffectEnd,
  type Ledger,
  type Lease,
  type LiveMark,
  type NewEffect,
  type AttemptResult,
  type StepRef,
} from "../../engine/ledger.ts";
import type { Reader, Store, Tx } from "../../engine/store.ts";
import { readingAgain } from "../../engine/unanswered.ts";
import type { PostRow } from "../../schema/tables.ts";
import { notePosts } from "../events.ts";
import { setMeta } from "../meta.ts";
import { countEnded } from "./attempt-totals.ts";

/**
 * Each call locks the post's row, checks the lease, then writes. A call whose COMMIT got no answer is written
 * again: the lease is still there, or for `finishAttempt` its trace. By this a step may count as sent once too
 * often, and never too seldom.
 */
export function createLedger({ write }: Pick<Store, "write">): Ledger {
  const guarded = (lease: Lease, work: (tx: Tx, held: HeldPost) => Promise<void>): Promise<void> =>
    readingAgain(() =>
      write(async (tx) => {
        const held = await readHeld(tx, lease);
        if (held === null) throw new Fenced(lease.postId);
        await work(tx, held);
      }),
    );
  return {
    intent: (lease, effect) =>
      guarded(lease, async (tx, { status, run }) => {
        assert("send_begun", !NOT_ON_ITS_WAY.includes(status) && run === effect.run, lease.postId);
        assert("send_unanswered", await writeIntent(tx, lease, effect), lease.postId);
      }),
    end: (lease, end) =>
      guarded(lease, async (tx, held) => {
        await endEffect(tx, lease, end);
        if (end.state === "done") await forgetCrashes(tx, lease, held);
      }),
    once: (lease, effect, end) =>
      guarded(lease, async (tx) => {
        await writeIntent(tx, lease, effect);
        await endEffect(tx, lease, end);
      }),
    handle: (lease, { sealed, ...step }) =>
      guarded(lease, (tx) => changeStep(tx, lease, step, { handle_enc: sealed })),
    countAsked: (lease, step) =>
      guarded(lease, (tx) => changeStep(tx, lease, step, { asked: sql`asked + 1` })),
    live: (lease, mark) => guarded(lease, (tx) => writeLive(tx, lease, mark)),
    forget: (lease, { run, steps }) =>
      guarded(lease, async (tx) => {
        await deleteRows(tx, "effects", { post_id: lease.postId, run, step: steps });
      }),
    finishAttempt: (lease, end) =>
      readingAgain(() =>
        write(async (tx) => {
          const held = await readHeld(tx, lease);
          if (held !== null) await finishAttempt(tx, lease, { ...end, before: held.status });
          else if (!(await isEnded(tx, lease, end))) throw new Fenced(lease.postId);
        }),
      ),
  };
}

/** A failed one may be asked about. */
const NOT_ON_ITS_WAY: readonly PostRow["status"][] = ["scheduled", "cancelled"];

type HeldPost = Pick<PostRow, "status" | "run"> & { readonly crashes: number };

/** Locks the post's row until the transaction ends, so that it and a take-over wait for each other. */
async function readHeld(tx: Tx, { postId, fence, workerId }: Lease): Promise<HeldPost | null> {
  const row = await queryOf(tx)
    .selectFrom("posts")
    .select(["fence", "lease_worker", "crashes", "status", "run"])
    .where("id", "=", postId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row?.fence === fence && row.lease_worker === workerId ? row : null;
}

export async function isHeld(tx: Tx, lease: Lease): Promise<boolean> {
  return (await readHeld(tx, lease)) !== null;
}

/** It has got further than where it was when the program ended. */
async function forgetCrashes(tx: Tx, { postId }: Lease, { crashes }: HeldPost): Promise<void> {
  if (crashes > 0) await updateRows(tx, "posts", { id: postId }, { crashes: 0 });
}

/** Not one that only asked, or could not be sent: what ended the program may be yet to come. */
function gotFurther({ attempt: { outcome }, nextAt }: AttemptResult): boolean {
  return nextAt === null || (outcome !== "retrying" && outcome !== "published");
}

/** Only `finishAttempt` with this lease leaves the post with this fence and without a worker. */
async function isEnded(tx: Tx, { postId, fence }: Lease, { at }: AttemptResult): Promise<boolean> {
  const row = await findRow(tx, "posts", { id: postId });
  return row?.fence === fence && row.lease_worker === null && row.updated_at === at;
}

/** False for a step that has its answer, which stays. */
async function writeIntent(tx: Tx, { postId, fence }: Lease, effect: NewEffect): Promise<boolean> {
  const written = await queryOf(tx)
    .insertInto("effects")
    .values({ post_id: postId, fence, ...effect, state: "intent", asked: 0, sent: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(["post_id", "run", "step"])
        .doUpdateSet({
          state: "intent",
          fence,
          finished_at: null,
          sent: sql<number>`effects.sent + 1`,
          request_hash: effect.request_hash,
          // An open step keeps its start.
          started_at: sql<number>`CASE WHEN effects.state IN ('intent', 'unknown') THEN effects.started_at ELSE excluded.started_at END`,
        })
        .where("effects.state", "<>", "done"),
    )
    .returning("step")
    .executeTakeFirst();
  return written !== undefined;
}

const UNANSWERED = ["intent", "unknown", "not_sent", "rejected"] as const;

async function endEffect(tx: Tx, lease: Lease, end: EffectEnd): Promise<void> {
  const { run, step, state, result, httpStatus, at, live } = end;
  const set = { state, result, http_status: httpStatus, finished_at: at };
  // Only once: when it is written again, the state is `not_sent` already.
  const notSent = { sent: sql`sent - CASE state WHEN 'not_sent' THEN 0 ELSE 1 END` };
  const where = { post_id: lease.postId, run, step };
  const change = state === "not_sent" ? { ...set, ...notSent } : set;
  const isEnd =
    (await updateRows(tx, "effects", { ...where, state: UNANSWERED }, change)) === 1 ||
    // Where the COMMIT got no answer it is there already.
    (await findRow(tx, "effects", { ...where, state, finished_at: at })) !== undefined;
  assert("answer_awaited", isEnd, lease.postId);
  if (live) await writeLive(tx, lease, { ...live, run, at });
}

async function changeStep(
  tx: Tx,
  { postId }: Lease,
  { run, step }: StepRef,
  set: Parameters<typeof updateRows<"effects">>[3],
): Promise<void> {
  const changed = await updateRows(tx, "effects", { post_id: postId, run, step }, set);
  assert("answer_awaited", changed === 1, postId);
}

async function writeLive(tx: Tx, { postId, fence }: Lease, mark: LiveMark): Promise<void> {
  const { run, at, platformPostId, platformUrl } = mark;
  const place = given({ platform_post_id: platformPostId, platform_url: platformUrl });
  if (Object.keys(place).length > 0) await updateRows(tx, "posts", { id: postId }, place);
  const result = JSON.stringify({ platformPostId, platformUrl });
  const noted = { state: "done", result, started_at: at, finished_at: at } as const;
  const empty = { effect_key: "", request_hash: "", asked: 0 };
  await insertNew(tx, "effects", { post_id: postId, run, step: LIVE_STEP, fence, ...empty, ...noted });
}

/** Every transaction locks in this order: the post, its attempt, accounts, `meta`. */
async function finishAttempt(
  tx: Tx,
  lease: Lease,
  end: AttemptResult & { readonly before: PostRow["status"] },
): Promise<void> {
  const move = end.trigger === null ? null : TRANSITIONS[end.trigger];
  const warnings = end.warnings?.length ? JSON.stringify(end.warnings) : null;
  const post = await queryOf(tx)
    .updateTable("posts")
    .set({
      ...(move === null ? {} : { status: move.to }),
      ...given({
        platform_post_id: end.platformPostId,
        platform_url: end.platformUrl,
        published_at: end.publishedAt,
        warnings,
      }),
      next_at: end.nextAt,
      error: end.error,
      in_doubt: end.isInDoubt ? 1 : 0,
      tries: end.tries,
      lease_worker: null,
      ...(gotFurther(end) && { crashes: 0 }),
      updated_at: end.at,
    })
    .where("id", "=", lease.postId)
    .$if(move !== null, (update) => update.where("status", "in", move?.from ?? []))
    .returningAll()
    .executeTakeFirst();
  if (post === undefined) throw new Fenced(lease.postId);
  if (post.status !== end.before) await notePosts(tx, [post]);
  await endAttempt(tx, post, end);
  await freeAccount(tx, lease, end);
  if (end.setupProblem !== undefined) await noteSetupProblem(tx, lease, end.setupProblem, end.at);
  else if (end.publishedAt !== null) await forgetSetupProblems(tx, lease);
}

async function endAttempt(tx: Tx, post: PostRow, { attempt, at }: AttemptResult): Promise<void> {
  const { outcome, error, lateCause = null } = attempt;
  const running = { post_id: post.id, number: post.attempts, outcome: "running" } as const;
  const set = { outcome, error, finished_at: at, late_cause: sql`coalesce(late_cause, ${lateCause})` };
  if ((await updateRows(tx, "attempts", running, set)) === 1)
    await countEnded(tx, [{ provider: post.provider, outcome, lateMs: at - post.scheduled_at }]);
}

async function freeAccount(
  tx: Tx,
  lease: Lease,
  { accountWait, at, publishedAt }: AttemptResult,
): Promise<void> {
  const accounts = queryOf(tx).updateTable("accounts");
  // A limit of the app's holds up every owner's accounts.
  if (accountWait?.scope === "app")
    await accounts
      .set(waiting(accountWait))
      .where("provider", "=", (of) =>
        of.selectFrom("accounts as own").select("own.provider").where("own.id", "=", lease.accountId),
      )
      .where("next_allowed_at", "<", accountWait.until)
      .execute();
  await accounts
    .set({
      ...given({ last_published_at: publishedAt }),
      ...(accountWait === null ? {} : waiting(accountWait)),
      in_flight_post: sql`CASE in_flight_post WHEN ${lease.postId} THEN NULL ELSE in_flight_post END`,
      freed_at: at,
    })
    .where("id", "=", lease.accountId)
    .execute();
}

/** Never shortens a longer wait. */
function waiting({ until, cause }: AccountWait) {
  const isLonger = sql<SqlBool>`next_allowed_at < ${until}`;
  return {
    wait_cause: sql<AccountWait["cause"]>`CASE WHEN ${isLonger} THEN ${cause} ELSE wait_cause END`,
    next_allowed_at: sql<number>`CASE WHEN ${isLonger} THEN ${until} ELSE next_allowed_at END`,
  };
}

/** Null leaves what the row has. */
function given<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as Partial<T>;
}

/*
 * A setup problem keeps a platform from taking posts, and only the operator can solve it. It is stored under the
 * platform's name with the last post that met it, and deleted with the next post that is published there.
 */

const PREFIX = "setup problem:";

async function noteSetupProblem(tx: Tx, lease: Lease, reason: string, now: number): Promise<void> {
  await setMeta(tx, await keyOfProblem(tx, lease), JSON.stringify({ reason, at: now }));
}

async function forgetSetupProblems(tx: Tx, lease: Lease): Promise<void> {
  await deleteRows(tx, "meta", { key: await keyOfProblem(tx, lease) });
}

async function keyOfProblem(tx: Tx, { accountId }: Lease): Promise<string> {
  const account = await findRow(tx, "accounts", { id: accountId });
  return PREFIX + (account?.provider ?? "");
}

interface SetupProblem {
  readonly provider: string;
  /** A sentence for the operator. */
  readonly reason: string;
  /** When a post last met it. */
  readonly at: number;
}

/** Those that a post has met since that time. */
export async function listSetupProblems(reader: Reader, since: number): Promise<SetupProblem[]> {
  const rows = await queryOf(reader)
    .selectFrom("meta")
    .selectAll()
    .where("key", "like", `${PREFIX}%`)
    .orderBy("key")
    .execute();
  return rows
    .map(({ key, value }) => ({
      provider: key.slice(PREFIX.length),
      ...(JSON.parse(value) as Omit<SetupProblem, "provider">),
    }))
    .filter(({ at }) => at >= since);
}
