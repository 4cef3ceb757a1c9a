import { randomBytes } from "node:crypto";
import { systemClock } from "../../../src/app/system-clock.ts";
import { createTestContext, type TestContext } from "../../support/context.ts";
import { queryOf } from "../../support/handles.ts";
import { createDatabaseOn, type PostgresAddress } from "../../support/postgres-server.ts";
import { openStoreOn } from "../../support/postgres-store-on.ts";
import { addAccount, addPost } from "../../support/publishing.ts";
import type { ClassServers } from "../../faults/class-servers.ts";
import { judge, runWorker, type RunningWorker } from "../../faults/fault-runner.ts";
import { createCipher } from "../../../src/store/engine/cipher.ts";
import type { WorkerTask } from "./worker-task.ts";

export const CLASSES = ["class_a", "class_b", "class_c", "class_d", "class_e", "class_f"] as const;

/** A database, the platforms, and workers on them that are processes of their own. */
export interface Fleet extends AsyncDisposable {
  readonly ctx: TestContext;
  readonly url: string;
  /** Starts a worker. */
  run(task?: Partial<WorkerTask>): RunningWorker;
  /** What went wrong, in words; empty when every promise was kept. */
  wrong(): Promise<string[]>;
}

export interface FleetPosts {
  readonly providers: readonly string[];
  /** Of each provider. */
  readonly accounts: number;
  /** Of each account. */
  readonly posts: number;
  /** They fall due within so many milliseconds from now. */
  readonly withinMs: number;
}

export async function gatherFleet(
  at: { readonly address: PostgresAddress; readonly servers: ClassServers; readonly worker: string },
  posts: FleetPosts,
  random: () => number,
): Promise<Fleet> {
  const database = await createDatabaseOn(at.address);
  const key = randomBytes(32);
  const ctx = await createTestContext({
    store: await openStoreOn(database.url),
    clock: systemClock as never,
    cipher: createCipher(key),
  });
  for (const provider of posts.providers)
    for (let n = 0; n < posts.accounts; n++) {
      const account = await addAccount(ctx, { provider, name: `Channel ${n}` });
      for (let m = 0; m < posts.posts; m++) {
        const due = Date.now() - 50 + Math.floor(random() * posts.withinMs);
        const times = { scheduled_at: due, due_at: due, next_at: due };
        await addPost(ctx, account, { caption: `${provider} ${n} ${m}`, ...times });
      }
    }
  return {
    ctx,
    url: database.url,
    run: (task = {}) =>
      runWorker(at.worker, [
        JSON.stringify({ url: database.url, baseUrl: at.servers.baseUrl, key: key.toString("hex"), ...task }),
      ]),
    async wrong() {
      const visible = at.servers.visible();
      const rows = await queryOf(ctx.store).selectFrom("posts").selectAll().orderBy("caption").execute();
      const outcome = rows.map((row) => ({
        ...row,
        caption: row.caption ?? "",
        inDoubt: row.in_doubt === 1,
      }));
      const wrong = outcome.flatMap((post) => judge([post], visible, post.provider === "class_f"));
      const wanted = posts.providers.length * posts.accounts * posts.posts;
      if (outcome.length !== wanted) wrong.push(`${outcome.length} posts of ${wanted}`);
      return [...wrong, ...at.servers.violations];
    },
    async [Symbol.asyncDispose]() {
      await ctx[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
