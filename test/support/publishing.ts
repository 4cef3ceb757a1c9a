import { LateCauses, claimDue, sweep } from "../../src/publishing/claim.ts";
import { fromStored } from "../../src/domain/sentences.ts";
import { agentsWords } from "../../src/toolkit/words.ts";
import { newId } from "../../src/domain/ids.ts";
import type { AppContext } from "../../src/context.ts";
import { runPost } from "../../src/publishing/run.ts";
import type { PostRow, Tables } from "../../src/store/schema/tables.ts";
import { freshRow, insertPost } from "../../src/store/queries/posts.ts";
import { DEFAULT_OWNER } from "../../src/domain/permissions.ts";
import { queryOf } from "./handles.ts";

/** An account as connecting leaves it. */
export async function addAccount(
  ctx: AppContext,
  overrides: Partial<Tables["accounts"]> = {},
): Promise<Tables["accounts"]> {
  const row = accountRow(ctx, overrides);
  await queryOf(ctx.store).insertInto("accounts").values(row).execute();
  return row;
}

/** The same, not stored. */
export function accountRow(ctx: AppContext, overrides: Partial<Tables["accounts"]> = {}): Tables["accounts"] {
  const now = ctx.clock.now();
  const id = newId("acc");
  return {
    id,
    owner_id: DEFAULT_OWNER,
    provider: "scripted",
    name: "My channel",
    handle: null,
    platform_account_id: id,
    profile_url: null,
    avatar_url: null,
    status: "connected",
    status_reason: null,
    token_expires_at: null,
    scopes: "[]",
    settings: "{}",
    secrets_enc: null,
    secrets_version: 0,
    in_flight_post: null,
    grant_id: null,
    way: null,
    access_ends_at: null,
    next_allowed_at: 0,
    wait_cause: null,
    freed_at: null,
    last_published_at: null,
    limits: "{}",
    inspected_at: 0,
    id_server: "",
    schedule: null,
    paused: 0,
    utm: null,
    is_renamed: 0,
    created_at: now,
    updated_at: now,
    ...overrides,
  };
}

/** A waiting post, due now unless told otherwise. */
export async function addPost(
  ctx: AppContext,
  account: Tables["accounts"],
  overrides: Partial<PostRow> = {},
): Promise<PostRow> {
  const now = ctx.clock.now();
  const scheduledAt = overrides.scheduled_at ?? now;
  const named = JSON.stringify([overrides.media_url, overrides.metadata]);
  const row = {
    ...freshRow({
      id: newId("post"),
      owner_id: account.owner_id,
      account_id: account.id,
      provider: account.provider,
      media_url: "",
      caption: "Hello",
      metadata: null,
      lead_minutes: null,
      scheduled_at: scheduledAt,
      due_at: overrides.due_at ?? scheduledAt,
      content_hash: "",
      file_ids: null,
      is_light: /:\/\//.test(named) ? 0 : 1,
      created_at: now,
    }),
    ...overrides,
  };
  await ctx.store.write(async (tx) => insertPost(tx, row));
  return row;
}

/** Its row, with its error as callers read it. */
export async function readPost(ctx: AppContext, id: string): Promise<PostRow> {
  const rows = queryOf(ctx.store).selectFrom("posts").selectAll();
  const row = await rows.where("id", "=", id).executeTakeFirstOrThrow();
  return { ...row, error: row.error === null ? null : agentsWords(fromStored(row.error)) };
}

/** One tick: sweeps, takes up what is due and works on it to its end. Returns how many were taken. */
export async function runTick(ctx: AppContext, signal = new AbortController().signal): Promise<number> {
  await sweep(ctx);
  const { posts } = await claimDue(ctx, { lateCauses: new LateCauses(), limit: 100 });
  await Promise.all(posts.map((one) => runPost(ctx, one, { signal, queuedMs: 0 })));
  return posts.length;
}

/** Ticks until nothing is due. */
export async function drain(ctx: AppContext): Promise<void> {
  while ((await runTick(ctx)) > 0);
}

/** An account's secrets as a caller knows them that read its row. */
export function seenOf(row: { owner_id: string; id: string; secrets_version: number }) {
  return { ownerId: row.owner_id, id: row.id, version: row.secrets_version };
}
