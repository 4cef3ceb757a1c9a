import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bearer } from "../../src/platforms/shared/faults.ts";
import { PlatformFault } from "../../src/ports/platform-io.ts";
import { readSecrets } from "../../src/channels/connecting/renew-tokens.ts";
import { createPlatformIo } from "../../src/channels/connecting/account-io.ts";
import { refreshTokens } from "../../src/channels/connecting/oauth-requests.ts";
import { createConnectIo } from "../../src/channels/platform-io/connect-io.ts";
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

  it("renews tokens that end in the middle of an upload", async () => {
    const scopes = ["openid", ...parts.scopes];
    const way = oauthWay(provider, { ...parts, scopes });
    await using world = await createOAuthWorld(provider, way, { clock: createInstantClock() });
    const [row] = await world.connect();
    const io = await createPlatformIo(world.ctx, row!, new AbortController().signal);
    const sent: string[] = [];
    for (let chunk = 1; chunk <= 50; chunk++) {
      const sign = (secrets: Readonly<Record<string, string>>) => {
        sent.push(secrets["accessToken"] ?? "");
        return bearer()(secrets);
      };
      const form = { chunk: String(chunk) };
      const { json } = await io.request({ method: "POST", url: provider.protectedUrl, form, sign });
      expect(json).toMatchObject({ sub: "alice" });
      await setTimeout(100);
    }
    // Each that ended was refused once, and its chunk sent again with the next.
    const used = new Set(sent).size;
    expect(used).toBeGreaterThan(2);
    expect(sent).toHaveLength(50 + used - 1);
  });

  it("refuses a refresh token that was used", async () => {
    await using world = await open();
    const [row] = await world.connect();
    const before = await readSecrets(world.ctx, world.ctx.store, row!);
    const io = await createPlatformIo(world.ctx, row!, new AbortController().signal);
    await io.authorized(async ({ accessToken = "" }) => {
      if (accessToken === before["accessToken"]) throw new PlatformFault("auth", "Expired.");
    });
    const asking = { provider: "scripted", ownerId: "default" };
    const connectIo = await createConnectIo(world.ctx, asking, new AbortController().signal);
    const app = { clientId: CLIENT.id, clientSecret: CLIENT.secret };
    const at = { platform: world.platform, way: oauthWay(provider, parts), app, ...provider };
    const spent = before["refreshToken"] ?? "";
    await expect(refreshTokens(at, connectIo, spent)).rejects.toMatchObject({ kind: "auth" });
  });
});
