import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PlatformFault } from "../../src/ports/platform-io.ts";
import { readSecrets } from "../../src/services/platforms/grants.ts";
import { createPlatformIo } from "../../src/services/platforms/platform-io.ts";
import { refreshTokens } from "../../src/services/platforms/oauth/requests.ts";
import { createConnectIo } from "../../src/services/platforms/platform-io.ts";
import { CLIENT } from "../support/fake-oauth.ts";
import { createInstantClock } from "../support/instant-clock.ts";
import { createOAuthWorld, oauthWay, PLACE } from "../support/oauth-world.ts";
import { startOidcProvider } from "../support/oidc.ts";

let provider: Awaited<ReturnType<typeof startOidcProvider>>;
beforeAll(async () => {
  provider = await startOidcProvider(PLACE.redirectUrl);
}, 120_000);
afterAll(() => provider[Symbol.asyncDispose]());

const parts = {
  pkce: "S256",
  clientAuth: "basic",
  scopes: ["read", "write"],
  neededScopes: ["write"],
  scopeSeparator: " ",
} as const;
const open = () => createOAuthWorld(provider, oauthWay(provider, parts), { clock: createInstantClock() });

describe("a real provider", () => {
  it("gives tokens for a consent, once for its code and its own verifier", async () => {
    await using world = await open();
    const first = await world.begin();
    const second = await world.begin();
    const answer = await provider.consent(first.url);
    await expect(world.finish(second.keep, answer)).rejects.toMatchObject({ kind: "invalid" });
    const again = await provider.consent(first.url);
    const { tokens } = await world.finish(first.keep, again);
    expect(tokens).toMatchObject({
      secrets: { accessToken: expect.stringMatching(/./), refreshToken: expect.stringMatching(/./) },
      scopes: ["read", "write"],
    });
    await expect(world.finish(first.keep, again)).rejects.toMatchObject({ kind: "invalid" });
  });

  it("sends back a person who refuses, or leaves a permission out", async () => {
    await using world = await open();
    const { url, keep } = await world.begin();
    await expect(world.finish(keep, await provider.consent(url, []))).rejects.toMatchObject({
      message: expect.stringContaining("permission was refused"),
    });
    await expect(world.finish(keep, await provider.consent(url, ["read"]))).rejects.toMatchObject({
      message: expect.stringContaining("missing: write."),
    });
  });

  it("renews tokens in the middle of an upload, and refuses a refresh token that was used", async () => {
    await using world = await open();
    const [row] = await world.connect();
    const before = await readSecrets(world.ctx, world.ctx.store, row!);
    const io = await createPlatformIo(world.ctx, row!, new AbortController().signal);
    const sent: string[] = [];
    for (let chunk = 1; chunk <= 50; chunk++) {
      await io.authorized(async ({ accessToken = "" }) => {
        if (chunk > 20 && accessToken === before["accessToken"]) throw new PlatformFault("auth", "Expired.");
        sent.push(accessToken);
      });
    }
    expect([sent.length, new Set(sent).size]).toEqual([50, 2]);

    const asking = { provider: "scripted", ownerId: "default" };
    const connectIo = await createConnectIo(world.ctx, asking, new AbortController().signal);
    const app = { clientId: CLIENT.id, clientSecret: CLIENT.secret };
    const at = { platform: world.platform, way: oauthWay(provider, parts), app, ...provider };
    const spent = before["refreshToken"] ?? "";
    await expect(refreshTokens(at, connectIo, spent)).rejects.toMatchObject({ kind: "auth" });
  });
});
