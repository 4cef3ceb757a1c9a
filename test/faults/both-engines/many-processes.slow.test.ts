import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, inject, it } from "vitest";
import { runCli } from "../../support/cli.ts";
import { isOnPostgres } from "../../support/context.ts";
import { listen } from "../../support/listen.ts";
import { startServers, type Servers } from "../killed-servers.ts";
import { randomFor, report, SEED, times, TIMEOUT_MS } from "../report.ts";
import { createSharedDatabase } from "../shared-database.ts";

const PROCESSES = times({ short: 3, long: 5 });
const LOAD_MS = times({ short: 4_000, long: 60_000 });
const KILL_EVERY_MS = times({ short: 1_500, long: 2_500 });
const CLIENTS = 6;

/** What a receiver that follows Standard Webhooks sees: one post is what comes under one id. */
async function startPostReceiver() {
  const idsOf = new Map<string, Set<string>>();
  const server = createServer(async (request, response) => {
    // A sender that was killed leaves a piece, or nothing.
    const text = await buffer(request).then(String, () => "");
    if (text === "") return void response.writeHead(400).end();
    const { data } = JSON.parse(text) as { data: { caption: string } };
    const ids = idsOf.get(data.caption) ?? new Set();
    idsOf.set(data.caption, ids.add(String(request.headers["webhook-id"])));
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  const listening = await listen(server);
  return {
    url: `${listening.origin}/`,
    /** How often each text arrived, repeats of one id counted once. */
    count: (caption: string): number => idsOf.get(caption)?.size ?? 0,
    [Symbol.asyncDispose]: listening[Symbol.asyncDispose],
  };
}

interface Tally {
  calls: number;
  kills: number;
  /** Answers that no caller should get. */
  readonly bad: string[];
  /** Texts that must arrive once, and those that must not. */
  readonly wanted: Set<string>;
  readonly unwanted: Set<string>;
}

class World {
  readonly tally: Tally = { calls: 0, kills: 0, bad: [], wanted: new Set(), unwanted: new Set() };
  readonly #servers: Servers;
  readonly #accountId: string;
  readonly #random = randomFor("many");

  constructor(servers: Servers, accountId: string) {
    this.#servers = servers;
    this.#accountId = accountId;
  }

  #anyServer(): number {
    return Math.floor(this.#random() * PROCESSES);
  }

  /**
   * On any of the servers; another one when it is gone in the middle. Writes are repeated under their key.
   */
  async call(
    tool: string,
    args: object,
    key?: string,
  ): Promise<{ status: number; result: any; isRepeated: boolean }> {
    for (let isRepeated = false; ; isRepeated = true) {
      const answer = await this.#servers.ask(this.#anyServer(), tool, args, key);
      if (answer === null || (answer.status === 409 && answer.text.includes("still running"))) {
        await delay(50);
        continue;
      }
      this.tally.calls += 1;
      if (answer.status >= 500) this.tally.bad.push(`${tool}: ${answer.status} ${answer.text.slice(0, 200)}`);
      return { status: answer.status, result: answer.json?.result, isRepeated };
    }
  }

  async client(name: string, until: number): Promise<void> {
    for (let n = 0; performance.now() < until; n++) {
      const caption = `${name} ${n}`;
      const scheduledAt = new Date(Date.now() + this.#random() * 3_000).toISOString();
      const { result } = await this.call(
        "schedule_post",
        { accountId: this.#accountId, caption, scheduledAt },
        caption,
      );
      this.tally.wanted.add(caption);
      const dice = this.#random();
      if (dice < 0.2) await this.#change(result.post.id, caption);
      else if (dice < 0.35) await this.#cancel(result.post.id, caption);
      else await this.call(dice < 0.7 ? "list_posts" : "get_status", {});
    }
  }

  async #change(id: string, caption: string): Promise<void> {
    const edited = `${caption} edited`;
    const { status, isRepeated } = await this.call("update_post", { id, caption: edited }, edited);
    if (status !== 200 && !(isRepeated && (await this.#read(id)).caption === edited)) return;
    this.tally.wanted.delete(caption);
    this.tally.unwanted.add(caption);
    this.tally.wanted.add(edited);
  }

  async #cancel(id: string, caption: string): Promise<void> {
    const { status, isRepeated } = await this.call("cancel_post", { id }, `${caption} cancel`);
    if (status !== 200 && !(isRepeated && (await this.#read(id)).status === "cancelled")) return;
    this.tally.wanted.delete(caption);
    this.tally.unwanted.add(caption);
  }

  /** A server that was killed after the deed and before its answer leaves a 409 to whoever asks again. */
  async #read(id: string): Promise<{ status: string; caption: string }> {
    return (await this.call("get_post", { id })).result.post;
  }

  async killNowAndThen(until: number): Promise<void> {
    while (performance.now() < until) {
      await delay(KILL_EVERY_MS);
      await this.#servers.kill(this.#anyServer());
      this.tally.kills += 1;
    }
  }
}

describe("Many processes on one database", { timeout: TIMEOUT_MS }, () => {
  it("under mixed load, killed now and then: no call fails for it, and each post arrives once", async () => {
    await using database = await createSharedDatabase();
    await using receiver = await startPostReceiver();
    const env = { ...database.env, POSTHORN_ALLOWED_HOSTS: "127.0.0.1" };
    const secrets = JSON.stringify({ url: receiver.url });
    const connected = await runCli(["connect", "webhook", "--secrets-stdin"], { env, input: secrets });
    await using servers = await startServers({ program: inject("program"), env, processes: PROCESSES });
    const world = new World(servers, JSON.parse(connected.stdout).id);
    const { tally } = world;
    const until = performance.now() + LOAD_MS;
    await Promise.all([
      ...Array.from({ length: CLIENTS }, (_, n) => world.client(`client ${n}, post`, until)),
      world.killNowAndThen(until),
    ]);
    const waiting = async (): Promise<number> =>
      (await world.call("list_posts", { status: ["scheduled", "publishing"], limit: 1 })).result.posts.length;
    await expect.poll(waiting, { timeout: 300_000, interval: 500 }).toBe(0);
    const wrong = [
      ...[...tally.wanted]
        .filter((caption) => receiver.count(caption) !== 1)
        .map((caption) => `${caption}: arrived ${receiver.count(caption)} times`),
      ...[...tally.unwanted]
        .filter((caption) => receiver.count(caption) > 0)
        .map((caption) => `${caption}: arrived although it was changed or cancelled`),
    ];
    expect({ SEED, bad: tally.bad, wrong }).toEqual({ SEED, bad: [], wrong: [] });
    expect(tally.kills).toBeGreaterThan(0);
    report({
      fault: "Mixed load",
      how: `${PROCESSES} servers as shipped on one ${isOnPostgres ? "database" : "data folder"}, ${CLIENTS} clients that schedule, change, cancel and list on any of them, one server killed every ${KILL_EVERY_MS / 1_000} s`,
      runs: `${LOAD_MS / 1_000} s, ${tally.calls} calls, ${tally.kills} kills`,
      seen: `0 answers of 5xx (a locked database would be one); ${tally.wanted.size} posts arrived once, ${tally.unwanted.size} changed or cancelled texts never`,
      isSeeded: true,
    });
  });
});
