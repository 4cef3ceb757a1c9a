import { describe, expect, it } from "vitest";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { PDF_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { openWorld } from "./world.ts";

describe("a message", () => {
  it("is escaped, free of markup, and found again by a key of its own", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    const row = await world.end(await world.post(account, "<!channel> *1 < 2* & <@U1>"));
    const [sent] = world.fake.calls.filter(({ method }) => method === "chat.postMessage");
    expect(sent?.args).toEqual({
      channel: "C0NEWS",
      text: "&lt;!channel&gt; *1 &lt; 2* &amp; &lt;@U1&gt;",
      mrkdwn: false,
      unfurl_links: true,
      unfurl_media: true,
      metadata: {
        event_type: "posthorn_post",
        event_payload: { key: expect.stringMatching(/^[0-9a-f]{32}$/) },
      },
    });
    const [message] = world.fake.state.messages;
    expect(row).toMatchObject({
      platform_post_id: `C0NEWS:${message?.ts}`,
      platform_url: `https://acme.slack.com/archives/C0NEWS/p${message?.ts.replace(".", "")}?told=1`,
    });
  });

  it("has no previews where they are not wanted, and its address also where Slack does not tell it", async () => {
    await using world = await openWorld();
    world.fake.refuse("chat.getPermalink", "internal_error");
    const account = await world.connect();
    const row = await world.end(await world.post(account, "https://a.example", "", { linkPreviews: false }));
    expect(world.fake.state.messages).toMatchObject([{ isPreviewed: false }]);
    expect(row.platform_url).toMatch(/^https:\/\/acme\.slack\.com\/archives\/C0NEWS\/p\d{16}$/);
  });

  it("shows files together, each described, and the text as it is written", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    const metadata = {
      title: "Horn.jpg",
      altText: "A horn",
      moreMedia: [{ url: PHOTO_URL, altText: "The same" }],
    };
    for (const text of ["Plain & simple", "*bold* :tada: https://a.example/x_y_z"])
      await world.end(await world.post(account, text, PHOTO_URL, metadata));
    expect(world.fake.state.messages).toMatchObject([
      { text: "Plain & simple", files: ["F0001", "F0002"] },
      { text: "*bold* :tada: https://a.example/x_y_z", files: ["F0003", "F0004"] },
    ]);
    expect([...world.fake.state.files.values()].slice(0, 2)).toMatchObject([
      { altText: "A horn", title: "Horn.jpg", name: "image.jpg" },
      { altText: "The same", title: null },
    ]);
  });

  it("gives a document its name", async () => {
    await using world = await openWorld();
    await world.end(await world.post(await world.connect(), "A score", PDF_URL, {}));
    expect([...world.fake.state.files.values()]).toMatchObject([{ name: "A score.pdf", title: null }]);
  });

  it("with files is published when it is shown, not before", async () => {
    await using world = await openWorld();
    world.fake.state.shareMs = 60_000;
    const post = await world.post(await world.connect(), "Slow", PHOTO_URL);
    expect((await world.run(post)).status).toBe("publishing");
    expect(await world.end(post)).toMatchObject({ status: "published", error: null });
  });

  it("with files is found among the channel's messages where the token may not read files", async () => {
    await using world = await openWorld();
    for (const scopes of world.fake.state.tokens.values()) scopes.splice(scopes.indexOf("files:read"), 1);
    const account = await world.connect();
    // Slack gives few at a time.
    for (let at = 0; at < 17; at++) await world.end(await world.post(account, `${at}`));
    const row = await world.end(await world.post(account, "Found", PHOTO_URL));
    expect(row).toMatchObject({ status: "published", platform_post_id: expect.stringMatching(/^C0NEWS:/) });
  });

  it("with files is published without an id where the bot may read neither", async () => {
    await using world = await openWorld();
    for (const token of world.fake.state.tokens.keys())
      world.fake.state.tokens.set(token, ["chat:write", "channels:read", "files:write"]);
    const account = await world.connect();
    const metadata = { thread: [{ caption: "More" }] };
    expect(await world.end(await world.post(account, "Lost", PHOTO_URL, metadata))).toMatchObject({
      status: "published",
      platform_post_id: null,
      warnings: expect.stringContaining("The thread did not go through: Slack does not say which message"),
    });
  });
});

describe("what Slack refuses", () => {
  it("waits as long as Slack asks for", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    world.fake.refuse("chat.postMessage", "ratelimited", { "retry-after": "30" });
    const row = await world.run(await world.post(account, "Hello"));
    expect(row).toMatchObject({ status: "scheduled", next_at: world.ctx.clock.now() + 30_000, in_doubt: 0 });
  });

  it("a reply: the message stays published, and a warning tells", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    const post = await world.post(account, "One", "", { thread: [{ caption: "Two", mediaUrl: PHOTO_URL }] });
    world.fake.refuse("files.completeUploadExternal", "file_type_not_allowed");
    const row = await world.end(post);
    expect(row.status).toBe("published");
    expect(row.warnings).toContain("The thread did not go through: The workspace does not allow files");
    expect(world.fake.state.messages).toHaveLength(1);
  });

  it("is honest where the bot may not look whether a post arrived", async () => {
    await using world = await openWorld();
    const account = await world.connect("#other");
    world.fake.refuse("chat.postMessage", "fatal_error");
    const row = await world.end(await world.post(account, "Outside"));
    expect(row).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^outcome unknown: the answer was lost, and the bot may not read/),
    });
  });
});

describe("before it is sent", () => {
  const draft = (world: Awaited<ReturnType<typeof openWorld>>, accountId: string, metadata: object) =>
    schedulePost(world.call, { accountId, caption: "x", metadata: { ...metadata }, dryRun: true });

  it("warns of a name without a file", async () => {
    await using world = await openWorld();
    const { id } = await world.connect();
    const { warnings } = await draft(world, id, { title: "A horn" });
    expect(warnings).toContainEqual(expect.stringContaining("metadata.title: is the name of a file"));
  });
});
