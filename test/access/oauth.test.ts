import { hash, randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAY, MINUTE } from "../../src/domain/time.ts";
import { createKey, findKeyCaller, listKeys, revokeKey } from "../../src/access/api-keys.ts";
import { registerClient } from "../../src/access/oauth/clients.ts";
import { decideConsent } from "../../src/access/oauth/consents.ts";
import { listGrants, revokeGrant } from "../../src/access/oauth/grants.ts";
import { createOAuthServer, type OAuthServer } from "../../src/access/oauth/oauth-server.ts";
import { beginRequest } from "../../src/access/oauth/requests.ts";
import { findTokenCaller, issueTokens, revokeToken } from "../../src/access/oauth/tokens.ts";
import type { Caller } from "../../src/domain/permissions.ts";
import { callerOf, callOf, createTestContext, type TestContext } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";

const CALLBACK = "https://agent.example.com/callback";

let ctx: TestContext;
let server: OAuthServer;
let id: string;

beforeEach(async () => {
  ctx = await createTestContext();
  server = createOAuthServer(ctx, { publicUrl: "https://posts.example.com", fixedKey: null });
  id = (await registerClient(server, { redirect_uris: [CALLBACK], token_endpoint_auth_method: "none" }))
    .client_id;
});

afterEach(() => ctx[Symbol.asyncDispose]());

/** What a person's yes is exchanged with. */
async function takeCode(caller: Caller = callerOf()): Promise<URLSearchParams> {
  const verifier = randomBytes(32).toString("base64url");
  const asked = new URLSearchParams({
    response_type: "code",
    client_id: id,
    redirect_uri: CALLBACK,
    code_challenge: hash("sha256", verifier, "base64url"),
    code_challenge_method: "S256",
  });
  const page = new URL(await beginRequest(server, asked, "https://posts.example.com/app/consent"));
  const request = page.searchParams.get("request") ?? "";
  const decision = { decision: "allow", role: "writer" } as const;
  const { redirectUrl } = await decideConsent(server, callOf(ctx, caller), { id: request, decision });
  return new URLSearchParams({
    grant_type: "authorization_code",
    code: new URL(redirectUrl).searchParams.get("code") ?? "",
    redirect_uri: CALLBACK,
    code_verifier: verifier,
  });
}

async function connect(caller?: Caller) {
  return issueTokens(server, await takeCode(caller), id);
}

function refresh(token: string) {
  return issueTokens(server, new URLSearchParams({ grant_type: "refresh_token", refresh_token: token }), id);
}

