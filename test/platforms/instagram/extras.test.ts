import { describe, expect, it } from "vitest";
import instagram from "../../../src/platforms/instagram/index.ts";
import { checkPost, type InstagramPost } from "../../../src/platforms/instagram/metadata.ts";
import { finish } from "../../support/contract/ends.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { contentOf } from "../../support/contract/stage.ts";
import { addPost } from "../../support/publishing.ts";
import { openStage } from "./stage.ts";

async function publish(media_url: string, metadata: object) {
  await using stage = await openStage(instagram);
  const content = contentOf({ caption: "A horn", media_url, metadata: { ...metadata } });
  const row = await finish(stage.ctx, (await addPost(stage.ctx, stage.account, content)).id);
  expect(await stage.published()).toBe(1);
  const { shelf, state } = stage.instagram;
  return { row, fields: shelf.posts[0]?.fields, closed: state.closed };
}

describe("beside text and media, Instagram is told", () => {
  it("who is on a picture, and that it takes no comments", async () => {
    const people = [{ username: "@blower", x: 0.5, y: 0.25 }];
    const { row, fields, closed } = await publish(PHOTO_URL, { userTags: people, comments: false });
    expect(fields?.["user_tags"]).toBe('[{"username":"blower","x":0.5,"y":0.25}]');
    expect(closed).toEqual([row.platform_post_id]);
  });

  it("how a trial reel comes to all", async () => {
    const { fields, closed } = await publish(CLIP_URL, { trialReel: "performance" });
    expect(fields?.["trial_params"]).toBe('{"graduation_strategy":"SS_PERFORMANCE"}');
    expect(closed).toEqual([]);
  });

  it.each([
    ["image", { userTags: [{ username: "a" }] }, ["metadata.userTags"]],
    ["image", { trialReel: "manual" }, ["metadata.trialReel"]],
    ["video", { userTags: [{ username: "a", x: 0, y: 0 }] }, ["metadata.userTags"]],
    ["image", { comments: false, firstComment: "Yes" }, ["metadata.firstComment"]],
    ["image", { story: true, comments: false }, ["metadata.comments"]],
    ["video", { trialReel: "manual", userTags: [{ username: "a" }] }, []],
  ])("nothing that does not go together: %s, %o", (type, metadata, fields) => {
    const post = { mediaUrl: PHOTO_URL, caption: null, metadata } as unknown as InstagramPost;
    const { errors } = checkPost(post, { media: new Map([[PHOTO_URL, { type } as never]]) });
    expect(errors.map((error) => String(error).split(":")[0])).toEqual(fields);
  });
});
