import { channelInFull } from "../domain/accounts/channel-names.ts";
import { freeSlotsBetween, readPlan, type SlotPlan } from "../domain/accounts/schedule.ts";
import { AppError } from "../domain/errors.ts";
import { say } from "../domain/sentences.ts";
import { MINUTE } from "../domain/time.ts";
import type { PostRow } from "../store/schema/tables.ts";
import type { Reader, Tx } from "../store/engine/store.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import { listWaitingTimes, lockAccount } from "../store/queries/slots.ts";
import { movedTo } from "./post-form.ts";

export interface SlotWish {
  /** Only later slots than this moment. */
  readonly after: number;
  /** Times that are to be kept free, too, in any order: posts of the same call that are not stored yet. Default: none. */
  readonly taken?: readonly number[];
}

/**
 * The account's next free slot, which no other call gets before the transaction ends. Store a post with `slot_at` (see
 * `inSlot`) in it. Throws `conflict` where the account has no slots, or none that is free. Where a transaction takes
 * slots of several accounts it begins with the first by id, so that no two wait for each other.
 */
export async function takeSlot(
  tx: Tx,
  { owner_id: ownerId, id }: Pick<AccountRow, "owner_id" | "id">,
  wish: SlotWish,
): Promise<number> {
  const account = await lockAccount(tx, { ownerId, id });
  const slot = account === undefined ? null : await findSlot(tx, account, wish);
  if (slot === null) throw noSlot(account);
  return slot;
}

/** The post's row in that slot: what is stored of it, the time that it takes with it among that. */
export function inSlot(row: PostRow, slot: number): PostRow {
  return { ...row, ...movedTo(row, slot), slot_at: slot };
}

/** The times of those on this account. */
export function timesOn(rows: readonly PostRow[], accountId: string): number[] {
  return rows.filter((row) => row.account_id === accountId).map((row) => row.scheduled_at);
}

/** Which slot would be taken now. Null: there is none. */
export async function findSlot(
  reader: Reader,
  account: Pick<AccountRow, "id" | "schedule">,
  { after, taken = [] }: SlotWish,
): Promise<number | null> {
  if (account.schedule === null) return null;
  const plan = readPlan(account.schedule);
  const all = [...(await waitingTimes(reader, { id: account.id, plan }, after)), ...taken];
  const [first = null] = freeSlotsBetween(plan, { after, taken: all.sort((a, b) => a - b) });
  return first;
}

/** At most `limit` free slots of an account between these moments, both included. */
export async function listFreeSlots(
  reader: Reader,
  account: Pick<AccountRow, "id" | "schedule">,
  { from, to, limit }: { readonly from: number; readonly to: number; readonly limit: number },
): Promise<number[]> {
  if (account.schedule === null || from > to) return [];
  const plan = readPlan(account.schedule);
  const taken = await waitingTimes(reader, { id: account.id, plan }, from - 1);
  const slots: number[] = [];
  for (const slot of freeSlotsBetween(plan, { after: from - 1, until: to, taken })) {
    if (slots.length === limit) break;
    slots.push(slot);
  }
  return slots;
}

/** Those that a slot after this moment may be too close to. */
function waitingTimes(
  reader: Reader,
  { id, plan }: { readonly id: string; readonly plan: SlotPlan },
  after: number,
): Promise<number[]> {
  return listWaitingTimes(reader, id, after - plan.minGapMinutes * MINUTE);
}

/** Names the step that gives the account slots. */
export function noSlot(
  account: Pick<AccountRow, "id" | "name" | "provider" | "handle" | "schedule"> | undefined,
): AppError {
  const name = account === undefined ? "the account" : channelInFull(account);
  const plan = account === undefined || account.schedule === null ? null : readPlan(account.schedule);
  const has = plan === null || plan.slots.length === 0 ? "has no slots" : "has no free slot any more";
  const step = { do: "set_slots", accountId: account?.id ?? null } as const;
  return new AppError("conflict", say(`${name} ${has}.`, { field: "slot", next: [step] }));
}
