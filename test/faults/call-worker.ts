import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../src/domain/errors.ts";
import { newId } from "../../src/domain/ids.ts";
import type { PublishIo } from "../../src/ports/publish-io.ts";
import { startPublisher } from "../../src/publishing/loop.ts";
import { cancelPost } from "../../src/posts/posts.ts";
import { retryPost } from "../../src/posts/update-post.ts";
import { systemClock } from "../../src/app/system-clock.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import type { SqliteDatabase } from "../../src/store/sqlite/driver.ts";
import { openStore } from "../../src/store/open-store.ts";
import { callOf, createTestContext } from "../support/context.ts";
import { rawOf } from "../support/handles.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";

/**
 * A caller's request in a process that kills itself, by SIGKILL, at the n-th moment of it: before and after each
 * transaction is durable, and before and after each request to the platform. Without a number it lives, and
 * publishes first what waits.
 *
 * argv: data folder, address of the platform, what is called ("take down" or "retry"), the post, n.
 */
const [folder = "", address = "", what = "", id = "", killAt = "0"] = process.argv.slice(2);

let isCalling = false;
let passed = 0;
function pass(): void {
  if (!isCalling) return;
  passed += 1;
  if (passed === Number(killAt)) process.kill(process.pid, "SIGKILL");
}

function watchCommits(raw: SqliteDatabase): SqliteDatabase {
  const prepare: SqliteDatabase["prepare"] = (source) => {
    const statement = raw.prepare(source);
    if (source !== "commit") return statement;
    const run: typeof statement.run = (parameters) => {
      pass();
      const result = statement.run(parameters);
      pass();
      return result;
    };
    return { ...statement, reader: false, run };
  };
  return { ...raw, prepare };
}

async function ask(method: "POST" | "DELETE", part: string): Promise<void> {
  pass();
  await fetch(`${address}/${encodeURIComponent(part)}`, { method });
  pass();
}

/** One part of the post, under its own text as its id. */
function send(io: PublishIo, step: string, text: string): Promise<string> {
  return io.effect<string>({
    step,
    request: text,
    send: async () => {
      await ask("POST", text);
      return text;
    },
    reconcile: async () => ({ outcome: "unknown", reason: "Nobody can tell." }),
    ...(step === "first" ? { live: (part) => ({ platformPostId: part, platformUrl: null }) } : {}),
  });
}

const platform = scriptedPlatform({
  publish: async (post, io) => {
    const first = await send(io, "first", post.caption ?? "");
    await io.followUp(
      "The second part",
      async () => void (await send(io, "second", `${first}, second part`)),
    );
    return { state: "live", platformPostId: first, platformUrl: null };
  },
  remove: async (_post, io) => {
    const { resultOf } = io as unknown as PublishIo;
    for (const step of ["second", "first"]) {
      const part = resultOf(step);
      if (typeof part === "string") await ask("DELETE", part);
    }
  },
});

const store = await openStore({
  file: join(folder, "posthorn.db"),
  locks: join(folder, "workers"),
  around: watchCommits,
});
const ctx = await createTestContext({
  store,
  clock: systemClock,
  cipher: createCipher(readFileSync(join(folder, "key"))),
  outbound: {
    assertAllowed: (_field, url) => new URL(url),
    request: () => Promise.reject(new Error("none")),
  },
  media: { forPost: () => ({}) as never, release: async () => {} },
  platformList: [platform],
  workerId: newId("wrk"),
});
const waiting = rawOf(store).prepare(
  "SELECT COUNT(*) AS n FROM posts WHERE next_at < ? OR lease_worker IS NOT NULL",
);
const untilIdle = async (): Promise<void> => {
  while ((waiting.get([Date.now() + 10_000]) as { n: number }).n > 0) await systemClock.sleep(10);
};

const isKilled = killAt !== "0";
// What is sent again is not to go out in the process that is killed: that has tests of its own.
const publisher =
  isKilled && what === "retry"
    ? null
    : await startPublisher(ctx, {
        identity: { role: "serve", host: "test", pid: process.pid, version: "0" },
      });
if (!isKilled) await untilIdle();
isCalling = isKilled;
try {
  await (what === "retry"
    ? retryPost(callOf(ctx), { id, caption: "corrected" })
    : cancelPost(callOf(ctx), { id, fromPlatform: true }));
} catch (error) {
  // The one before has done it.
  if (!(error instanceof AppError && error.kind === "conflict")) throw error;
}
isCalling = false;
if (publisher !== null) await untilIdle();
await publisher?.close();
process.exit(0);
