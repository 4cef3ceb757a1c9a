import { describe, expect, it } from "vitest";
import mastodon from "../../../src/platforms/mastodon/index.ts";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { callOf } from "../../support/context.ts";
import { endOf } from "../../support/contract/ends.ts";
import { CLIP_URL, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { addPost } from "../../support/publishing.ts";
import { SERVER } from "./fake.ts";
import { PROFILES } from "./profiles.ts";
import { openMastodon, type MastodonStage } from "./stage.ts";
import { QUOTED } from "./statuses.ts";

const POLL = { options: ["Yes", "No"], hours: 24, multiple: true };

async function publish(stage: MastodonStage, metadata: object, media = ""): Promise<string> {
  const post = { caption: "First", media_url: media, metadata: JSON.stringify(metadata) };
  const { id } = await addPost(stage.ctx, stage.account, post);
  expect(await endOf(stage, id)).toMatchObject({ status: "published", error: null, warnings: null });
  return id;
}

it("asks in the first post of a thread, and keeps the votes when the text is changed", async () => {
  await using stage = await openMastodon(mastodon);
  const id = await publish(stage, { poll: POLL, thread: [{ caption: "More" }] });
  const [asked, more] = stage.fake.posts.all();
  expect(asked?.poll).toMatchObject({ options: ["Yes", "No"], multiple: true });
  expect(more?.poll).toBe(null);
  const { expiresAt = 0 } = asked?.poll ?? {};
  expect(expiresAt - (asked?.createdAt ?? 0)).toBe(24 * 3_600_000);
  await editPublishedPost(callOf(stage.ctx), { id, caption: "Second" });
  const [edited] = stage.fake.posts.heads();
  expect(edited).toMatchObject({
    text: "Second",
    poll: { options: ["Yes", "No"], multiple: true, expiresAt },
  });
});

it("shows another post, and where pictures must not be cut", async () => {
  await using stage = await openMastodon(mastodon);
  await publish(stage, { quote: QUOTED });
  await publish(stage, { quote: `${SERVER}/@bob@b.example/${QUOTED}` });
  await publish(stage, { focus: { x: 0.5, y: -1 }, moreMedia: [{ url: PHOTO_URL }] }, PHOTO_URL);
  expect(stage.fake.posts.heads().map(({ quotes }) => quotes)).toEqual([QUOTED, QUOTED, null]);
  expect([...stage.fake.posts.media.values()].map(({ focus }) => focus)).toEqual(["0.5,-1", null]);
  expect(stage.fake.wrong).toEqual([]);
});

it("tells that a post which shows one for followers is for followers, too", async () => {
  await using stage = await openMastodon(mastodon);
  const warned = async (visibility?: string) => {
    const metadata = { quote: QUOTED, ...(visibility === undefined ? {} : { visibility }) };
    const post = { accountId: stage.account.id, caption: "See", metadata, dryRun: true };
    return (await schedulePost(callOf(stage.ctx), post)).warnings.some((one) =>
      String(one).startsWith("metadata.quote:"),
    );
  };
  expect([await warned(), await warned("unlisted"), await warned("private")]).toEqual([true, true, false]);
});

describe("refuses what the server would", () => {
  it.each([
    [{ poll: { ...POLL, options: ["Only"] } }, "metadata.poll.options"],
    [{ poll: { ...POLL, options: ["Twice", "Twice"] } }, "metadata.poll.options"],
    [{ poll: { ...POLL, options: ["1", "2", "3", "4", "5"] } }, "this server takes at most 4 answers"],
    [{ poll: { ...POLL, options: ["x".repeat(51), "y"] } }, "at most 50 characters an answer"],
    [{ poll: { ...POLL, hours: 0.05 } }, "metadata.poll.hours"],
    [{ poll: { ...POLL, hours: 8_000 } }, "metadata.poll.hours: must be from 0.08 to 730.48"],
    [{ poll: POLL, quote: QUOTED }, "either a quote or a poll"],
    [{ quote: "https://other.example/@a/1" }, "metadata.quote: is no post on the channel's own server"],
    [{ focus: { x: 2, y: 0 } }, "metadata.focus.x"],
  ])("%j", async (metadata, sentence) => {
    await using stage = await openMastodon(mastodon);
    const post = {
      accountId: stage.account.id,
      caption: "Which?",
      metadata: metadata as never,
      dryRun: true,
    };
    await expect(schedulePost(callOf(stage.ctx), post)).rejects.toThrow(sentence);
  });

  it("beside media, and quotes of a server without them", async () => {
    await using stage = await openMastodon(mastodon, PROFILES.gotosocial);
    const common = { accountId: stage.account.id, caption: "Which?", dryRun: true };
    const quote = schedulePost(callOf(stage.ctx), { ...common, metadata: { quote: QUOTED } });
    await expect(quote).rejects.toThrow("this server shows no quotes");
    const beside = { ...common, mediaUrl: CLIP_URL, metadata: { poll: POLL } };
    await expect(schedulePost(callOf(stage.ctx), beside)).rejects.toThrow("stands in place of media");
  });
});

it("tells in the dry run what is asked", async () => {
  await using stage = await openMastodon(mastodon);
  const post = { accountId: stage.account.id, caption: "Which?", metadata: { poll: POLL }, dryRun: true };
  const { preview } = await schedulePost(callOf(stage.ctx), post);
  expect(preview?.note).toBe("A poll, open for 24 hours, several may be chosen: Yes / No.");
});

it("finds people, and names them by their address", async () => {
  await using stage = await openMastodon(mastodon);
  const { ctx, account, fake: server } = stage;
  const { choices } = await listChoices(callOf(ctx), {
    accountId: account.id,
    field: "mention",
    search: "bob",
  });
  expect(choices).toEqual([{ value: "@[Bob B](@bob@b.example)", label: "Bob [B] (@bob@b.example)" }]);
  const caption = `Thanks, ${choices[0]?.value}!`;
  const { preview } = await schedulePost(callOf(ctx), { accountId: account.id, caption, dryRun: true });
  // Readers see people of other servers without these.
  expect(preview).toMatchObject({
    text: "Thanks, @bob@b.example!",
    count: { length: "Thanks, @bob!".length },
  });
  const { id } = await addPost(ctx, account, { caption, media_url: "" });
  expect(await endOf(stage, id)).toMatchObject({ status: "published" });
  expect(await stage.captions()).toEqual(["Thanks, @bob@b.example!"]);
  expect(server.wrong).toEqual([]);
});
