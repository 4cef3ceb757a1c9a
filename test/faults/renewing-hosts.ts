import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "vitest";
import { readSecrets } from "../../src/channels/connecting/renew-tokens.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { listAccountRows } from "../../src/store/queries/accounts.ts";
import { startFakeOAuth } from "../support/fake-oauth.ts";
import { createOAuthWorld, oauthWay } from "../support/oauth-world.ts";
import { buildWorker } from "./fault-runner.ts";

/** Expects one renewal a round where `hosts` processes find a token of a single use expired together. */
export async function renewTogether(options: {
  readonly hosts: number;
  readonly rounds: number;
  readonly store: Store;
  /** A data folder; with the database, where that is not at `url`. */
  readonly folder: string;
  readonly url?: string;
}): Promise<void> {
  const { rounds, store, folder, url } = options;
  await using fake = await startFakeOAuth();
  const key = randomBytes(32);
  await writeFile(join(folder, "key"), key);
  await using world = await createOAuthWorld(fake, oauthWay(fake, { scopeSeparator: " " }), {
    cipher: createCipher(key),
    store,
  });
  const [row] = await world.connect();
  let token = (await readSecrets(world.ctx, world.ctx.store, row!))["accessToken"] ?? "";
  const worker = await buildWorker("renewing-worker");
  const args = [folder, fake.base, ...(url === undefined ? [] : [url])];
  await using hosts = await startHosts(options.hosts, () => startHost(worker, args));
  for (let round = 1; round <= rounds; round += 1) {
    const [first = "", ...others] = await Promise.all(hosts.all.map((host) => host.use(token)));
    expect([round, others, first === token]).toEqual([round, others.map(() => first), false]);
    expect(fake.state).toMatchObject({ refreshes: round, isRevoked: false, wrong: [] });
    token = first;
  }
  const rows = await listAccountRows(world.ctx.store, "default");
  expect(rows.map(({ status }) => status)).toEqual(["connected"]);
}

/** A process that uses the channel; `use` answers the token that it ended with. */
interface Host extends AsyncDisposable {
  use(refused: string): Promise<string>;
}

async function startHosts(count: number, start: () => Promise<Host>) {
  const all = await Promise.all(Array.from({ length: count }, start));
  return {
    all,
    [Symbol.asyncDispose]: async () =>
      void (await Promise.all(all.map((host) => host[Symbol.asyncDispose]()))),
  };
}

async function startHost(worker: string, args: readonly string[]): Promise<Host> {
  const child = spawn(process.execPath, [worker, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  expect(await next()).toBe("ready");
  return {
    use: (refused) => {
      child.stdin.write(`${refused}\n`);
      return next();
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      if (child.exitCode === null) await new Promise((resolve) => child.once("exit", resolve));
    },
  };
}
