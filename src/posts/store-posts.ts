import { AppError, assert, saidOf } from "../domain/errors.ts";
import type { Said } from "../domain/sentences.ts";
import type { Tx } from "../store/engine/store.ts";
import { lockFiles } from "../store/queries/files.ts";
import { insertPosts } from "../store/queries/posts.ts";
import { lockAccount } from "../store/queries/slots.ts";
import type { AppContext, CallContext } from "../context.ts";
import { requireFiles } from "../files/media-places.ts";
import type { PreparedPost } from "./prepare.ts";
import { inSlot, takeSlot, timesOn } from "./slots.ts";

/* From posts that were prepared to their rows: their files are there still, and each gets the slot that it asked for. */

/** A post of a batch that may be stored, or why it may not. */
export type BatchPost = PreparedPost | { readonly error: Said };

/**
 * Stores posts, all or none. Throws `not_found` for a file that is gone, and `conflict` with every reason why one gets
 * no slot.
 */
export async function storePosts(
  call: CallContext,
  tx: Tx,
  posts: readonly PreparedPost[],
): Promise<readonly PreparedPost[]> {
  await requireFiles(
    tx,
    call.caller,
    posts.flatMap(({ files }) => files),
  );
  const placed = await reserveSlots(call, tx, posts);
  const errors = new Map(placed.flatMap((one) => ("error" in one ? [[String(one.error), one.error]] : [])));
  if (errors.size > 0) throw new AppError("conflict", [...errors.values()]);
  const stored = placed.flatMap((one) => ("error" in one ? [] : [one]));
  await insertPosts(tx, stored);
  return stored;
}

/** The posts whose files are there still. All are locked before the first is looked up: see `lockFiles`. */
export async function withFiles(
  { caller }: CallContext,
  tx: Tx,
  posts: readonly BatchPost[],
): Promise<BatchPost[]> {
  const files = posts.flatMap((post) => ("error" in post ? [] : post.files));
  await lockFiles(
    tx,
    caller.ownerId,
    files.map(({ id }) => id),
  );
  const found: BatchPost[] = [];
  for (const post of posts) {
    const missing = "error" in post ? null : await requireFiles(tx, caller, post.files).catch(refuseInside);
    found.push(missing ?? post);
  }
  return found;
}

/** Each in a slot of its own. The accounts are locked in the order of their ids: see `takeSlot`. */
export async function reserveSlots(
  { ctx, caller }: CallContext,
  tx: Tx,
  posts: readonly BatchPost[],
): Promise<BatchPost[]> {
  const stored = toPlace(posts);
  const inSlots = stored.filter(({ isInSlot }) => isInSlot);
  const accounts = new Set(inSlots.map(({ row }) => row.account_id));
  for (const id of [...accounts].sort()) await lockAccount(tx, { ownerId: caller.ownerId, id });
  const taken = stored.filter(({ isInSlot }) => !isInSlot).map(({ row }) => row);
  const placed: BatchPost[] = [];
  for (const post of posts) {
    if (!("row" in post) || !inSlots.includes(post)) {
      placed.push(post);
      continue;
    }
    const { row } = post;
    const after = ctx.clock.now() + row.scheduled_at - row.due_at;
    const wish = { after, taken: timesOn(taken, row.account_id) };
    const slot = await takeSlot(tx, { owner_id: row.owner_id, id: row.account_id }, wish).catch(refuseInside);
    const one = typeof slot === "number" ? { ...post, row: inSlot(row, slot) } : slot;
    if ("row" in one) taken.push(one.row);
    if ("row" in one) assert("slot_single", !placed.some((other) => isBeside(one.row, other)), one.row.id);
    placed.push(one);
  }
  return placed;
}

function isBeside({ account_id, slot_at }: PreparedPost["row"], other: BatchPost): boolean {
  return "row" in other && other.row.account_id === account_id && other.row.slot_at === slot_at;
}

/** Those that take up a time: what is stored, and where nothing is, what would be. */
function toPlace(posts: readonly BatchPost[]): PreparedPost[] {
  const right = posts.filter((post): post is PreparedPost => "row" in post);
  const stored = right.filter(({ preview }) => preview === undefined);
  return stored.length === 0 ? right : stored;
}

/** Only what the caller can mend becomes a result; a bug stays a bug. */
export function refuse(error: unknown): { error: Said } {
  if (!(error instanceof Error) || error.name !== "AppError") throw error;
  return { error: saidOf(error) };
}

function refuseInside(error: unknown): { error: Said } {
  // The server's trouble ends the transaction.
  if (error instanceof AppError && error.kind === "unavailable") throw error;
  return refuse(error);
}

/** Ends a transaction without writing it. */
class Undone extends Error {}

/** What a change would answer; nothing of it is written. */
export async function tryOut<T>(ctx: AppContext, change: (tx: Tx) => Promise<T>): Promise<T> {
  let answer: { readonly of: T } | null = null;
  try {
    return await ctx.store.write(async (tx): Promise<never> => {
      answer = { of: await change(tx) };
      throw new Undone("A dry run writes nothing.");
    });
  } catch (error) {
    if (!(error instanceof Undone) || answer === null) throw error;
    return (answer as { readonly of: T }).of;
  }
}
