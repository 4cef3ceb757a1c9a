import { createServer } from "node:http";
import { expect, it } from "vitest";
import { MINUTE } from "../../src/domain/time.ts";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import { startHeartbeat } from "../../src/publishing/heartbeat.ts";
import { createTestContext } from "../support/context.ts";
import { listen } from "../support/listen.ts";

/** A service that expects calls, on an address that only the operator may name. */
async function startWatcher() {
  const calls: string[] = [];
  const statuses: number[] = [];
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    response.writeHead(statuses.shift() ?? 200).end("OK");
  });
  const listening = await listen(server);
  return {
    url: `${listening.origin}/canary-ping?x=1`,
    calls,
    statuses,
    [Symbol.asyncDispose]: listening[Symbol.asyncDispose],
  };
}

it("is sent each minute while publishing works, and not while it does not", async () => {
  await using watcher = await startWatcher();
  await using outbound = createOutbound({ allowedHosts: [] });
  await using ctx = await createTestContext({ outbound });
  Object.assign(ctx.settings, { heartbeatUrl: watcher.url });
  let isHealthy = true;
  const heartbeat = startHeartbeat(ctx, () => isHealthy);
  /** Until it sleeps again, its call is over. */
  const minute = async (): Promise<void> => {
    await ctx.clock.advance(MINUTE);
    await expect.poll(() => ctx.clock.sleepers).toBe(1);
  };
  await ctx.clock.advance(MINUTE - 1);
  expect(watcher.calls).toEqual([]);
  await ctx.clock.advance(1);
  await expect.poll(() => ctx.clock.sleepers).toBe(1);
  await minute();
  expect(watcher.calls).toEqual(Array(2).fill("GET /canary-ping?x=1"));
  isHealthy = false;
  for (let minutes = 0; minutes < 5; minutes += 1) await minute();
  expect(watcher.calls).toHaveLength(2);
  isHealthy = true;
  watcher.statuses.push(500);
  await minute();
  await watcher[Symbol.asyncDispose]();
  await minute();
  expect(watcher.calls).toHaveLength(3);
  expect(ctx.log.lines.map(({ message }) => message)).toEqual([
    "the address of POSTHORN_HEARTBEAT_URL refused the call",
    "the address of POSTHORN_HEARTBEAT_URL could not be called",
  ]);
  expect(ctx.log.text()).not.toContain("canary");
  heartbeat.close();
  await expect.poll(() => ctx.clock.sleepers).toBe(0);
});

it("is sent by nobody where no address is set", async () => {
  await using ctx = await createTestContext();
  startHeartbeat(ctx, () => true).close();
  expect(ctx.clock.sleepers).toBe(0);
});
