import { describe, expect, it } from "vitest";
import { MINUTE } from "../../../src/domain/time.ts";
import { cancelPost } from "../../../src/posts/posts.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { callOf } from "../../support/context.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { NEWS_FLAIR, rendered, TAKE_A_BREAK } from "./communities.ts";
import { refusal } from "./fake.ts";
import { openWorld } from "./world.ts";
import { ownWords } from "../../support/own-words.ts";

describe("a post on Reddit", () => {
  it("of text is plain text, unless it is said to be Markdown", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    const caption = "# One\n- two_three_four\n\n> https://a.example/x_y_z & *more*";
    const row = await world.end(
      await world.post(account, { sendReplies: false, sensitive: true }, { caption }),
    );
    await world.end(await world.post(account, { title: "M", markdown: true }, { caption: "**Bold**" }));
    const [plain, marked] = world.fake.communities.posts;
    expect(rendered(plain?.selftext ?? "")).toBe(caption);
    expect(plain?.body).toMatchObject({
      kind: "self",
      sendreplies: "false",
      nsfw: "true",
      validate_on_submit: "true",
    });
    expect(marked?.selftext).toBe("**Bold**");
    expect(row).toMatchObject({
      platform_post_id: plain?.name,
      platform_url: `https://www.reddit.com/r/horns/comments/${plain?.name.slice(3)}/a_title/`,
    });
  });

  it("asks for as many days as it is told, under its title", async () => {
    await using world = await openWorld();
    const poll = { options: ["Yes", "No"], hours: 72 };
    const row = await world.end(await world.post(await world.connect(), { poll }, { caption: "" }));
    expect(row).toMatchObject({ status: "published", error: null });
    const [post] = world.fake.communities.posts;
    expect(post?.body).toMatchObject({ text: "", options: ["Yes", "No"], duration: 3, title: "Horn" });
    expect(row.platform_post_id).toBe(post?.name);
  });

  it("goes into further communities once it is live, and away from all of them", async () => {
    await using world = await openWorld();
    const crosspostTo = ["r/hornpics", "u_posthorn", "nowhere"];
    const row = await world.end(await world.post(await world.connect(), { crosspostTo }));
    const { communities } = world.fake;
    const [own, ...others] = communities.posts;
    expect(row).toMatchObject({ status: "published", platform_post_id: own?.name });
    expect(row.warnings).toContain("The crosspost into nowhere did not go through");
    expect(others.map(({ subreddit, body }) => [subreddit, body.crosspost_fullname])).toEqual([
      ["hornpics", own?.name],
      ["u_posthorn", own?.name],
    ]);
    await cancelPost(callOf(world.ctx), { id: row.id, fromPlatform: true });
    expect(communities.posts.map(({ removedBy }) => removedBy)).toEqual(["deleted", "deleted", "deleted"]);
  });

  it.each([
    [
      { poll: { options: ["a", "b"], hours: 30 } },
      "",
      "metadata.poll.hours: Reddit's polls are open for whole days",
    ],
    [
      { poll: { options: ["a", "b"], hours: 24 }, link: "https://a.example" },
      "",
      "either a poll, or media or a link",
    ],
    [{ crosspost: "1abcd9" }, "Words", "metadata.crosspost: shows the other post alone"],
    [{ crosspost: "https://a.example/1abcd9" }, "", "metadata.crosspost: must be the address or the id"],
    [{ crosspostTo: ["r/Horns"] }, "", "names a community twice, or the post's own"],
  ])("refuses %j", async (metadata, caption, sentence) => {
    await using world = await openWorld();
    const account = await world.connect();
    const post = { accountId: account.id, caption, dryRun: true };
    const given = { subreddit: "horns", title: "Horn", ...metadata } as never;
    await expect(schedulePost(callOf(world.ctx), { ...post, metadata: given })).rejects.toThrow(sentence);
  });

  it("takes the community's flair, and its name with r/ before it", async () => {
    await using world = await openWorld();
    const flair = { flairId: NEWS_FLAIR, flairText: "Fresh news" };
    const row = await world.end(
      await world.post(await world.connect(), { subreddit: "r/news_of_horns", ...flair }),
    );
    expect(row.status).toBe("published");
    expect(world.fake.communities.posts).toMatchObject([
      { flair: NEWS_FLAIR, body: { flair_text: "Fresh news" } },
    ]);
  });

  it("of a film has a still picture, and is live when Reddit has worked on it", async () => {
    await using world = await openWorld();
    const post = await world.post(
      await world.connect(),
      { thumbnailUrl: PHOTO_URL },
      { media_url: CLIP_URL },
    );
    expect((await world.run(post)).status).toBe("publishing");
    const row = await world.end(post);
    expect(row).toMatchObject({
      status: "published",
      platform_post_id: world.fake.communities.posts[0]?.name,
    });
    expect([...world.fake.communities.assets.values()].map(({ type }) => type)).toEqual([
      "video/mp4",
      "image/jpeg",
    ]);
  });

  it("that Reddit never shows is one that a person has to look at", async () => {
    await using world = await openWorld();
    const post = await world.post(await world.connect(), {}, { media_url: PHOTO_URL });
    await world.run(post);
    world.fake.communities.posts.length = 0;
    expect(await world.end(post)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^outcome unknown: .*at work on it for too long/),
    });
  });

  it("is not taken for an older one of the same words", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    await world.end(await world.post(account));
    await world.clock.advance(5 * MINUTE);
    const second = await world.post(account);
    world.fake.refuse("POST /api/submit", { status: 503, body: "" });
    expect((await world.end(second)).status).toBe("published");
    expect(world.fake.communities.posts).toHaveLength(2);
  });

  it("of a link that was posted there before is refused, once and for all", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    const link = "https://posthorn.example/a";
    await world.end(await world.post(account, { link }));
    await world.clock.advance(5 * MINUTE);
    expect(await world.end(await world.post(account, { link, title: "Again" }))).toMatchObject({
      status: "failed",
      error: expect.stringContaining("metadata.link: The link was posted in that community before"),
    });
  });
});

