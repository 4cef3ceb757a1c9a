import type { Selectable } from "kysely";
import type { Tables } from "../schema/tables.ts";
import { findRow, listRows, queryOf } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";

export type PlanRow = Selectable<Tables["post_plans"]>;

/** What a plan says of a new post. */
export interface NewPlan {
  readonly draftId: string | null;
  /** When its series came to it; 0: none. */
  readonly occurrence: number;
  readonly labels: readonly string[];
  readonly note: string | null;
}

/** Fails where the draft has a post for this channel and occurrence already. */
export async function insertPlan(
  tx: Tx,
  post: { readonly id: string; readonly owner_id: string; readonly account_id: string },
  { draftId, occurrence, labels, note }: NewPlan,
): Promise<void> {
  const { id, owner_id, account_id } = post;
  const row = { post_id: id, owner_id, account_id, draft_id: draftId, occurrence, note };
  await queryOf(tx)
    .insertInto("post_plans")
    .values({ ...row, labels: JSON.stringify(labels) })
    .execute();
  if (labels.length === 0) return;
  const named = labels.map((label) => ({ owner_id, label, post_id: id }));
  await queryOf(tx).insertInto("post_labels").values(named).execute();
}

/** Null for a post without a plan. */
export async function findPlan(reader: Reader, postId: string): Promise<PlanRow | null> {
  return (await findRow(reader, "post_plans", { post_id: postId })) ?? null;
}

/** By the ids of their posts. Posts without are left out. */
export async function findPlans(
  reader: Reader,
  postIds: readonly string[],
): Promise<ReadonlyMap<string, PlanRow>> {
  if (postIds.length === 0) return new Map();
  const rows = await listRows(reader, "post_plans", { post_id: postIds }, "post_id");
  return new Map(rows.map((row) => [row.post_id, row]));
}

/** Labels and note of these posts, by their ids. */
export async function wordsBeside(
  reader: Reader,
  postIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const plans = [...(await findPlans(reader, postIds)).values()];
  return new Map(plans.map((row) => [row.post_id, wordsOf({ ...row, labels: labelsOf(row) })]));
}

export function wordsOf({ labels, note }: Pick<NewPlan, "labels" | "note">): string[] {
  return note === null ? [...labels] : [...labels, note];
}

export function labelsOf({ labels }: Pick<PlanRow, "labels">): string[] {
  return JSON.parse(labels) as string[];
}
