import { describe, expect, it } from "vitest";
import youtube from "../../../src/platforms/youtube/index.ts";
import { tagsLength } from "../../../src/platforms/youtube/metadata.ts";
import { untilPacificMidnight } from "../../../src/platforms/shared/google.ts";
import { HOUR } from "../../../src/domain/time.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { callOf } from "../../support/context.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { createYoutubeWorld } from "./world.ts";

async function dryRun(metadata: object, more: object = {}) {
  const { ctx, account } = await createYoutubeWorld();
  const post = {
    accountId: account.id,
    caption: "Hi",
    mediaUrl: CLIP_URL,
    metadata: { ...metadata },
    ...more,
  };
  return schedulePost(callOf(ctx), {
    scheduledAt: new Date(ctx.clock.now()).toISOString(),
    ...post,
    dryRun: true,
  } as never);
}

describe("what is scheduled for YouTube", () => {
  it("needs a title of at most 100 characters, however many bytes these have", async () => {
    await expect(dryRun({})).rejects.toThrow(/metadata\.title/);
    await expect(dryRun({ title: "  " })).rejects.toThrow(/metadata\.title: must not be empty/);
    await expect(dryRun({ title: "a < b" })).rejects.toThrow(/metadata\.title: must not hold </);
    await expect(dryRun({ title: "x".repeat(101) })).rejects.toThrow(
      /metadata\.title: may have 100 characters/,
    );
    expect((await dryRun({ title: "📯".repeat(100) })).post.status).toBe("scheduled");
  });

  it("counts tags as YouTube does", async () => {
    expect([tagsLength([]), tagsLength(["ab"]), tagsLength(["ab", "c d"])]).toEqual([0, 2, 8]);
    const tags = ["x".repeat(100), "y".repeat(100), "z".repeat(100), "u".repeat(100), "v".repeat(96)];
    expect((await dryRun({ title: "T", tags })).post.metadata).toMatchObject({ tags });
    const spaced = [...tags.slice(0, 4), `${"v".repeat(47)} ${"v".repeat(48)}`];
    await expect(dryRun({ title: "T", tags: spaced })).rejects.toThrow(
      /metadata\.tags: have 502 characters together/,
    );
  });

  it("counts the description in bytes", async () => {
    expect((await dryRun({ title: "T" }, { caption: "ü".repeat(2_500) })).post.status).toBe("scheduled");
    await expect(dryRun({ title: "T" }, { caption: "ü".repeat(2_501) })).rejects.toThrow(/^caption: /);
  });

  it("is a film", async () => {
    await expect(dryRun({ title: "T" }, { mediaUrl: "" })).rejects.toThrow(/mediaUrl/);
    await expect(dryRun({ title: "T", moreMedia: [{ url: PHOTO_URL }] })).rejects.toThrow(/moreMedia/);
  });

  it("warns of what is declared unsaid, and of a project that is not audited", async () => {
    expect((await dryRun({ title: "T" })).warnings).toEqual([
      expect.stringMatching(/^metadata\.madeForKids: /),
    ]);
    expect((await dryRun({ title: "T", madeForKids: false })).warnings).toEqual([]);
    const post = { metadata: { title: "T", madeForKids: false }, caption: "" } as never;
    const at = { account: { settings: { keptPrivateAt: "2026-11-21T09:00:00.000Z" } } } as never;
    expect(youtube.check?.(post, at).warnings).toEqual([expect.stringMatching(/kept .* private .* audit/)]);
  });
});

describe("untilPacificMidnight", () => {
  it("knows winter, summer and the nights between", () => {
    const hours = (iso: string) => untilPacificMidnight(Date.parse(iso)) / HOUR;
    expect(hours("2026-11-21T09:00:00Z")).toBe(23);
    expect(hours("2026-07-01T06:59:00Z")).toBeCloseTo(1 / 60);
    expect(hours("2026-11-01T07:00:00Z")).toBe(25);
  });
});
