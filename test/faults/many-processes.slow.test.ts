import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, inject, it } from "vitest";
import { runCli } from "../support/cli.ts";
import { send } from "../support/http.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { randomFor, report, SEED, times, TIMEOUT_MS } from "./report.ts";

const PROGRAM = inject("program");
const KEY = "a-fixed-key-of-forty-characters-or-so-00";

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
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    /** How often each text arrived, repeats of one id counted once. */
    count: (caption: string): number => idsOf.get(caption)?.size ?? 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

interface Running {
  readonly child: ChildProcess;
  /** Null until it listens. */
  readonly port: number | null;
}

/** The program that is shipped, on a free port. */
async function startServer(env: Readonly<Record<string, string>>): Promise<Running> {
  const child = spawn(process.execPath, [PROGRAM, "serve"], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const port = await new Promise<number>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`A server ended (${code}): ${output}`)));
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const found = /listening on http:\/\/[^\s:]+:(\d+)/.exec(output)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
  });
  return { child, port };
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
  readonly servers: Running[] = [];
  readonly #random: () => number;
  readonly accountId: string;

  constructor(accountId: string, random: () => number) {
    this.accountId = accountId;
    this.#random = random;
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
      const server = this.servers[Math.floor(this.#random() * this.servers.length)];
      const headers = key === undefined ? {} : { "Idempotency-Key": key };
      const answer = await send(server?.port ?? 0, `POST /api/v1/tools/${tool}`, {
        key: KEY,
        json: args,
        headers,
      }).catch(() => null);
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
        { accountId: this.accountId, caption, scheduledAt },
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

  async killNowAndThen(env: Readonly<Record<string, string>>, until: number): Promise<void> {
    while (performance.now() < until) {
      await delay(KILL_EVERY_MS);
      const at = Math.floor(this.#random() * this.servers.length);
      const victim = this.servers[at]!;
      victim.child.removeAllListeners("exit");
      victim.child.kill("SIGKILL");
      await once(victim.child, "close");
      this.tally.kills += 1;
      this.servers[at] = await startServer(env);
    }
  }
}

describe("Many processes on one data folder", { timeout: TIMEOUT_MS }, () => {
  it("under mixed load, killed now and then: no call fails for it, and each post arrives once", async () => {
    using folder = temporaryFolder();
    await using receiver = await startPostReceiver();
    const env = {
      ...folder.env,
      POSTHORN_PORT: "0",
      POSTHORN_API_KEY: KEY,
      POSTHORN_ALLOWED_HOSTS: "127.0.0.1",
      POSTHORN_LOG_LEVEL: "silent",
      POSTHORN_RATE_LIMIT: "1000000",
    };
    const connected = await runCli(["connect", "webhook", "--secrets-stdin"], {
      env,
      input: JSON.stringify({ url: receiver.url }),
    });
    const world = new World(JSON.parse(connected.stdout).id, randomFor("many"));
    const { tally, servers } = world;
    try {
      servers.push(...(await Promise.all(Array.from({ length: PROCESSES }, () => startServer(env)))));
      const until = performance.now() + LOAD_MS;
      await Promise.all([
        ...Array.from({ length: CLIENTS }, (_, n) => world.client(`client ${n}, post`, until)),
        world.killNowAndThen(env, until),
      ]);
      await expect
        .poll(
          async () => {
            const { result } = await world.call("list_posts", {
              status: ["scheduled", "publishing"],
              limit: 1,
            });
            return result.posts.length;
          },
          { timeout: 300_000, interval: 500 },
        )
        .toBe(0);
    } finally {
      for (const { child } of servers) child.removeAllListeners("exit").kill("SIGTERM");
      await Promise.all(servers.map(({ child }) => (child.exitCode === null ? once(child, "close") : null)));
    }
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
      how: `${PROCESSES} servers as shipped on one data folder, ${CLIENTS} clients that schedule, change, cancel and list on any of them, one server killed every ${KILL_EVERY_MS / 1_000} s`,
      runs: `${LOAD_MS / 1_000} s, ${tally.calls} calls, ${tally.kills} kills`,
      seen: `0 answers of 5xx (a locked database would be one); ${tally.wanted.size} posts arrived once, ${tally.unwanted.size} changed or cancelled texts never`,
      isSeeded: true,
    });
  });
});
