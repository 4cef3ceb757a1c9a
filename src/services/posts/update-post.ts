import { AppError } from "../../domain/errors.ts";
import type { Post } from "../../domain/posts/post.ts";
import { conflictSentence } from "../../domain/posts/post-states.ts";
import type { Tx } from "../../store/engine/db.ts";
import {
  readMetadata,
  toPost,
  transition,
  type PostRow,
  type TransitionSet,
} from "../../store/tables/posts.ts";
import type { AppContext, CallContext } from "../context.ts";
import {
  checkAddresses,
  checkContent,
  checkForm,
  findUsableAccount,
  foldThumbnail,
  readScheduledAt,
  type CheckedForm,
  type PostInput,
} from "./post-draft.ts";
import { mergeMetadata } from "./post-metadata.ts";
import { findOwnPost } from "./posts.ts";
import { platformOf } from "../publishing/publish-io.ts";

export interface UpdateInput extends PostInput {
  readonly id: string;
}

/** A change that raced with another one is checked again on the newer content, this often. */
const MAX_ROUNDS = 5;

/**
 * Changes a post that still waits. After the answer only the new version goes out. Throws `invalid` for an empty change,
 * `not_found`, and `conflict` when the post does not wait any more.
 */
export async function updatePost(
  call: CallContext,
  input: UpdateInput,
): Promise<{ post: Post; warnings: string[] }> {
  const { ctx, caller } = call;
  const { id, ...patch } = input;
  if (Object.values(patch).every((value) => value === undefined)) {
    throw new AppError(
      "invalid",
      "Nothing to change. Give one of scheduledAt, mediaUrl, caption, metadata, leadMinutes, thumbnailUrl.",
    );
  }
  const time = patch.scheduledAt === undefined ? null : readScheduledAt(ctx, patch.scheduledAt);
  const metadata = foldThumbnail(patch);
  checkAddresses(ctx, { ...patch, metadata });
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = await findOwnPost(ctx, caller, id);
    const form = applyPatch(ctx, before, {
      ...patch,
      metadata,
      scheduledMs: time?.ms ?? before.scheduled_at,
    });
    if (before.status !== "scheduled")
      throw new AppError("conflict", conflictSentence("edit", before.status));
    const account = await findUsableAccount(ctx, caller, before.account_id);
    const checked = await checkContent(ctx, account, form, { signal: call.signal });
    const set = {
      ...checked.row,
      next_at: checked.row.due_at,
      error: null,
      tries: 0,
      updated_at: ctx.clock.now(),
    };
    const warnings = [...(time?.warnings ?? []), ...checked.warnings];
    const answer = await ctx.db.transaction(async (tx) => {
      const row = await writeIfUnchanged(tx, before, set);
      if (row === null) return null;
      const changed = { post: toPost(row), warnings };
      await call.idempotency?.complete(tx, changed);
      return changed;
    });
    if (answer === null) continue;
    ctx.wakePublisher();
    return answer;
  }
  throw new AppError(
    "conflict",
    "The post is being changed by others at the same time. Read it with get_post and try again.",
  );
}

function applyPatch(
  ctx: AppContext,
  before: PostRow,
  patch: PostInput & { readonly scheduledMs: number },
): CheckedForm {
  const platform = platformOf(ctx, before.provider);
  const current = readMetadata(before);
  return checkForm(platform, {
    scheduledAt: patch.scheduledMs,
    mediaUrl: patch.mediaUrl ?? before.media_url,
    caption: patch.caption === undefined ? before.caption : patch.caption,
    metadata: patch.metadata === undefined ? current : mergeMetadata(platform, current, patch.metadata),
    leadMinutes: patch.leadMinutes === undefined ? before.lead_minutes : patch.leadMinutes,
  });
}

/** Null when the content changed since it was read: the merge would lose the other change. */
async function writeIfUnchanged(tx: Tx, before: PostRow, set: TransitionSet): Promise<PostRow | null> {
  const now = await tx
    .selectFrom("posts")
    .select(["media_url", "caption", "metadata", "lead_minutes", "scheduled_at", "status"])
    .where("id", "=", before.id)
    .where("owner_id", "=", before.owner_id)
    .executeTakeFirst();
  const isSame =
    now === undefined ||
    now.status !== "scheduled" ||
    (now.media_url === before.media_url &&
      now.caption === before.caption &&
      now.metadata === before.metadata &&
      now.lead_minutes === before.lead_minutes &&
      now.scheduled_at === before.scheduled_at);
  if (!isSame) return null;
  return transition(tx, { ownerId: before.owner_id, id: before.id }, "edit", {
    ...set,
    run: await nextRun(tx, before),
  });
}

/** What an earlier try prepared belongs to the old content: the new one starts with a clean ledger. */
async function nextRun(tx: Tx, row: PostRow): Promise<number> {
  const effect = await tx
    .selectFrom("effects")
    .select("step")
    .where("post_id", "=", row.id)
    .where("run", "=", row.run)
    .executeTakeFirst();
  return effect === undefined ? row.run : row.run + 1;
}
