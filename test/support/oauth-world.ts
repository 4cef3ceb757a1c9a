import type { OAuthWay, Place } from "../../src/ports/connect.ts";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import type { AppContext } from "../../src/context.ts";
import { keepGrant } from "../../src/channels/connecting/renew-tokens.ts";
import { beginConsent, finishConsent } from "../../src/channels/connecting/oauth.ts";
import { sealSecrets } from "../../src/channels/platform-io/secrets.ts";
import { accessEndsAt } from "../../src/channels/platform-io/set-up.ts";
import { insertAccount, type AccountRow } from "../../src/store/queries/accounts.ts";
import { createTestContext } from "./context.ts";
import { CLIENT, type FakeOAuth } from "./fake-oauth.ts";
import { accountRow } from "./publishing.ts";
import { scriptedPlatform, targetOf } from "./scripted-platform.ts";

export const PLACE: Place = {
  instanceUrl: null,
  redirectUrl: "http://localhost:4747/connect/callback",
};

/** A way as most platforms have it; one channel comes of it. */
export function oauthWay(fake: Pick<FakeOAuth, "endpoints">, parts: Partial<OAuthWay> = {}): OAuthWay {
  return {
    kind: "oauth",
    name: "oauth",
    label: "Sign in",
    instructions: "Allow it.",
    setup: null,
    endpoints: fake.endpoints,
    scopes: ["read", "write posts"],
    scopeSeparator: ",",
    pkce: "none",
    clientAuth: "body",
    redirect: "any",
    instance: "no",
    renewal: { beforeMs: 0, isSingleUse: true },
    targets: async () => [targetOf({ platformAccountId: "1", name: "One" })],
    ...parts,
  };
}

/** A provider with a person who consents. */
interface Provider extends Pick<FakeOAuth, "base" | "endpoints"> {
  consent(url: string): Record<string, string> | Promise<Record<string, string>>;
}

/** A context in which the one platform is connected by this way. */
export async function createOAuthWorld(fake: Provider, way: OAuthWay, overrides: Partial<AppContext> = {}) {
  const platform = scriptedPlatform({
    publish: async () => ({ state: "live", platformPostId: "1", platformUrl: null }),
    connect: [way],
  });
  const outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
  const ctx = await createTestContext({ platformList: [platform], outbound, ...overrides });
  Object.assign(ctx.settings.platformSettings, {
    POSTHORN_SCRIPTED_CLIENT_ID: CLIENT.id,
    POSTHORN_SCRIPTED_CLIENT_SECRET: CLIENT.secret,
  });
  const consent = { platform, way, place: PLACE, ownerId: "default" };
  const signal = new AbortController().signal;
  const begin = (state = "state-1") => beginConsent(ctx, { ...consent, state }, signal);
  const finish = (keep: Awaited<ReturnType<typeof begin>>["keep"], answer: Record<string, string>) =>
    finishConsent(ctx, { ...consent, keep, answer }, signal);
  return {
    ctx,
    platform,
    begin,
    finish,
    /** A person consents, and this many channels come of it. */
    async connect(channels = 1): Promise<AccountRow[]> {
      const { url, keep } = await begin();
      const { tokens } = await finish(keep, await fake.consent(url));
      if (tokens === null) throw new Error("There are no tokens.");
      return ctx.store.write(async (tx) => {
        const grant_id = await keepGrant(ctx, tx, { ...consent, tokens });
        const rows: AccountRow[] = [];
        for (let n = 1; n <= channels; n++) {
          const ends = { token_expires_at: tokens.expiresAt, access_ends_at: accessEndsAt(way, tokens) };
          const row = accountRow(ctx, { platform_account_id: `${n}`, grant_id, way: way.name, ...ends });
          rows.push({ ...row, secrets_enc: sealSecrets(ctx, row, {}) });
        }
        for (const row of rows) await insertAccount(tx, row);
        return rows;
      });
    },
    async [Symbol.asyncDispose]() {
      await ctx[Symbol.asyncDispose]();
      await outbound[Symbol.asyncDispose]();
    },
  };
}
