import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { newId } from "../../src/domain/ids.ts";
import type { PlatformPost, PublishOutcome } from "../../src/ports/platform.ts";
import type { PublishIo } from "../../src/ports/publish-io.ts";
import { startPublisher } from "../../src/publishing/loop.ts";
import { openStore } from "../../src/store/open-store.ts";
import { systemClock } from "../../src/app/system-clock.ts";
import { createTestContext } from "../support/context.ts";
import { rawOf } from "../support/handles.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";

/**
 * The publisher in a process of its own, with a platform on which some posts end the process: `ends at once`,
 * and `ends in a step`. What the others send is a line of the file `sent`.
 * argv: data folder, and how many milliseconds a step takes.
 */
const [folder = "", stepMs = "20"] = process.argv.slice(2);

async function publish(post: PlatformPost, io: PublishIo): Promise<PublishOutcome> {
  const caption = post.caption ?? "";
  if (caption.startsWith("ends at once")) {
    await delay(Number(stepMs) / 2);
    process.abort();
  }
  const id = await io.effect<string>({
    step: "create",
    request: { caption },
    send: async () => {
      await delay(Number(stepMs));
      if (caption.startsWith("ends in a step")) process.abort();
      appendFileSync(join(folder, "sent"), `${caption}\n`);
      return post.id;
    },
    // The platform drops repeats: below, what went out twice shows in the file.
    reconcile: async () => ({ outcome: "send_again" }),
  });
  return { state: "live", platformPostId: id, platformUrl: null };
}

const store = await openStore({ file: join(folder, "posthorn.db"), locks: join(folder, "workers") });
const ctx = await createTestContext({
  store,
  clock: systemClock,
  media: { forPost: () => ({}) as never, release: async () => {} },
  platformList: [scriptedPlatform({ publish })],
  workerId: newId("wrk"),
});
const publisher = await startPublisher(ctx, {
  identity: { role: "serve", host: "test", pid: process.pid, version: "0" },
});
process.stdout.write("publishing\n");
const timer = setInterval(() => {
  const sql = "SELECT 1 FROM posts WHERE next_at IS NOT NULL OR lease_worker IS NOT NULL";
  if (rawOf(store).prepare(sql).get([]) !== undefined) return;
  clearInterval(timer);
  void publisher.close().then(() => process.exit(0));
}, 10);
