import { expect, it } from "vitest";
import { whyNotOut } from "../../../src/cli/shell/outcomes.ts";
import { registerWorker } from "../../../src/publishing/workers.ts";
import type { Host, Session } from "../../../src/cli/host.ts";
import { createFakeTerminal } from "../../support/cli.ts";
import { startService } from "../../support/service.ts";

it("the last word on a post that is not out names who goes on with it", async () => {
  await using service = await startService();
  const session = { ctx: service.ctx } as unknown as Session;
  const at = { session, host: { terminal: createFakeTerminal().terminal } as unknown as Host };
  const waiting = { id: "post_1", status: "publishing", error: "The server answers 503." } as const;
  const none = await whyNotOut(at, [{ id: "post_0", status: "published", error: null }]);
  expect(none).toBeNull();
  expect(await whyNotOut(at, [waiting, { id: "post_2", status: "failed", error: "No." }])).toBe(
    'post_1 is under way. The server answers 503. It goes out while a Posthorn runs. "posthorn service install" keeps one running.\npost_2 failed. No.',
  );
  const server = { host: "test", pid: 1, role: "serve", version: "1" } as const;
  const hold = await registerWorker(service.ctx, server, () => {});
  expect(await whyNotOut(at, [waiting])).toBe(
    'post_1 is under way. The server answers 503. The server that runs here goes on with it. "posthorn show post_1" tells what became of it.',
  );
  await hold.release();
  // The table above has the reasons, and ids as people type them.
  const screen = {
    ...at,
    host: { terminal: createFakeTerminal({ columns: 80 }).terminal } as unknown as Host,
  };
  const long = { id: "post_01jd000000000000000000abcd", status: "failed", error: "No." } as const;
  expect(await whyNotOut(screen, [long])).toBe("00abcd failed.");
  expect(await whyNotOut(screen, [long], true)).toBe("post_01jd000000000000000000abcd failed. No.");
});
