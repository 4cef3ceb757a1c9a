import { beforeAll, expect, it } from "vitest";
import bluesky from "../../../src/platforms/bluesky/index.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { createBlueskyWorld } from "../../support/bluesky.ts";
import { callOf } from "../../support/context.ts";
import { PHOTO, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { startPds, type TestPds } from "../../support/pds.ts";

let pds: TestPds;
beforeAll(async () => {
  pds = await startPds();
});

it("shows another's post below a text, and beside a picture", async () => {
  await using world = await createBlueskyWorld({ baseUrl: pds.url });
  world.media.set(PHOTO_URL, PHOTO);
  const [bobby, user] = [await pds.createUser(), await pds.createUser()];
  await world.publish(await world.connect(bobby), { caption: "Theirs" });
  const [theirs] = await bobby.records();
  const rkey = theirs?.uri.split("/").at(-1) ?? "";
  const record = { uri: theirs?.uri, cid: theirs?.cid };
  const account = await world.connect(user);
  for (const quote of [`https://bsky.app/profile/${bobby.handle}/post/${rkey}`, theirs?.uri ?? ""])
    expect(
      await world.publish(account, { caption: `See ${quote.length}`, metadata: { quote } }),
    ).toMatchObject({
      status: "published",
      error: null,
    });
  await world.publish(account, {
    caption: "Both",
    mediaUrl: PHOTO_URL,
    metadata: { quote: theirs?.uri ?? "" },
  });
  const embeds = (await user.records()).map(({ value }) => value["embed"]);
  const shown = { $type: "app.bsky.embed.record", record };
  expect(embeds).toHaveLength(3);
  expect(embeds.filter((one: any) => one.$type === "app.bsky.embed.record")).toEqual([shown, shown]);
  expect(embeds).toContainEqual({
    $type: "app.bsky.embed.recordWithMedia",
    record: shown,
    media: expect.objectContaining({ $type: "app.bsky.embed.images" }),
  });
});

it("fails with a sentence where the post is not there, and refuses what is no post", async () => {
  await using world = await createBlueskyWorld({ baseUrl: pds.url });
  const user = await pds.createUser();
  const account = await world.connect(user);
  const quote = `at://${user.did}/app.bsky.feed.post/3l2aaaaaaaaaa`;
  expect(await world.publish(account, { caption: "See", metadata: { quote } })).toMatchObject({
    status: "failed",
    error: expect.stringContaining("metadata.quote: there is no such post"),
  });
  expect(await user.records()).toEqual([]);
  const post = { accountId: account.id, caption: "See", dryRun: true };
  for (const wrong of ["https://a.example/profile/bob/post/3l2", "https://bsky.app/profile/bob"])
    await expect(schedulePost(callOf(world.ctx), { ...post, metadata: { quote: wrong } })).rejects.toThrow(
      "metadata.quote: must be the address of a post on Bluesky",
    );
});

it("finds people by their names, and names them by their handles", async () => {
  await using world = await createBlueskyWorld({ baseUrl: pds.url });
  const [user, bobby] = [await pds.createUser(), await pds.createUser()];
  const account = await world.connect(user);
  const actors = [{ did: bobby.did, handle: bobby.handle, displayName: "Bobby [B]" }];
  const asked: unknown[] = [];
  const io = {
    account: { settings: { instanceUrl: pds.url, pdsUrl: pds.url } },
    setting: () => null,
    ask: async (request: object, schema: { parse(json: unknown): unknown }) => {
      asked.push(request);
      return schema.parse({ actors });
    },
  };
  const choices = await bluesky.choices?.["mention"]?.("@bob", io as never);
  const value = `@[Bobby B](@${bobby.handle})`;
  expect(choices).toEqual([{ value, label: `Bobby [B] (@${bobby.handle})` }]);
  expect(asked).toMatchObject([{ query: { q: "bob", limit: 50 } }]);
  await world.publish(account, { caption: `Thanks, ${value}!` });
  const [record] = await user.records();
  expect(record?.value).toMatchObject({
    text: `Thanks, @${bobby.handle}!`,
    facets: [{ features: [{ $type: "app.bsky.richtext.facet#mention", did: bobby.did }] }],
  });
});
