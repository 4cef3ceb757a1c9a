import { readFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "../../src/domain/ids.ts";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import type { Outbound } from "../../src/ports/outbound.ts";
import { startPublisher } from "../../src/publishing/loop.ts";
import { startWebhookLoop } from "../../src/reporting/webhooks/webhook-deliveries.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import { openStore } from "../../src/store/open-store.ts";
import { systemClock } from "../../src/app/system-clock.ts";
import { createMemoryLogger, createTestContext } from "../support/context.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";
import { rawOf } from "../support/handles.ts";

/**
 * Publisher and sender of events in a process that kills itself, by SIGKILL, at the n-th event: before it is
 * sent, or once the receiver has answered and nothing of that is written yet.
 *
 * argv: data folder, point ("sending", "answered" or "none"), n.
 */
const [folder = "", point = "none", hit = "1"] = process.argv.slice(2);

let hits = 0;
function passing(name: string): void {
  if (name !== point) return;
  hits += 1;
  if (hits === Number(hit)) process.kill(process.pid, "SIGKILL");
}

const door = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
const outbound: Outbound = {
  assertAllowed: (field, url) => door.assertAllowed(field, url),
  request: async (request) => {
    passing("sending");
    const answer = await door.request(request);
    passing("answered");
    return answer;
  },
};

const ctx = await createTestContext({
  store: await openStore({ file: join(folder, "posthorn.db"), locks: join(folder, "workers") }),
  log: createMemoryLogger(),
  clock: systemClock,
  cipher: createCipher(readFileSync(join(folder, "key"))),
  outbound,
  media: { forPost: () => ({}) as never, release: async () => {} },
  platformList: [
    scriptedPlatform({
      publish: async (post) => ({ state: "live", platformPostId: post.id, platformUrl: null }),
    }),
  ],
  workerId: newId("wrk"),
});
const publisher = await startPublisher(ctx, {
  identity: { role: "serve", host: "test", pid: process.pid, version: "0" },
});
const events = startWebhookLoop(ctx);
process.stdout.write("running\n");

const waiting = rawOf(ctx.store).prepare(
  "SELECT (SELECT COUNT(*) FROM posts WHERE next_at IS NOT NULL) + (SELECT COUNT(*) FROM webhook_deliveries WHERE next_at IS NOT NULL) AS n",
);
while ((waiting.get([]) as { n: number }).n > 0) await systemClock.sleep(10);
await events.close(1_000);
await publisher.close();
process.exit(0);
