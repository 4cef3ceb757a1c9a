import {
  Fenced,
  type EffectEnd,
  type Ledger,
  type Lease,
  type LiveMark,
  type NewEffect,
  type PostEnd,
  type StepRef,
} from "../../engine/ledger.ts";
import { change } from "../../engine/statements.ts";
import type { Store, Tx } from "../../engine/store.ts";
import { Passing, ServerTrouble } from "../connect/sentences.ts";
import { inBatches } from "./batches.ts";
import { endSteps, hold, intend, markLive, writeRows, type Call } from "./effect-writes.ts";
import { endPosts, standing } from "./post-ends.ts";

/**
 * PostgreSQL's ledger: calls of one kind that come while others are written share the next transaction.
 *
 * A COMMIT may be done and its answer lost. Then the same calls are written once more, which changes nothing
 * where they stand: the lease, which nobody else has, lets them through again, counters are set to what they
 * were counted to before, and an end, which gives the lease back, is known by the fence that it leaves.
 */
export function createLedger({ write }: Pick<Store, "write">): Ledger {
  /** A way to write calls of one kind. `work` answers those of the calls whose rows were there. */
  const kind = <Content>(
    work: (
      tx: Tx,
      held: readonly Call<Content>[],
      calls: readonly Call<Content>[],
    ) => Promise<readonly Call<Content>[]>,
  ): ((lease: Lease, content: Content) => Promise<void>) => {
    const writeOnce = (calls: readonly Call<Content>[]): Promise<ReadonlySet<Call<Content>>> =>
      write(async (tx) => new Set(await work(tx, await hold(tx, calls), calls)));
    // Of an account, as of a post, one at a time: an end changes both.
    const add = inBatches<Call<Content>>(
      ({ lease }) => lease.accountId,
      (calls) =>
        writeOnce(calls).catch((error: unknown) => {
          if (error instanceof ServerTrouble && !(error instanceof Passing)) return writeOnce(calls);
          throw error;
        }),
    );
    return async (lease, content) => {
      if (!(await add({ lease, content, counted: {} }))) throw new Fenced(lease.postId);
    };
  };
  const once = kind<{ effect: NewEffect; end: EffectEnd }>(async (tx, held) => {
    await intend(tx, held, ({ effect }) => effect);
    return endSteps(tx, held, ({ end }) => end);
  });
  return {
    intent: kind<NewEffect>(async (tx, held) => {
      await intend(tx, held, (effect) => effect);
      return held;
    }),
    end: kind<EffectEnd>((tx, held) => endSteps(tx, held, (end) => end)),
    once: (lease, effect, end) => once(lease, { effect, end }),
    handle: kind(writeHandles),
    countAsked: kind(countAsked),
    live: kind<LiveMark>(async (tx, held) => {
      await markLive(tx, held);
      return held;
    }),
    forget: kind(forget),
    endPost: kind<PostEnd>(async (tx, held, calls) => {
      const ended = await endPosts(tx, held);
      const others = calls.filter((call) => !held.includes(call));
      return others.length === 0 ? ended : [...ended, ...(await standing(tx, others))];
    }),
  };
}

const WRITE_HANDLES = `
  UPDATE effects e SET handle_enc = u.sealed
  FROM json_to_recordset($1::json) AS u (post text, run integer, step text, sealed text)
  WHERE e.post_id = u.post AND e.run = u.run AND e.step = u.step RETURNING e.post_id`;

async function writeHandles(
  tx: Tx,
  held: readonly Call<StepRef & { readonly sealed: string }>[],
): Promise<readonly Call<StepRef & { readonly sealed: string }>[]> {
  const written = await writeRows(tx, { text: WRITE_HANDLES, calls: held }, ({ content }) => content);
  return written.map(({ call }) => call);
}

const COUNT_ASKED = `
  UPDATE effects e SET asked = coalesce(u.asked, e.asked + 1)
  FROM json_to_recordset($1::json) AS u (post text, run integer, step text, asked integer)
  WHERE e.post_id = u.post AND e.run = u.run AND e.step = u.step RETURNING e.post_id, e.asked`;

async function countAsked(tx: Tx, held: readonly Call<StepRef>[]): Promise<readonly Call<StepRef>[]> {
  const written = await writeRows<StepRef, { post_id: string; asked: number }>(
    tx,
    { text: COUNT_ASKED, calls: held },
    ({ content: { run, step }, counted }) => ({ run, step, asked: counted.asked }),
  );
  for (const { call, row } of written) call.counted.asked = row.asked;
  return written.map(({ call }) => call);
}

type Forgotten = Parameters<Ledger["forget"]>[1];

const FORGET = `
  DELETE FROM effects e USING json_to_recordset($1::json) AS u (post text, run integer, steps text[])
  WHERE e.post_id = u.post AND e.run = u.run AND e.step = ANY (u.steps)`;

/** Steps that are gone already do not speak against the lease. */
async function forget(tx: Tx, held: readonly Call<Forgotten>[]): Promise<readonly Call<Forgotten>[]> {
  const rows = held.map(({ lease, content: { run, steps } }) => ({ post: lease.postId, run, steps }));
  if (rows.length > 0) await change(tx, FORGET, [JSON.stringify(rows)]);
  return held;
}
