import { expect, it } from "vitest";
import { whyNotOut } from "../../../src/cli/shell/outcomes.ts";
import { registerWorker } from "../../../src/publishing/workers.ts";
import type { Session } from "../../../src/cli/host.ts";
import { startService } from "../../support/service.ts";

it("the last word on a post that is not out names who goes on with it", async () => {
  await using service = await startService();
  const session = { ctx: service.ctx } as unknown as Session;
  const waiting = { id: "post_1", status: "publishing", error: "The server answers 503." } as const;
  const none = await whyNotOut(session, [{ id: "post_0", status: "published", error: null }]);
  expect(none).toBeNull();
  expect(await whyNotOut(session, [waiting, { id: "post_2", status: "failed", error: "No." }])).toBe(
    'post_1 is not out yet. The server answers 503. It goes out while a Posthorn runs. "posthorn service install" keeps one running.\npost_2 failed. No.',
  );
  const server = { host: "test", pid: 1, role: "serve", version: "1" } as const;
  const hold = await registerWorker(service.ctx, server, () => {});
  expect(await whyNotOut(session, [waiting])).toBe(
    'post_1 is not out yet. The server answers 503. The server that runs here goes on with it. "posthorn show post_1" tells what became of it.',
  );
  await hold.release();
});
