import { hash } from "node:crypto";
import { AppError } from "../domain/errors.ts";
import type { Caller } from "../domain/permissions.ts";
import { HOUR } from "../domain/time.ts";
import type { Tx } from "../store/engine/store.ts";
import { CommitUnanswered, readingAgain } from "../store/engine/unanswered.ts";
import {
  amendKey,
  completeKey,
  deleteKey,
  findKey,
  insertKey,
  takeOverKey,
  type IdempotencyRow,
} from "../store/queries/access.ts";
import { isWorkerListed } from "../store/queries/workers.ts";
import type { AppContext, CallContext, IdempotencyClaim } from "../context.ts";

/** How long a key's answer is kept. */
const KEPT_MS = 24 * HOUR;

export interface Replayable<T> {
  readonly result: T;
  readonly isReplay: boolean;
}

/**
 * Runs `work` at most once per caller and key. The same arguments get the stored result again, others a
 * `conflict`, and so does a call that is still running. A call that fails frees its key.
 *
 * A caller is an API key, not its owner: what one key was answered, another may be too narrow to see, and
 * must not even learn that a key was used. With another API key a client begins anew.
 */
export async function runOnce<T>(
  ctx: AppContext,
  caller: Caller,
  call: { readonly key: string; readonly tool: string; readonly args: unknown },
  work: (claim: IdempotencyClaim) => Promise<T>,
): Promise<Replayable<T>> {
  const now = ctx.clock.now();
  const row = {
    owner_id: caller.ownerId,
    key_hash: hash("sha256", `${caller.keyId}\n${call.key}`),
    tool: call.tool,
    fingerprint: hash("sha256", canonicalJson([call.tool, reachOf(caller), call.args])),
    worker_id: ctx.workerId,
    result: null,
    created_at: now,
    expires_at: now + KEPT_MS,
  };
  const aad = answerAad(row);
  const open = (sealed: string): T => JSON.parse(ctx.cipher.open(sealed, aad)) as T;
  const stored = await claimKey(ctx, row);
  if (stored !== null) return { result: open(stored), isReplay: true };

  /** The answer as it was committed, as JSON. */
  let committed: string | null = null;
  const complete = async (tx: Tx, result: unknown): Promise<void> => {
    const text = JSON.stringify(result);
    const sealed = ctx.cipher.seal(text, aad);
    // Another process took the key over, believing this one dead: what stands in this transaction must not
    // stand twice.
    if (!(await completeKey(tx, row, { workerId: ctx.workerId, result: sealed })))
      throw new AppError(
        "conflict",
        "This idempotency key is being used by another request. Ask again in a moment.",
      );
    committed = text;
  };
  /**
   * The same call again gets what this one is answered, where more came of it than stood at the commit. It was done:
   * no trouble with this may say otherwise.
   */
  const amend = async (text: string): Promise<void> => {
    if (text === committed) return;
    await ctx.store
      .write((tx) => amendKey(tx, row, ctx.cipher.seal(text, aad)))
      .catch((err: unknown) => ctx.log.warn({ err }, "the answer that is kept for a key is not the latest"));
  };
  try {
    const result = await work({ keyHash: row.key_hash, complete });
    if (committed === null) await ctx.store.write((tx) => complete(tx, result));
    else await amend(JSON.stringify(result));
    return { result, isReplay: false };
  } catch (error) {
    const done = await readingAgain(() =>
      ctx.store.write(async (tx) => {
        await deleteKey(tx, row, ctx.workerId);
        return (await findKey(tx, row))?.result ?? null;
      }),
    );
    // The answer stands where it was committed and only the word of that was lost.
    if (done !== null && error instanceof CommitUnanswered) return { result: open(done), isReplay: false };
    throw error;
  }
}

/**
 * The one way of a use case to write what its call is for: the change and, where the call carries a key, its
 * answer are committed together, so that after a crash both stand or neither. What comes back is the answer.
 */
export function commitOnce<T>(
  call: Pick<CallContext, "ctx" | "idempotency">,
  change: (tx: Tx) => Promise<T>,
): Promise<T> {
  return call.ctx.store.write(async (tx) => {
    const answer = await change(tx);
    await call.idempotency?.complete(tx, answer);
    return answer;
  });
}

/** The stored result, or null when the key is now ours. */
function claimKey(ctx: AppContext, row: IdempotencyRow): Promise<string | null> {
  const claim = async (tx: Tx): Promise<string | null> => {
    let known: IdempotencyRow | undefined;
    while (known === undefined) {
      if (await insertKey(tx, row)) return null;
      // The one that had it may have freed it in this moment.
      known = await findKey(tx, row);
    }
    if (known.fingerprint !== row.fingerprint) {
      throw new AppError(
        "conflict",
        "This idempotency key was used for another request in the last 24 hours. Use a new key for a new request.",
      );
    }
    if (known.result !== null) return known.result;
    const { worker_id: worker } = known;
    // Its process died before the effect: what must not happen twice is committed together with the result.
    const isDead = worker !== ctx.workerId && (worker === null || !(await isWorkerListed(tx, worker)));
    if (!isDead || !(await takeOverKey(tx, known, ctx.workerId))) {
      throw new AppError(
        "conflict",
        "A request with this idempotency key is still running. Ask again in a moment. The answer will be the same.",
      );
    }
    return null;
  };
  return readingAgain(
    () => ctx.store.write(claim),
    // The claim before this one may have been committed: then the key is ours already.
    () => ctx.store.write((tx) => deleteKey(tx, row, ctx.workerId).then(() => claim(tx))),
  );
}

/** An answer may hold a link that is as good as a key while it lasts, so it is sealed like one. */
export function answerAad(row: { owner_id: string; key_hash: string }): string {
  return `${row.owner_id}|${row.key_hash}|idempotency`;
}

/**
 * Which accounts the caller reaches, and what for. An answer is kept for the reach that it was given to: a
 * key that was narrowed since gets a `conflict` instead of what it must not see any more.
 */
function reachOf({ accountIds, permissions }: Caller): unknown {
  return { accountIds: accountIds?.toSorted() ?? null, permissions: permissions.toSorted() };
}

/** JSON with sorted keys, so that the order of a request's fields does not matter. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
