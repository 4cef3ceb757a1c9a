import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { readSecrets } from "../../../src/services/platforms/grants.ts";
import { createCipher } from "../../../src/store/engine/cipher.ts";
import { listAccountRows } from "../../../src/store/tables/accounts.ts";
import { report, times, TIMEOUT_MS } from "../../faults/report.ts";
import { startFakeOAuth } from "../../support/fake-oauth.ts";
import { createOAuthWorld, oauthWay } from "../../support/oauth-world.ts";
import { openStoreOn } from "../../support/postgres-store-on.ts";
import { createDatabase } from "../../support/postgres.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const ROUNDS = times({ short: 40, long: 1_000 });
const WORKER = fileURLToPath(new URL("../../faults/renewing-worker.ts", import.meta.url));

/** A host that uses the channel; `use` answers the token that it ended with. */
async function startHost(args: readonly string[]) {
  const child = spawn(process.execPath, ["--import", "tsx", WORKER, ...args], {
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

it(
  `renews a token once when three hosts find it expired together, ${ROUNDS} times`,
  async () => {
    using folder = temporaryFolder();
    await using database = await createDatabase();
    await using fake = await startFakeOAuth();
    const key = randomBytes(32);
    await writeFile(join(folder.path, "key"), key);
    await using world = await createOAuthWorld(fake, oauthWay(fake, { scopeSeparator: " " }), {
      cipher: createCipher(key),
      store: await openStoreOn(database.url),
    });
    const [row] = await world.connect();
    let token = (await readSecrets(world.ctx, world.ctx.store, row!))["accessToken"] ?? "";
    const args = [folder.path, fake.base, database.url];
    await using one = await startHost(args);
    await using two = await startHost(args);
    await using three = await startHost(args);
    const hosts = [one, two, three];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const [first = "", ...others] = await Promise.all(hosts.map((host) => host.use(token)));
      expect([round, others, first === token]).toEqual([round, others.map(() => first), false]);
      expect(fake.state).toMatchObject({ refreshes: round, isRevoked: false, wrong: [] });
      token = first;
    }
    const rows = await listAccountRows(world.ctx.store, "default");
    expect(rows.map(({ status }) => status)).toEqual(["connected"]);
    report({
      fault: "F5",
      how: `PostgreSQL: three processes find a refresh token of a single use expired at the same moment`,
      runs: `${ROUNDS} rounds`,
      seen: `${ROUNDS} renewals, 0 refused, the channel connected`,
    });
  },
  TIMEOUT_MS,
);