describe("what Reddit refuses", () => {
  it.each([
    [{ subreddit: "nowhere" }, "metadata.subreddit: Reddit knows no such community."],
    [{ subreddit: "hornpics" }, "metadata.subreddit: The community does not take posts of this kind"],
    [{ subreddit: "news_of_horns" }, "metadata.flairId: The community asks for another flair."],
    [{ flairId: "37bf09c4-520c-11e7-8073-0ef8adb5ef68" }, "metadata.flairId: The community asks"],
    [{ title: "dfgfdgfdgdf" }, "metadata.title: The title is against the community's rules."],
  ])("%j: in plain words", async (metadata, sentence) => {
    await using world = await openWorld();
    const account = await world.connect();
    const row = await world.end(await world.post(account, metadata));
    expect(row).toMatchObject({ status: "failed", error: expect.stringContaining(sentence), in_doubt: 0 });
    expect(ownWords(row.error)).not.toContain("IGNORE");
    expect((await world.readAccount(account.id))?.status).toBe("connected");
  });

  it.each([
    [refusal(TAKE_A_BREAK), 10 * MINUTE],
    [refusal(["RATELIMIT", "Take a break.", "ratelimit"]), 10 * MINUTE],
    [{ status: 429, body: {}, headers: { "x-ratelimit-reset": "33" } }, 33_000],
  ])("waits as long as it is told to: %j", async (said, waitMs) => {
    await using world = await openWorld();
    world.fake.refuse("POST /api/submit", said);
    const row = await world.run(await world.post(await world.connect()));
    expect(row).toMatchObject({ status: "scheduled", next_at: world.clock.now() + waitMs, in_doubt: 0 });
  });
});

describe("before it is sent", () => {
  it.each([
    [{}, "metadata.thumbnailUrl: Reddit takes no video without a still picture."],
    [
      { thumbnailUrl: PHOTO_URL, moreMedia: [{ url: PHOTO_URL }] },
      "metadata.moreMedia: a post on Reddit shows",
    ],
  ])("sends nothing of a film with %j", async (metadata, sentence) => {
    await using world = await openWorld();
    const row = await world.end(await world.post(await world.connect(), metadata, { media_url: CLIP_URL }));
    expect(row).toMatchObject({ status: "failed", error: expect.stringContaining(sentence) });
    expect(world.fake.communities.assets.size).toBe(0);
  });
});
