import type { SaidCheck, Target } from "../../domain/drafts/draft.ts";
import { writeChecks } from "./checks.ts";
import { signatureOf } from "../../domain/permissions.ts";
import type { DraftRow } from "../../store/queries/drafts.ts";
import type { CallContext } from "../../context.ts";
import type { PreparedPost } from "../prepare.ts";
import { previewPost } from "../preview.ts";
import { toColumns } from "./draft-content.ts";

/** A checked post as a draft that waits for a person, and is not stored yet. Its id ends like the post's. */
export async function draftOfPost(
  { ctx, caller }: CallContext,
  prepared: PreparedPost,
  { isUntimed }: { readonly isUntimed: boolean },
): Promise<DraftRow> {
  const { account, content, row, plan, isInSlot, warnings } = prepared;
  const accountId = account.id;
  const preview = await previewPost(ctx, account, content, prepared);
  const target: Target = { accountId, caption: null, mediaUrl: null, metadata: null, scheduledAt: null };
  const check: SaidCheck = { accountId, error: null, warnings, preview };
  const { labels = [], note = null } = plan ?? {};
  return {
    ...toColumns({
      ...content,
      ...(isInSlot || isUntimed ? { scheduledAt: null } : {}),
      slot: isInSlot ? ("next" as const) : null,
      title: null,
      targets: [target],
      repeat: null,
      labels,
      note,
    }),
    id: row.id.replace(/^post_/, "dft_"),
    owner_id: caller.ownerId,
    state: "waiting",
    revision: 1,
    checks: writeChecks([check]),
    changes: "[]",
    key_id: signatureOf(caller),
    decision: null,
    created_at: row.created_at,
    updated_at: row.created_at,
  };
}
