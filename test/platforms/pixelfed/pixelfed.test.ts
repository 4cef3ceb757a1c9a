import { expect, it } from "vitest";
import pixelfed from "../../../src/platforms/pixelfed/index.ts";
import type { OutboundRequest } from "../../../src/ports/outbound.ts";
import { capabilitiesFor } from "../../../src/channels/platform-io/connect-io.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { toPlatformPost } from "../../../src/publishing/publish-io.ts";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import { consentOn } from "../../support/contract/consent-on.ts";
import { endOf, finish } from "../../support/contract/ends.ts";
import { createStageMedia, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { addPost, readPost } from "../../support/publishing.ts";
import { createFakeMastodon, SERVER } from "../mastodon/fake.ts";
import { PROFILES } from "../mastodon/profiles.ts";
import { openPixelfed } from "./stage.ts";
import { answerOf } from "../../support/described.ts";

const picture = { media_url: PHOTO_URL, metadata: JSON.stringify({ altText: "A horn" }) };

it("registers itself at a server, asks for the scopes that it knows, and renews its token", async () => {
  const clock = new FakeClock();
  const server = createFakeMastodon({ now: () => clock.now(), profile: PROFILES.pixelfed });
  const parts = { platformList: [pixelfed], outbound: server.door, media: createStageMedia(), clock };
  await using ctx = await createTestContext(parts);
  const asked = { provider: "pixelfed", instanceUrl: "social.example" };
  const { rows, error, url } = await consentOn(callOf(ctx), asked, {
    agree: (address) => server.consents.consent(address),
  });
  expect(error).toBeNull();
  const [row] = rows;
  expect(row).toMatchObject({ provider: "pixelfed", name: "Alice", id_server: SERVER, status: "connected" });
  expect(new URL(url).searchParams.get("scope")).toBe("read write");
  expect(url).not.toContain("code_challenge");
  if (row === undefined) throw new Error("Nothing was connected.");
  server.consents.tokens.clear();
  const { id } = await addPost(ctx, row, picture);
  expect(await finish(ctx, id)).toMatchObject({ status: "published", error: null });
  expect(server.wrong).toEqual([]);
});

it("connects with a token, and says where one is had", async () => {
  await using stage = await openPixelfed(pixelfed);
  const wrong = { provider: "pixelfed", way: "token", instanceUrl: SERVER, secrets: { accessToken: "x" } };
  await expect(connectOn(callOf(stage.ctx), wrong)).rejects.toThrow(
    /^accessToken: social\.example refused it\. On the server, under Settings/,
  );
});

it("keeps to its limits: pictures are required, no keys, nothing else", async () => {
  await using stage = await openPixelfed(pixelfed, { mimeTypes: ["image/jpeg"], maxCharacters: 20 });
  const { ctx, account } = stage;
  const dryRun = (caption: string, mediaUrl = PHOTO_URL, metadata: object = {}) =>
    schedulePost(callOf(ctx), {
      accountId: account.id,
      caption,
      mediaUrl,
      metadata: metadata as never,
      dryRun: true,
    });
  const { media, caption } = capabilitiesFor(ctx, account, null);
  expect([media.required, media.accepts.map(({ kind }) => kind), caption.maxLength]).toEqual([
    true,
    ["image"],
    20,
  ]);
  await expect(dryRun("Hello", "")).rejects.toThrow(/mediaUrl/);
  await expect(dryRun("https://a.example/long")).rejects.toThrow(/^caption: /);
  // What keeps a tag from being one counts.
  await dryRun("x <b ".padEnd(17, "x"));
  await expect(dryRun("x <b ".padEnd(18, "x"))).rejects.toThrow(/^caption: /);
  await expect(dryRun("x", PHOTO_URL, { thread: [{ caption: "y" }] })).rejects.toMatchObject({
    kind: "invalid",
  });
  await expect(dryRun("x", PHOTO_URL, { sensitive: true, spoilerText: "y".repeat(141) })).rejects.toThrow(
    /^metadata\.spoilerText: has 141/,
  );
  const { warnings } = await dryRun("x", PHOTO_URL, { spoilerText: "y" });
  expect(JSON.stringify(warnings)).toContain("only with sensitive: true");
  const { id } = await addPost(ctx, account, picture);
  await endOf(stage, id);
  expect(stage.fake.seen.some(({ headers }) => "idempotency-key" in headers)).toBe(false);
  const change = editPublishedPost(callOf(ctx), { id, caption: "Other" });
  await expect(change).rejects.toMatchObject({ kind: "conflict" });
});

it("settles by its own posts what says that the key or the media were used, also where few see them", async () => {
  for (const error of ["Duplicate idempotency key.", "Invalid media_ids"]) {
    await using stage = await openPixelfed(pixelfed);
    const { ctx } = stage;
    let isFirst = true;
    const request = async (one: OutboundRequest) => {
      if (!isFirst || !one.url.endsWith("/statuses")) return ctx.outbound.request(one);
      isFirst = false;
      await ctx.outbound.request(one);
      return answerOf(400, { error });
    };
    const metadata = JSON.stringify({ ...PICTURES, visibility: "private" });
    const { id } = await addPost(ctx, stage.account, { ...picture, metadata });
    const worker = { ...ctx, outbound: { ...ctx.outbound, request } };
    expect(await finish(ctx, id, worker)).toMatchObject({ status: "published", error: null });
    expect([await stage.published(), stage.fake.count("POST /api/v1/statuses")]).toEqual([1, 1]);
  }
});

it("makes no error of a post that is gone already", async () => {
  await using stage = await openPixelfed(pixelfed);
  const { ctx, account, fake: server } = stage;
  const { id } = await addPost(ctx, account, picture);
  await endOf(stage, id);
  server.posts.statuses.clear();
  const io = await createPlatformIo(ctx, account, AbortSignal.timeout(5_000));
  const post = toPlatformPost(pixelfed, await readPost(ctx, id));
  await pixelfed.remove?.(post, io);
  expect(await pixelfed.insights?.(post, io as never)).toMatchObject({ state: "removed" });
});
