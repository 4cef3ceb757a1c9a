import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { readSecrets } from "../../src/services/platforms/grants.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import { openStore } from "../../src/store/open-store.ts";
import { listAccountRows } from "../../src/store/tables/accounts.ts";
import { startFakeOAuth } from "../support/fake-oauth.ts";
import { createOAuthWorld, oauthWay } from "../support/oauth-world.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const ROUNDS = 100;
const WORKER = fileURLToPath(new URL("renewing-worker.ts", import.meta.url));

/** A process that uses the channel; `use` answers the token that it ended with. */
async function startWorker(folder: string, base: string) {
  const child = spawn(process.execPath, ["--import", "tsx", WORKER, folder, base], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  expect(await next()).toBe("ready");
  return {
    use: (refused: string) => {
      child.stdin.write(`${refused}\n`);
      return next();
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      if (child.exitCode === null) await new Promise((resolve) => child.once("exit", resolve));
    },
  };
}

it(`renews a token once when two processes find it expired together, ${ROUNDS} times`, async () => {
  using folder = temporaryFolder();
  await using fake = await startFakeOAuth();
  const key = randomBytes(32);
  await writeFile(join(folder.path, "key"), key);
  await using world = await createOAuthWorld(fake, oauthWay(fake, { scopeSeparator: " " }), {
    cipher: createCipher(key),
    store: await openStore({ file: join(folder.path, "posthorn.db") }),
  });
  const [row] = await world.connect();
  let token = (await readSecrets(world.ctx, world.ctx.store, row!))["accessToken"] ?? "";
  await using one = await startWorker(folder.path, fake.base);
  await using two = await startWorker(folder.path, fake.base);
  for (let round = 1; round <= ROUNDS; round += 1) {
    const [a, b] = await Promise.all([one.use(token), two.use(token)]);
    expect([round, a, a === token]).toEqual([round, b, false]);
    expect(fake.state).toMatchObject({ refreshes: round, isRevoked: false, wrong: [] });
    token = a;
  }
  const rows = await listAccountRows(world.ctx.store, "default");
  expect(rows.map(({ status }) => status)).toEqual(["connected"]);
}, 180_000);
