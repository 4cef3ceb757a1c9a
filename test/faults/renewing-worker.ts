import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { systemClock } from "../../src/app/system-clock.ts";
import { newId } from "../../src/domain/ids.ts";
import { PlatformFault } from "../../src/ports/platform-io.ts";
import { createPlatformIo } from "../../src/channels/connecting/account-io.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import { openStore } from "../../src/store/open-store.ts";
import { listAccountRows } from "../../src/store/queries/accounts.ts";
import { createOAuthWorld, oauthWay } from "../support/oauth-world.ts";

/**
 * A process that uses a channel: at each line it gets, the platform refuses the token of that line, and the
 * token that was taken then is a line of its own. argv: data folder, base address of the provider, and that of a
 * PostgreSQL where the database is not in the folder.
 */
const [folder = "", base = "", url] = process.argv.slice(2);
const endpoints = { authorize: `${base}/authorize`, token: `${base}/token`, revoke: `${base}/revoke` };
const provider = { base, endpoints, consent: () => ({}) };
const world = await createOAuthWorld(provider, oauthWay(provider, { scopeSeparator: " " }), {
  clock: systemClock,
  cipher: createCipher(readFileSync(join(folder, "key"))),
  store: await openStore(
    url === undefined ? { file: join(folder, "posthorn.db") } : { url, clock: systemClock },
  ),
  workerId: newId("wrk"),
});
const [row] = await listAccountRows(world.ctx.store, "default");
if (row === undefined) throw new Error("There is no channel.");

async function use(refused: string): Promise<string> {
  const io = await createPlatformIo(world.ctx, row!, new AbortController().signal);
  return io.authorized(async ({ accessToken = "" }) => {
    if (accessToken === refused) throw new PlatformFault("auth", "It does not accept the token any more.");
    return accessToken;
  });
}

process.stdout.write("ready\n");
for await (const refused of createInterface({ input: process.stdin })) {
  const told = await use(refused).catch((error: unknown) => `error: ${String(error)}`);
  process.stdout.write(`${told}\n`);
}
await world[Symbol.asyncDispose]();
