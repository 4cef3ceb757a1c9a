import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { toLittleText } from "../../../src/platforms/linkedin/metadata.ts";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { callOf } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { addPost } from "../../support/publishing.ts";
import { connected, createLinkedInWorld } from "./world.ts";

const POLL = { options: ["Yes", "No"], hours: 168 };

it("asks what its title says, or its text where there is no title", async () => {
  await using world = await createLinkedInWorld();
  const account = await connected(world);
  const posts = [
    { caption: "More of it", metadata: JSON.stringify({ title: "Which?", poll: POLL }) },
    { caption: "Which one?", metadata: JSON.stringify({ poll: POLL }) },
  ];
  for (const post of posts) {
    const { id } = await addPost(world.ctx, account, post);
    expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
    await expect(editPublishedPost(callOf(world.ctx), { id, caption: "Else" })).rejects.toMatchObject({
      kind: "conflict",
    });
  }
  expect(world.fake.posts.map(({ json }) => [json.commentary, json.content.poll])).toEqual([
    [
      "More of it",
      {
        question: "Which?",
        options: [{ text: "Yes" }, { text: "No" }],
        settings: { voteSelectionType: "SINGLE_VOTE", duration: "SEVEN_DAYS" },
      },
    ],
    ["", expect.objectContaining({ question: "Which one?" })],
  ]);
  expect(world.fake.wrong).toEqual([]);
});

it("finds an organization by the name in its address, and mentions it", async () => {
  await using world = await createLinkedInWorld();
  const account = await connected(world);
  const find = (search: string) =>
    listChoices(callOf(world.ctx), { accountId: account.id, field: "mention", search });
  const [value] = (await find("https://www.linkedin.com/company/post-horn/about")).choices.map(
    (one) => one.value,
  );
  expect(value).toBe("@[Post Horn (Ltd)](urn:li:organization:4711)");
  expect(await find("nothing")).toEqual({ choices: [] });
  const caption = `Thanks, ${value}, and @[Bo](bo)!`;
  const { preview } = await schedulePost(callOf(world.ctx), { accountId: account.id, caption, dryRun: true });
  expect(preview?.text).toBe("Thanks, @Post Horn (Ltd), and @Bo!");
  const { id } = await addPost(world.ctx, account, { caption });
  expect(await finish(world.ctx, id)).toMatchObject({ status: "published" });
  expect(world.fake.posts.map(({ json, text }) => [json.commentary, text])).toEqual([
    [
      "Thanks, @[Post Horn \\(Ltd\\)](urn:li:organization:4711), and \\@Bo!",
      "Thanks, @Post Horn (Ltd), and @Bo!",
    ],
  ]);
});

it.each([
  ["@[x](urn:li:organization:1)", "@[x](urn:li:organization:1)"],
  ["@[x](urn:li:organization:1|y)", "\\@x"],
  ["@[a_b](urn:li:person:aB-9)", "@[a\\_b](urn:li:person:aB-9)"],
  ["[x](y) @[two\nlines](1)", "\\[x\\]\\(y\\) \\@\\[two\nlines\\]\\(1\\)"],
])("writes %j so that LinkedIn reads no other markup", (text, written) => {
  expect(toLittleText(text)).toBe(written);
});

it("refuses comments where the channel may write none", async () => {
  await using world = await createLinkedInWorld();
  const { id: accountId } = await connected(world);
  const post = { accountId, caption: "Which?", metadata: { thread: [{ caption: "More" }] }, dryRun: true };
  await expect(schedulePost(callOf(world.ctx), post)).rejects.toThrow(
    "metadata.thread: LinkedIn lets this channel write no comments",
  );
});

it("shows the title that the link's page tells, and asks for one where it tells none", async () => {
  await using world = await createLinkedInWorld();
  const { id: accountId } = await connected(world);
  const pages = new Map([["https://a.example/told", "<title>A page</title>"]]);
  const { request } = world.ctx.outbound;
  world.ctx.outbound.request = async (asked) => {
    const html = asked.url.startsWith("https://a.example/") ? (pages.get(asked.url) ?? "") : null;
    if (html === null) return request(asked);
    const headers = { "content-type": "text/html" };
    return { status: 200, headers, url: asked.url, body: Readable.from([Buffer.from(html)]) };
  };
  const dryRun = (link: string) =>
    schedulePost(callOf(world.ctx), { accountId, caption: "Look", metadata: { link }, dryRun: true });
  const { post, preview, warnings } = await dryRun("https://a.example/told");
  expect(post.metadata).toEqual({ link: "https://a.example/told", title: "A page" });
  expect(preview?.link).toBe("https://a.example/told");
  expect(warnings.join()).toContain('was read from the page of the link: "A page"');
  await expect(dryRun("https://a.example/mute")).rejects.toThrow("metadata.title: is required with link");
});
