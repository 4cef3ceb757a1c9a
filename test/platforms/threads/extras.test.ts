import { afterEach, describe, expect, it } from "vitest";
import threads from "../../../src/platforms/threads/index.ts";
import { checkPost, type ThreadsPost } from "../../../src/platforms/threads/metadata.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { callOf } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { queryOf } from "../../support/handles.ts";
import { PHOTO_URL } from "../../support/contract/stage-media.ts";
import { contentOf } from "../../support/contract/stage.ts";
import { addPost } from "../../support/publishing.ts";
import { connectByConsent } from "../instagram/stage-kit.ts";
import { openStage, openThreads, type ThreadsStage } from "./stage.ts";

const open: ThreadsStage[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) {
    expect(one.threads.door.wrong).toEqual([]);
    await one[Symbol.asyncDispose]();
  }
});

async function openOne(): Promise<ThreadsStage> {
  const stage = await openStage(threads);
  open.push(stage);
  return stage;
}

async function publish({ ctx, account }: Pick<ThreadsStage, "ctx" | "account">, metadata: object) {
  const content = contentOf({ caption: "🎺 is blown at dawn", media_url: "", metadata: { ...metadata } });
  return finish(ctx, (await addPost(ctx, account, content)).id);
}

describe("beside text and media, Threads is told", () => {
  it("which GIF stands below it, where it was, and what of it is hidden", async () => {
    const stage = await openOne();
    await publish(stage, { gifId: "3o7TKSjRrfIPjeiVyM", locationId: "12345", spoilers: ["dawn", "🎺"] });
    const { fields } = stage.threads.shelf.posts[0] ?? {};
    expect(fields?.["gif_attachment"]).toBe('{"gif_id":"3o7TKSjRrfIPjeiVyM","provider":"GIPHY"}');
    expect(fields?.["location_id"]).toBe("12345");
    expect(JSON.parse(fields?.["text_entities"] ?? "")).toEqual([
      { entity_type: "SPOILER", offset: 14, length: 4 },
      { entity_type: "SPOILER", offset: 0, length: 1 },
    ]);
  });

  it("to show it on Instagram, and the post says where that was not done", async () => {
    const stage = await openOne();
    expect((await publish(stage, { shareToInstagram: true })).warnings).toBeNull();
    expect(stage.threads.shelf.posts[0]?.fields["crossreshare_to_ig"]).toBe("true");
    stage.threads.state.isLinked = false;
    const row = await publish(stage, { shareToInstagram: true });
    expect(row.status).toBe("published");
    expect(row.warnings).toContain("The story on Instagram");
    expect(row.warnings).toContain("Check that an Instagram account is linked");
  });

  it("nothing that the channel was not connected for, which is said when it is planned", async () => {
    const { ctx, threads: fake } = await openThreads(threads);
    const [account] = await connectByConsent(ctx, { provider: "threads", agree: fake.tokens.consent });
    if (account === undefined) throw new Error("Nothing was connected.");
    const again = /connect the channel again by the way "more"/;
    for (const metadata of [{ locationId: "12345" }, { shareToInstagram: true }]) {
      const post = { accountId: account.id, caption: "A horn", metadata, dryRun: true };
      await expect(schedulePost(callOf(ctx), post)).rejects.toThrow(again);
    }
    const asked = { accountId: account.id, field: "locationId", search: "Horn" };
    await expect(listChoices(callOf(ctx), asked)).rejects.toThrow(again);
    // Planned before it was connected otherwise.
    const row = await publish({ ctx, account }, { locationId: "12345" });
    expect(row).toMatchObject({ status: "failed", error: expect.stringMatching(again) });
    expect((await publish({ ctx, account }, {})).status).toBe("published");
    // Connected again so, it may.
    const more = { provider: "threads", way: "more", agree: fake.tokens.consent };
    const [same] = await connectByConsent(ctx, more);
    expect(same?.id).toBe(account.id);
    expect((await publish({ ctx, account }, { locationId: "12345" })).status).toBe("published");
    await ctx[Symbol.asyncDispose]();
  });

  it("all that it was asked for before scopes were kept", async () => {
    const stage = await openOne();
    const { ctx, account } = stage;
    await queryOf(ctx.store)
      .updateTable("accounts")
      .set({ scopes: "[]" })
      .where("id", "=", account.id)
      .execute();
    const metadata = { locationId: "12345" };
    const scheduledAt = new Date(ctx.clock.now()).toISOString();
    const post = { accountId: account.id, caption: "A horn", metadata, scheduledAt, dryRun: true };
    expect((await schedulePost(callOf(ctx), post)).warnings).toEqual([]);
  });

  it.each([
    ["", { gifId: "abc", link: "https://a.example" }, []],
    [PHOTO_URL, { gifId: "abc" }, ["metadata.gifId"]],
    ["", { spoilers: ["noon"] }, ["metadata.spoilers"]],
    ["", { spoilers: ["at dawn", "blown at"] }, ["metadata.spoilers"]],
    [PHOTO_URL, { spoilers: ["at dawn"], locationId: "1", shareToInstagram: true }, []],
  ])("nothing that does not go together: %s, %o", (mediaUrl, metadata, fields) => {
    const post = { mediaUrl, caption: "It is blown at dawn", metadata } as unknown as ThreadsPost;
    expect(checkPost(post).errors.map((error) => String(error).split(":")[0])).toEqual(fields);
  });
});

it("finds places by their names", async () => {
  const { ctx, account } = await openOne();
  const find = async (search?: string) =>
    (await listChoices(callOf(ctx), { accountId: account.id, field: "locationId", search })).choices;
  expect(await find("Horn")).toEqual([
    { value: "12345", label: "Horn Hall, 1 Hacker Way, Menlo Park" },
    { value: "12346", label: "Horn Park" },
  ]);
  expect(await find()).toEqual([]);
});

describe("a text that Threads may count otherwise", () => {
  const check = (caption: string, metadata: object) => {
    const post = { caption, mediaUrl: "", metadata: { ...metadata } };
    return checkPost(post as unknown as ThreadsPost);
  };

  it("is warned of above 500 bytes, in each part of a thread", () => {
    const curly = "’".repeat(3);
    const thread = [{ caption: `${curly}${"a".repeat(495)}` }, { caption: "a".repeat(500) }];
    const { errors, warnings } = check("ü".repeat(251), { thread });
    expect(errors).toEqual([]);
    expect(warnings.map((warning) => String(warning).split(" bytes")[0])).toEqual([
      "caption: has 502",
      "metadata.thread[0].caption: has 504",
    ]);
  });

  it("is warned of where an emoji stands before or in what is hidden", () => {
    expect(check("A horn 🎺", { spoilers: ["horn"] }).warnings).toEqual([]);
    const [warning] = check("A 🎺 horn", { spoilers: ["horn"] }).warnings;
    expect(warning).toMatch(/^metadata\.spoilers: an emoji stands before/);
    expect(check("The 🎺", { spoilers: ["🎺"] }).warnings).toHaveLength(1);
  });
});
