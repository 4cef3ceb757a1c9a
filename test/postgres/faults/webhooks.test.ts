import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import { createWebhook } from "../../../src/reporting/webhooks/webhooks.ts";
import { startClassServers } from "../../faults/class-servers.ts";
import { buildWorker } from "../../faults/fault-runner.ts";
import { randomFor, report, SEED, times, TIMEOUT_MS } from "../../faults/report.ts";
import { callOf } from "../../support/context.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres-server.ts";
import { addAccount, addPost } from "../../support/publishing.ts";
import { startReceiver } from "../../support/webhook-receiver.ts";
import { gatherFleet } from "./fleet.ts";

const ROUNDS = times({ short: 1, long: 50 });
const POSTS = 6;
const EVENTS = ["post.scheduled", "post.publishing", "post.published"];

let worker: string;
let server: PostgresServer;
beforeAll(async () => {
  worker = await buildWorker("worker", import.meta.dirname);
  server = await startPostgres({ isDurable: true });
});
afterAll(() => server[Symbol.asyncDispose]());

const CASES = [null, "event:sending", "event:answered", "end:committing"].map((point) => ({
  point,
  what: point === null ? "neither of which is killed" : `one of which is killed at ${point}`,
}));

describe("events of two hosts on one PostgreSQL", { timeout: TIMEOUT_MS }, () => {
  it.each(CASES)("$what: each arrives, in order, under one id", async ({ point, what }) => {
    const random = randomFor(`webhooks ${point}`);
    let kills = 0;
    let again = 0;
    for (let round = 0; round < ROUNDS; round++) {
      await using receiver = await startReceiver();
      await using servers = await startClassServers();
      const at = { address: server.address, servers, worker };
      const none = { providers: [], accounts: 0, posts: 0, withinMs: 0 };
      await using fleet = await gatherFleet(at, none, random);
      await using outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
      await createWebhook(callOf({ ...fleet.ctx, outbound }), { url: receiver.url });
      const posts = new Map<string, string[]>();
      for (let n = 0; n < POSTS; n++) {
        const account = await addAccount(fleet.ctx, { provider: "class_a", name: `Channel ${n}` });
        const due = Date.now() - 50;
        const row = { caption: `post ${n}`, scheduled_at: due, due_at: due, next_at: due };
        posts.set((await addPost(fleet.ctx, account, row)).id, []);
      }
      // Posts that end in one moment may share their COMMIT, and then there is no second one.
      const hit = point === "end:committing" ? 1 : 1 + Math.floor(random() * 3);
      const first = fleet.run(point === null ? {} : { point, hit });
      if (point !== null) expect(await first.reached).toBe(true);
      const both = [first, fleet.run()];
      for (const { exit } of both) {
        const { code, signal, stderr } = await exit;
        if (signal === "SIGKILL") kills += 1;
        else expect(code, stderr).toBe(0);
      }
      const bodies = new Map<string, string>();
      for (const { headers, body } of receiver.deliveries) {
        const id = String(headers["webhook-id"]);
        if (bodies.has(id)) again += 1;
        // What comes again is the same to the last byte.
        else posts.get(JSON.parse(body).data.id)?.push(JSON.parse(body).type);
        expect(body).toBe(bodies.get(id) ?? body);
        bodies.set(id, body);
      }
      const wrong = [...posts.values()].filter((types) => types.join() !== EVENTS.join());
      expect({ SEED, wrong }).toEqual({ SEED, wrong: [] });
    }
    if (point === null) expect(again).toBe(0);
    // One that was answered when its host was killed, and no other.
    expect(again).toBeLessThanOrEqual(kills);
    report({
      fault: "F1",
      how: `PostgreSQL: events of two workers, ${what}`,
      runs: `${ROUNDS * POSTS * EVENTS.length} events, ${kills} kills`,
      seen: `0 lost, 0 under another id, 0 out of order; ${again} sent again under the same id`,
      isSeeded: true,
    });
    console.log(`${point}: ${kills} kills, ${again} events again`);
  });
});
