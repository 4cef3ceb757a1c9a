import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { HOUR } from "../../src/domain/time.ts";
import { keepGrant } from "../../src/channels/connecting/renew-tokens.ts";
import { renewDueGrants } from "../../src/channels/connecting/renewal.ts";
import { sealSecrets } from "../../src/channels/platform-io/secrets.ts";
import { insertAccount } from "../../src/store/queries/accounts.ts";
import { startFakeOAuth } from "../support/fake-oauth.ts";
import { queryOf } from "../support/handles.ts";
import { createInstantClock } from "../support/instant-clock.ts";
import { createOAuthWorld, oauthWay, PLACE } from "../support/oauth-world.ts";
import { accountRow } from "../support/publishing.ts";

const GRANTS = 2_000;
const OWNERS = 40;
const BATCH = 500;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Without garbage, of which a process that ran other tests before keeps more. */
function usedBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

it("renews 2,000 grants of many owners in one pass, each once", async () => {
  await using fake = await startFakeOAuth();
  const way = oauthWay(fake, { scopeSeparator: " ", renewal: { beforeMs: 2 * HOUR, isSingleUse: true } });
  await using world = await createOAuthWorld(fake, way, { clock: createInstantClock() });
  const { ctx, platform } = world;
  const now = ctx.clock.now();
  for (let first = 0; first < GRANTS; first += BATCH) {
    await ctx.store.write(async (tx) => {
      for (let n = first; n < first + BATCH; n += 1) {
        const { access, refresh, scopes } = fake.issueTokens([]);
        const tokens = {
          secrets: { accessToken: access, refreshToken: refresh },
          expiresAt: now + HOUR,
          renewableUntil: null,
          scopes,
          answer: {},
        };
        const ownerId = `owner-${n % OWNERS}`;
        const grant_id = await keepGrant(ctx, tx, { ownerId, platform, way, place: PLACE, tokens });
        const ids = { owner_id: ownerId, platform_account_id: `${n}`, grant_id, way: way.name };
        const row = accountRow(ctx, ids);
        await insertAccount(tx, { ...row, secrets_enc: sealSecrets(ctx, row, {}) });
      }
    });
  }
  let most = 0;
  const before = usedBytes();
  const memory = setInterval(() => (most = Math.max(most, usedBytes())), 1_000);
  await renewDueGrants(ctx, new AbortController().signal);
  clearInterval(memory);
  expect(fake.state).toMatchObject({ refreshes: GRANTS, isRevoked: false, wrong: [] });
  const rows = await queryOf(ctx.store)
    .selectFrom("grants")
    .select(["secrets_version", "renewing_worker"])
    .distinct()
    .execute();
  expect(rows).toEqual([{ secrets_version: 2, renewing_worker: null }]);
  expect(await queryOf(ctx.store).selectFrom("accounts").select("status").distinct().execute()).toEqual([
    { status: "connected" },
  ]);
  expect((most - before) / 1024 / 1024).toBeLessThan(60);
}, 300_000);
