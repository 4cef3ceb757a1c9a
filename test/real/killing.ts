import { setTimeout as wait } from "node:timers/promises";
import type { AppContext } from "../../src/context.ts";
import type { PostRow } from "../../src/store/schema/tables.ts";
import type { AccountRow } from "../../src/store/queries/accounts.ts";
import { addPost, readPost } from "../support/publishing.ts";
import { startRealServer } from "../support/real-server.ts";
import type { Cut, Door } from "./door.ts";

/** Where a process is killed, on its way through that door. */
export interface Kill extends Cut {
  readonly door: Door;
}

interface Folder {
  readonly ctx: AppContext;
  /** Of the processes that work in its data folder. */
  readonly env: Readonly<Record<string, string>>;
}

export interface KillJob {
  readonly account: AccountRow;
  readonly post: Partial<PostRow>;
  readonly kills: readonly Kill[];
  /** How many of it the server shows. */
  readonly count: () => Promise<number>;
}

interface Killed {
  /** As the last process left it. */
  readonly post: PostRow;
  /** What was stored and shown when a process was dead, one for each that was killed. */
  readonly found: readonly { readonly status: string; readonly shown: number }[];
}

const LONGEST_MS = 180_000;

/**
 * Puts a post that is due into the data folder and runs `posthorn serve` on it, which dies by SIGKILL at the
 * first moment; another one goes on, and so forth. The one after the last moment is left alone.
 */
export async function publishKilled(
  { ctx, env }: Folder,
  { account, post, kills, count }: KillJob,
): Promise<Killed> {
  const { id } = await addPost(ctx, account, post);
  const found = [];
  for (const { door, ...cut } of kills) {
    let isReached = false;
    void door.cut(cut).then(() => (isReached = true));
    await using server = await startRealServer(env);
    await settled(ctx, id, () => isReached);
    await server.kill();
    door.spare();
    if (isReached) found.push({ status: (await readPost(ctx, id)).status, shown: await count() });
  }
  await using _server = await startRealServer(env);
  return { post: await settled(ctx, id), found };
}

/** The post once nobody works on it any more, or it is over. */
async function settled(ctx: AppContext, id: string, isOver = (): boolean => false): Promise<PostRow> {
  const until = ctx.clock.now() + LONGEST_MS;
  for (;;) {
    const row = await readPost(ctx, id);
    const isSettled = row.next_at === null && row.lease_worker === null;
    if (isSettled || isOver() || ctx.clock.now() > until) return row;
    await wait(20);
  }
}
