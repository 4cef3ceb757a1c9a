import { expect, it } from "vitest";
import youtube from "../../../src/platforms/youtube/index.ts";
import { HOUR } from "../../../src/domain/time.ts";
import { finish } from "../../support/contract/ends.ts";
import { CLIP_URL, SUBTITLES, SUBTITLES_URL } from "../../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { platformWorld } from "../../support/contract/platform-world.ts";
import { createYoutubeWorld, type YoutubeWorld } from "./world.ts";

const METADATA = { title: "The horn", madeForKids: false };
const ENGLISH = { url: SUBTITLES_URL, language: "en", name: "English" };

async function add({ ctx, account, clock }: YoutubeWorld, metadata: object, aheadMs = 0) {
  return addPost(ctx, account, {
    media_url: CLIP_URL,
    metadata: JSON.stringify({ ...METADATA, ...metadata }),
    ...(aheadMs === 0
      ? {}
      : { scheduled_at: clock.now() + aheadMs, due_at: clock.now(), lead_minutes: aheadMs / 60_000 }),
  });
}

it("brings subtitles before everybody sees the film, once, as they were given", async () => {
  const world = await createYoutubeWorld();
  const { ctx, fake } = world;
  const german = { url: SUBTITLES_URL, language: "de" };
  const { id } = await add(world, { subtitles: [ENGLISH, german], firstComment: "Well?" }, HOUR);
  await drain(ctx);
  const text = SUBTITLES.bytes.toString("utf8").replace(/\r\n$/, "");
  expect(fake.words.subtitles).toMatchObject([
    { language: "en", name: "English", text },
    { language: "de", name: "", text },
  ]);
  // A private film takes no comment.
  expect(fake.words.comments).toEqual([]);
  expect(await finish(ctx, id)).toMatchObject({ status: "published", warnings: null });
  expect(fake.words.subtitles).toHaveLength(2);
  expect(fake.words.comments).toMatchObject([{ text: "Well?" }]);
  expect(fake.wrong).toEqual([]);
});

it("finds a comment whose answer was lost, and writes one that never came", async () => {
  for (const isStored of [true, false]) {
    const world = await createYoutubeWorld();
    const { ctx, fake } = world;
    fake.words.listedAfterMs = 20_000;
    const { perform } = fake.words;
    let calls = 0;
    fake.words.perform = (asked, file) => {
      if (asked.name !== "POST /youtube/v3/commentThreads" || (calls += 1) > 1) return perform(asked, file);
      if (isStored) perform(asked, file);
      return { status: 503, json: { error: { code: 503, message: "Backend", errors: [] } } };
    };
    const { id } = await add(world, { firstComment: "Well?" });
    expect(await finish(ctx, id)).toMatchObject({ status: "published", warnings: null });
    expect(fake.words.comments).toHaveLength(1);
    expect(calls).toBe(isStored ? 1 : 2);
  }
});

it("warns of what YouTube refuses, and leaves the film", async () => {
  const world = await createYoutubeWorld();
  const { ctx, fake } = world;
  fake.words.takesComments = false;
  fake.words.caption = () => ({
    status: 400,
    json: { error: { code: 400, errors: [{ reason: "invalidMetadata" }] } },
  });
  const { id } = await add(world, { subtitles: [ENGLISH], firstComment: "Well?" });
  const { status, warnings } = await finish(ctx, id);
  expect(status).toBe("published");
  expect(warnings).toContain("The subtitles did not go through: metadata.subtitles[0].url: YouTube refused");
  expect(warnings).toContain("Comments are turned off on this video.");
  expect(fake.videos.shown()).toHaveLength(1);
});

it("sends no film whose subtitles are none", async () => {
  const world = await createYoutubeWorld();
  const { ctx, fake, media } = world;
  media.set(SUBTITLES_URL, { bytes: Buffer.from("<html>"), mimeType: "text/csv" });
  const { id } = await add(world, { subtitles: [ENGLISH] });
  await finish(ctx, id);
  expect((await readPost(ctx, id)).error).toContain("must be a WebVTT or an SRT file");
  expect(fake.requests).not.toContain("POST /upload/youtube/v3/videos");
});

it("says where there can be no comment", async () => {
  const world = await createYoutubeWorld();
  const { postOf } = platformWorld(world.ctx, youtube);
  const problems = async (metadata: object) =>
    youtube.check!(postOf(await add(world, { firstComment: "Well?", ...metadata })), {
      account: { settings: {} } as never,
      media: new Map(),
      now: 0,
    }).errors;
  expect(await problems({})).toEqual([]);
  expect(await problems({ visibility: "private" })).toEqual([
    "metadata.firstComment: YouTube takes no comments on private videos. Leave it out.",
  ]);
  expect((await problems({ madeForKids: true }))[0]).toContain("made for children");
});