describe("a program's access", () => {
  it("is a key without a secret that anyone has, and keeps no secret", async () => {
    const tokens = await connect();
    const caller = await findTokenCaller(server, tokens.access_token);
    expect(caller).toMatchObject({
      ownerId: "default",
      permissions: ["read", "draft", "files"],
      isLocal: false,
    });
    const { keys } = await listKeys(callOf(ctx));
    expect(keys).toMatchObject([
      { id: caller?.keyId, name: "agent.example.com", role: "writer", status: "active" },
    ]);
    const tables = ["api_keys", "oauth_clients", "oauth_codes", "oauth_grants", "oauth_tokens"] as const;
    const rows = await Promise.all(
      tables.map((one) => queryOf(ctx.store).selectFrom(one).selectAll().execute()),
    );
    for (const secret of [tokens.access_token, tokens.refresh_token])
      expect(JSON.stringify(rows)).not.toContain(secret.slice(4));
  });

  it("keeps its key when its tokens change", async () => {
    const first = await connect();
    const second = await refresh(first.refresh_token);
    const [one, other] = await Promise.all(
      [first, second].map(({ access_token }) => findTokenCaller(server, access_token)),
    );
    expect(one?.keyId).toBe(other?.keyId);
  });

  it("is given once for a code, however many ask at once", async () => {
    const code = await takeCode();
    const done = await Promise.allSettled(Array.from({ length: 4 }, () => issueTokens(server, code, id)));
    expect(done.filter(({ status }) => status === "fulfilled").length).toBe(1);
    // Someone has it without right, so what came of it is over.
    expect((await listGrants(callOf(ctx))).grants).toEqual([]);
  });

  it("is lost by none of ten who ask twice at once", async () => {
    const ten = await Promise.all(Array.from({ length: 10 }, () => connect()));
    const twice = ten.flatMap(({ refresh_token }) => [refresh(refresh_token), refresh(refresh_token)]);
    for (const { access_token, refresh_token } of await Promise.all(twice)) {
      expect(await findTokenCaller(server, access_token)).not.toBeNull();
      await refresh(refresh_token);
    }
    expect((await listGrants(callOf(ctx))).grants).toHaveLength(10);
  });

  it("ends where an old refresh token comes late", async () => {
    const first = await connect();
    const second = await refresh(first.refresh_token);
    await ctx.clock.advance(2 * MINUTE + 1);
    await expect(refresh(first.refresh_token)).rejects.toMatchObject({ code: "invalid_grant" });
    expect(await findTokenCaller(server, second.access_token)).toBeNull();
  });

  it("ends with the key that gave it, at once", async () => {
    const { apiKey } = await createKey(callOf(ctx), { name: "Ann" });
    const ann = await findKeyCaller(ctx, apiKey.id);
    const tokens = await connect(ann ?? undefined);
    const others = await connect();
    await revokeKey(callOf(ctx), { key: apiKey.id });
    expect(await findTokenCaller(server, tokens.access_token)).toBeNull();
    expect(await findTokenCaller(server, others.access_token)).not.toBeNull();
  });

  it("is never more than the key that gave it, whatever becomes of that", async () => {
    const { apiKey } = await createKey(callOf(ctx), { name: "Ann", expires: "30d" });
    const tokens = await connect((await findKeyCaller(ctx, apiKey.id)) ?? undefined);
    const found = () => findTokenCaller(server, tokens.access_token);
    const change = (row: Partial<Record<"permissions" | "account_ids" | "expires_at", string | number>>) =>
      ctx.store.write(async (tx) => {
        await queryOf(tx)
          .updateTable("api_keys")
          .set(row as object)
          .where("id", "=", apiKey.id)
          .execute();
      });
    await change({ permissions: JSON.stringify(["read", "draft"]) });
    expect(await found()).toMatchObject({ permissions: ["read", "draft"], accountIds: null });
    await change({ account_ids: JSON.stringify(["acc_one"]) });
    expect(await found()).toMatchObject({ permissions: ["read", "draft"], accountIds: ["acc_one"] });
    await change({ expires_at: ctx.clock.now() });
    expect(await found()).toBeNull();
    await expect(refresh(tokens.refresh_token)).rejects.toMatchObject({ code: "invalid_grant" });
  });

  it("is ended by its owner, by a key's id, or by the program", async () => {
    const [one, two, three] = await Promise.all([connect(), connect(), connect()]);
    const keyOf = async (token: string): Promise<string> =>
      (await findTokenCaller(server, token))?.keyId ?? "";
    const stranger = callOf(ctx, callerOf({ ownerId: "other" }));
    await expect(revokeGrant(stranger, await keyOf(one.access_token))).rejects.toThrow(/no such program/);
    await revokeGrant(callOf(ctx), await keyOf(one.access_token));
    await revokeKey(callOf(ctx), { key: await keyOf(two.access_token) });
    await revokeToken(server, new URLSearchParams({ token: three.refresh_token }), id);
    for (const { access_token } of [one, two, three])
      expect(await findTokenCaller(server, access_token)).toBeNull();
    expect((await listGrants(callOf(ctx))).grants).toEqual([]);
  });

  it("leaves no rows of what has expired", async () => {
    const first = await connect();
    await ctx.clock.advance(DAY);
    const second = await refresh(first.refresh_token);
    const rows = await queryOf(ctx.store).selectFrom("oauth_tokens").selectAll().execute();
    expect(rows.filter(({ kind }) => kind === "access")).toHaveLength(1);
    await ctx.clock.advance(31 * DAY);
    await refresh(second.refresh_token);
    await registerClient(server, { redirect_uris: [CALLBACK] });
    expect(await queryOf(ctx.store).selectFrom("oauth_clients").select("id").execute()).toHaveLength(2);
    await ctx.clock.advance(61 * DAY);
    await registerClient(server, { redirect_uris: [CALLBACK] });
    expect(await queryOf(ctx.store).selectFrom("oauth_clients").select("id").execute()).toHaveLength(1);
  });
});
