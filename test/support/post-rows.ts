import type { Reader, Store } from "../../src/store/engine/store.ts";
import { freshRow, insertPost } from "../../src/store/queries/posts.ts";
import type { PostStatus } from "../../src/domain/posts/post-states.ts";
import { queryOf } from "./handles.ts";

export interface TestPost {
  readonly id: string;
  readonly ownerId?: string;
  readonly accountId?: string;
  readonly provider?: string;
  readonly caption?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
  readonly scheduledAt?: string | number;
  readonly status?: PostStatus;
}

/** Writes an account's row as connecting would. */
export async function addAccount(
  store: Reader,
  account: { id: string; ownerId?: string; provider?: string; name?: string; handle?: string },
): Promise<void> {
  await queryOf(store)
    .insertInto("accounts")
    .values({
      id: account.id,
      owner_id: account.ownerId ?? "default",
      provider: account.provider ?? "feed",
      name: account.name ?? account.id,
      handle: account.handle ?? null,
      status: "connected",
      scopes: "[]",
      settings: "{}",
      secrets_version: 0,
      next_allowed_at: 0,
      limits: "{}",
      inspected_at: 0,
      id_server: "",
      paused: 0,
      is_renamed: 0,
      created_at: 0,
      updated_at: 0,
    })
    .execute();
}

/** Writes posts as scheduling would, in one transaction, in the states that are given. */
export async function addPosts(store: Pick<Store, "write">, posts: readonly TestPost[]): Promise<void> {
  await store.write(async (tx) => {
    for (const post of posts) {
      const scheduledAt = new Date(post.scheduledAt ?? "2026-12-01T09:00:00Z").getTime();
      const row = freshRow({
        id: post.id,
        owner_id: post.ownerId ?? "default",
        account_id: post.accountId ?? "acc_1",
        provider: post.provider ?? "feed",
        media_url: "",
        caption: post.caption ?? null,
        metadata:
          post.metadata === undefined || post.metadata === null ? null : JSON.stringify(post.metadata),
        lead_minutes: null,
        scheduled_at: scheduledAt,
        due_at: scheduledAt,
        content_hash: post.id,
        is_light: 1,
        file_ids: null,
        created_at: 0,
      });
      const { id, status = "scheduled" } = post;
      await insertPost(tx, { ...row, status, ...(status === "published" && { platform_post_id: id }) });
    }
  });
}
