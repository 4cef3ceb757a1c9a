import { firstTextOf, outcomeOf, inOrder } from "../../domain/drafts/draft.ts";
import { DAY, MINUTE, toIsoOrNull } from "../../domain/time.ts";
import type { DraftEvent } from "../../domain/webhooks/event-data.ts";
import type { Reader, Tx } from "../../store/engine/store.ts";
import { type DraftRow, findDraftRow, listDraftPosts, listFailedDrafts } from "../../store/queries/drafts.ts";
import { listWanting, noteEvent } from "../../store/queries/events.ts";
import { namesOfKeys } from "../../access/api-keys.ts";
import type { AppContext, CallContext, MaintenanceJob } from "../../context.ts";
import { contentOf } from "./draft-content.ts";
import type { StoredDecision } from "./drafts.ts";

type Kind = "draft.waiting" | "draft.decided" | "draft.partly";

/** Tells the owner's webhooks of a draft, in the transaction that brings it about. */
export async function noteDraft(
  tx: Tx,
  kind: Kind,
  row: DraftRow,
  more: { readonly at: number; readonly once?: string },
): Promise<void> {
  const snapshot = await snapshotOf(tx, row);
  await noteEvent(tx, { ownerId: row.owner_id, accountIds: snapshot.accountIds, kind, snapshot, ...more });
}

/** An assistant wanted a decision that it may not make: the person is told, once a revision. */
export async function describeThatItWaits(
  { ctx, caller }: CallContext,
  { id }: { readonly id: string },
): Promise<void> {
  const at = ctx.clock.now();
  await ctx.store.write(async (tx) => {
    const row = await findDraftRow(tx, caller.ownerId, id);
    if (row !== null) await noteDraft(tx, "draft.waiting", row, { at, once: `asked|${id}|${row.revision}` });
  });
}

/** A series has more posts than a person reads at once. */
const MAX_POSTS = 50;

async function snapshotOf(reader: Reader, row: DraftRow): Promise<DraftEvent> {
  const content = contentOf(row);
  const { title, targets, scheduledAt } = content;
  const names = await namesOfKeys(reader, row.owner_id);
  const decision = row.decision === null ? null : (JSON.parse(row.decision) as StoredDecision);
  const isDecided = row.state !== "waiting" && decision !== null;
  const posts = (await listDraftPosts(reader, [row.id], MAX_POSTS)).get(row.id) ?? [];
  return {
    draftId: row.id,
    title,
    text: firstTextOf(content),
    accountIds: targets.map(({ accountId }) => accountId),
    scheduledAt: toIsoOrNull(scheduledAt),
    writtenBy: names(row.key_id),
    decision: isDecided ? { what: decision.what, by: names(decision.keyId), note: decision.note } : null,
    posts: inOrder(posts, targets).map(({ id, account_id, status, platform_url, error }) => ({
      id,
      accountId: account_id,
      status,
      platformUrl: platform_url,
      error,
    })),
  };
}

export const PARTLY_JOB: MaintenanceJob = { name: "drafts", everyMs: MINUTE, run: describeOfPartly };

/** Older failures have been told. */
const TELL_WITHIN_MS = 2 * DAY;
const SETTLED: readonly string[] = ["published", "failed", "cancelled"];

/** Tells of drafts that went out only in part, each once, when the last of its posts has ended. */
export async function describeOfPartly(ctx: AppContext): Promise<void> {
  const now = ctx.clock.now();
  const owners = new Set((await listWanting(ctx.store, "draft.partly")).map(({ owner_id: id }) => id));
  for (const ownerId of owners) {
    const ids = await listFailedDrafts(ctx.store, ownerId, now - TELL_WITHIN_MS);
    const posts = await listDraftPosts(ctx.store, ids, MAX_POSTS);
    for (const [id, list] of posts) {
      const statuses = list.map(({ status }) => status);
      const isOver = statuses.every((status) => SETTLED.includes(status));
      if (!isOver || outcomeOf(statuses) !== "partly") continue;
      await ctx.store.write(async (tx) => {
        const row = await findDraftRow(tx, ownerId, id);
        if (row !== null) await noteDraft(tx, "draft.partly", row, { at: now, once: `partly|${id}` });
      });
    }
  }
}
