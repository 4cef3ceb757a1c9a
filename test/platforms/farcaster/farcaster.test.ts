import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { connectWithSecrets } from "../../../src/channels/connecting/connections.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import farcaster from "../../../src/platforms/farcaster/index.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { readStepResults, toPlatformPost } from "../../../src/publishing/publish-io.ts";
import { callOf } from "../../support/context.ts";
import { endOf } from "../../support/contract/ends.ts";
import { API_KEY, QUOTED, SIGNER } from "./fake.ts";
import { CLIENT_ID, openSignIn } from "./sign-in.ts";
import { openFarcaster } from "./stage.ts";

it.each([
  [{ apiKey: API_KEY, signerUuid: "another" }, "approved", /^signerUuid: /],
  [{ apiKey: API_KEY, signerUuid: SIGNER }, "pending_approval", /^signerUuid: The signer is not approved/],
  [{ apiKey: "wrong", signerUuid: SIGNER }, "approved", /^apiKey: /],
])("says what is wrong with a key or a signer: %j, %s", async (secrets, status, expected) => {
  await using stage = await openFarcaster();
  stage.fake.state.status = status;
  const connecting = connectWithSecrets(callOf(stage.ctx), { provider: "farcaster", secrets });
  await expect(connecting).rejects.toThrow(expected);
});

it("tells who the account is, and that its signer was revoked", async () => {
  await using stage = await openFarcaster();
  expect(stage.account).toMatchObject({ platform_account_id: "194", handle: "alice" });
  const io = await createPlatformIo(stage.ctx, stage.account, AbortSignal.timeout(5_000));
  expect(await farcaster.inspect?.(io)).toMatchObject({ name: "Alice", problem: null });
  stage.fake.state.status = "revoked";
  expect(await farcaster.inspect?.(io)).toMatchObject({ problem: expect.stringMatching(/reconnect/) });
});

it("casts with pictures, a link, a quote, a channel, and a thread of replies", async () => {
  await using stage = await openFarcaster();
  const { ctx, fake } = stage;
  const quote = "https://farcaster.xyz/bob/0xababab";
  const metadata = { link: "https://a.example/", quote, channel: "brass", thread: [{ caption: "More" }] };
  const row = await endOf(stage, (await stage.add("Head", metadata)).id);
  const [head, reply] = [...fake.casts.values()];
  expect(head).toMatchObject({
    channel: "brass",
    embeds: [{ url: "https://a.example/" }, { cast_id: { hash: QUOTED, fid: 7 } }],
  });
  expect(reply).toMatchObject({ text: "More", parent_hash: head?.hash, embeds: [], channel: null });
  expect(row).toMatchObject({
    platform_post_id: head?.hash,
    platform_url: `https://farcaster.xyz/~/conversations/${head?.hash}`,
  });
  expect(await readInsights(ctx, row)).toMatchObject({
    state: "live",
    metrics: { likes: 3, shares: 2, comments: 1 },
  });
  const io = {
    ...(await createPlatformIo(ctx, stage.account, AbortSignal.timeout(5_000))),
    ...(await readStepResults(ctx, row)),
  };
  await farcaster.remove?.(toPlatformPost(farcaster, row), io);
  await farcaster.remove?.(toPlatformPost(farcaster, row), io);
  expect(fake.casts.size).toBe(0);
  expect(await readInsights(ctx, row)).toMatchObject({ state: "removed" });
});

it("casts the same words again when they are another post", async () => {
  await using stage = await openFarcaster();
  await endOf(stage, (await stage.add("Twin")).id);
  await endOf(stage, (await stage.add("Twin")).id);
  expect(await stage.published()).toBe(2);
});

it("lists channels by a search, or those that the account follows", async () => {
  await using stage = await openFarcaster();
  const asked = { accountId: stage.account.id, field: "channel" };
  for (const search of ["", "bra"])
    expect(await listChoices(callOf(stage.ctx), { ...asked, search })).toMatchObject({
      choices: [{ value: "brass", label: "Brass" }],
    });
  expect(stage.fake.calls).toEqual(expect.arrayContaining(["GET /user/channels/", "GET /channel/search/"]));
});

it.each([
  [{ channel: "nowhere" }, /^metadata\.channel: /],
  [{ quote: `0x${"cd".repeat(20)}` }, /^metadata\.quote: Farcaster has no such cast/],
])("says what Farcaster does not know: %j", async (metadata, expected) => {
  await using stage = await openFarcaster();
  const row = await endOf(stage, (await stage.add("A", metadata)).id);
  expect(row).toMatchObject({ status: "failed", error: expect.stringMatching(expected) });
});

it("offers to sign in with Neynar in a window of its own, with no script but ours", async () => {
  await using at = await openSignIn();
  const answer = await fetch(at.page);
  const page = await answer.text();
  expect(page).toContain(`data-url="${at.neynar}/login?client_id=${CLIENT_ID}"`);
  expect(page).toContain('data-field="signerUuid"');
  expect(page).toContain('id="signerUuid"');
  const [, script = ""] = /<script>(.*?)<\/script>/s.exec(page) ?? [];
  const hash = createHash("sha256").update(script).digest("base64");
  expect(answer.headers.get("content-security-policy")).toContain(`script-src 'sha256-${hash}'`);
});

it("asks for the signer where no app at Neynar is named", async () => {
  await using at = await openSignIn({ isSetUp: false });
  const answer = await fetch(at.page);
  const page = await answer.text();
  expect(page).not.toContain("<script");
  expect(page).toContain("POSTHORN_FARCASTER_CLIENT_ID");
  expect(answer.headers.get("content-security-policy")).not.toContain("script-src");
});

it("reads hashes without 0x, which Neynar may answer with", async () => {
  await using stage = await openFarcaster();
  const { ctx, fake } = stage;
  const { outbound } = ctx;
  const request: typeof outbound.request = async (sent) => {
    const answer = await outbound.request(sent);
    const body = await text(answer.body);
    return { ...answer, body: Readable.from([Buffer.from(body.replaceAll('hash":"0x', 'hash":"'))]) };
  };
  Object.assign(ctx, { outbound: { ...outbound, request } });
  const row = await endOf(stage, (await stage.add("Head", { thread: [{ caption: "More" }] })).id);
  const [head, reply] = [...fake.casts.values()];
  expect(row).toMatchObject({ status: "published", platform_post_id: head?.hash });
  expect(reply?.parent_hash).toBe(head?.hash);
});
