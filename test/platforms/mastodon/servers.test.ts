import { describe, expect, it } from "vitest";
import mastodon from "../../../src/platforms/mastodon/index.ts";
import { OutboundFailure, type OutboundRequest } from "../../../src/ports/outbound.ts";
import { capabilitiesFor } from "../../../src/channels/platform-io/connect-io.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { callOf } from "../../support/context.ts";
import { endOf, finish } from "../../support/contract/ends.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { addPost } from "../../support/publishing.ts";
import { PROFILES } from "./profiles.ts";
import { openMastodon, type MastodonStage } from "./stage.ts";

const servers = Object.entries(PROFILES);

async function dryRun({ ctx, account }: MastodonStage, caption: string, metadata: object = {}) {
  return schedulePost(callOf(ctx), {
    accountId: account.id,
    caption,
    metadata: metadata as never,
    dryRun: true,
  });
}

describe.each(servers)("on %s", (name, profile) => {
  it("publishes a text or a picture, which is changed and removed", async () => {
    await using stage = await openMastodon(mastodon, profile);
    const metadata = JSON.stringify({ altText: "A horn", language: "de" });
    const post = { caption: "Hello *you*", media_url: PHOTO_URL, metadata };
    const { id } = await addPost(stage.ctx, stage.account, post);
    expect(await endOf(stage, id)).toMatchObject({ status: "published", error: null, warnings: null });
    expect(await stage.captions()).toEqual(["Hello *you*"]);
    const [media] = stage.fake.posts.media.values();
    expect(media).toMatchObject({ description: "A horn" });
    expect(stage.fake.seen.some(({ headers }) => "idempotency-key" in headers)).toBe(name !== "pixelfed");
  });

  it("shows a post once whose answer was lost, and once more only where it proves that it is not there", async () => {
    for (const isTaken of [true, false]) {
      await using stage = await openMastodon(mastodon, profile);
      const { ctx } = stage;
      let isLost = false;
      const request = async (one: OutboundRequest) => {
        if (isLost || !one.url.endsWith("/api/v1/statuses")) return ctx.outbound.request(one);
        isLost = true;
        if (isTaken) await ctx.outbound.request(one);
        throw new OutboundFailure("It broke off.", true);
      };
      const { id } = await addPost(ctx, stage.account, {
        caption: "Lost & found @a@b.example",
        media_url: PHOTO_URL,
      });
      const worker = { ...ctx, outbound: { ...ctx.outbound, request } };
      expect(await finish(ctx, id, worker)).toMatchObject({ status: "published", error: null });
      expect(await stage.published()).toBe(1);
    }
  });

  it("keeps to the server's own limits", async () => {
    await using stage = await openMastodon(mastodon, profile);
    const { caption, media } = capabilitiesFor(stage.ctx, stage.account, null);
    expect([caption.maxLength, media.maxItems]).toEqual([profile.maxCharacters, profile.maxMedia]);
    if (name === "pixelfed") return expect(media.required).toBe(true);
    await dryRun(stage, "x".repeat(profile.maxCharacters));
    await expect(dryRun(stage, "x".repeat(profile.maxCharacters + 1))).rejects.toThrow(/^caption: has/);
  });
});

it("counts addresses and mentions as Mastodon does, and the warning with the text", async () => {
  await using stage = await openMastodon(mastodon);
  const address = `https://long.com/${"a".repeat(300)}`;
  await dryRun(stage, `${"x".repeat(475)} ${address}`);
  await expect(dryRun(stage, `${"x".repeat(477)} ${address}`)).rejects.toThrow("Shorten it by 1.");
  await expect(dryRun(stage, `http://localhost:3000/${"x".repeat(490)}`)).rejects.toThrow(
    "has 512 characters",
  );
  await dryRun(stage, `gemini://long.com/${"a".repeat(600)}`);
  await dryRun(stage, `${"x".repeat(494)} @bob@${"b".repeat(60)}.example`);
  await dryRun(stage, "👩‍👩‍👧".repeat(500));
  await dryRun(stage, "x".repeat(496), { spoilerText: "long" });
  await expect(dryRun(stage, "x".repeat(497), { spoilerText: "long" })).rejects.toThrow(
    /^metadata\.spoilerText: has 501 characters together/,
  );
  await expect(dryRun(stage, "x", { thread: [{ caption: "y".repeat(501) }] })).rejects.toThrow(
    /^metadata\.thread\[0\]\.caption: has 501 characters/,
  );
  await expect(dryRun(stage, "x", { poll: {} })).rejects.toMatchObject({ kind: "invalid" });
});

it("does not repeat after the key's time without having looked", async () => {
  await using stage = await openMastodon(mastodon);
  const { ctx, fake: server } = stage;
  let isDown = false;
  const request = async (one: OutboundRequest) => {
    if (isDown) throw new OutboundFailure("Nobody answers.", false);
    if (!one.url.endsWith("/api/v1/statuses")) return ctx.outbound.request(one);
    await ctx.outbound.request(one);
    isDown = true;
    throw new OutboundFailure("It broke off.", true);
  };
  const { id } = await addPost(ctx, stage.account, { caption: "Hello" });
  const down = { ...ctx, outbound: { ...ctx.outbound, request } };
  await finish(ctx, id, down, async () => ctx.clock.now() > Date.parse("2026-11-21T09:50:00Z"));
  expect(await endOf(stage, id)).toMatchObject({ status: "published", error: null });
  expect(await stage.published()).toBe(1);
  expect(server.count("POST /api/v1/statuses")).toBe(1);
});

it("leaves it to a person where a server does not list what was sent", async () => {
  await using stage = await openMastodon(mastodon, PROFILES.snac);
  const { ctx } = stage;
  const request = async (one: OutboundRequest) => {
    if (!one.url.endsWith("/api/v1/statuses")) return ctx.outbound.request(one);
    throw new OutboundFailure("It broke off.", true);
  };
  const post = { caption: "For some", metadata: JSON.stringify({ visibility: "private" }) };
  const { id } = await addPost(ctx, stage.account, post);
  const worker = { ...ctx, outbound: { ...ctx.outbound, request } };
  expect(await finish(ctx, id, worker)).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/^outcome unknown: .*lists only public posts/),
  });
});

it("waits for a film that the server still works on, and sends again media that it has dropped", async () => {
  await using stage = await openMastodon(mastodon);
  const { ctx, fake: server } = stage;
  const scheduledAt = ctx.clock.now() + 3_600_000;
  const times = { scheduled_at: scheduledAt, due_at: ctx.clock.now(), lead_minutes: 60 };
  const { id } = await addPost(ctx, stage.account, { caption: "Film", media_url: CLIP_URL, ...times });
  await finish(ctx, id, ctx, async () => server.posts.media.size > 0);
  server.posts.media.clear();
  expect(await endOf(stage, id)).toMatchObject({ status: "published", error: null });
  expect(server.count("POST /api/v2/media")).toBe(2);
  const status = server.posts.heads()[0];
  expect(status?.createdAt).toBeGreaterThanOrEqual(scheduledAt);
});
