import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { firstWords } from "../../src/channels/accounts/late-posts.ts";
import { HOUR } from "../../src/domain/time.ts";
import { queryOf } from "../support/handles.ts";
import { startService, type Service } from "../support/service.ts";

let service: Service;
let accountId: string;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterEach(() => service[Symbol.asyncDispose]());

const inHours = (hours: number): string => new Date(service.clock.now() + hours * HOUR).toISOString();

describe("a call with many items of which one cannot be read", () => {
  it.each([
    [
      "schedule_posts",
      () => ({
        posts: [
          { accountId, caption: "One" },
          { accountId, caption: 7 },
        ],
      }),
    ],
    ["change_posts", () => ({ ids: ["post_1", 7], cancel: true })],
    ["decide_draft", () => ({ decision: "approve", drafts: [{ id: "dft_1", revision: 1 }, { id: 7 }] })],
  ])("says that nothing of it was done: %s", async (tool, args) => {
    await expect(service.call(tool, args())).rejects.toThrow(/ Nothing of this call was done\.$/);
    expect((await service.call("list_posts", {})).posts).toEqual([]);
  });

  it("says nothing of others where there are none", async () => {
    const alone = service.call("schedule_posts", { posts: [{ accountId, caption: 7 }] });
    await expect(alone).rejects.toThrow(/a string\.$/);
  });
});

it("a post without words is told by its media, and not by where they are stored", () => {
  const of = (mediaUrl: string): string => firstWords({ caption: " ", media_url: mediaUrl });
  expect(of("r2://default/01AB.png")).toBe("1 picture without text");
  expect(of("r2://default/01AB.mp4")).toBe("1 film without text");
  expect(of("r2://default/01AB.pdf")).toBe("1 file without text");
  expect(of("https://media.example/a.png")).toBe("“https://media.example/a.png”");
  expect(of("")).toBe("a post without text");
});

it("the same text on a paused channel is to be cancelled, as nothing of it is out", async () => {
  await service.call("schedule_post", { accountId, caption: "Rye", scheduledAt: inHours(5) });
  await service.call("update_account", { accountId, paused: true });
  const { warnings } = await service.call("schedule_post", { accountId, caption: "Rye" });
  const same = warnings.find((one: string) => one.startsWith("The same text "));
  expect(same).toContain("Cancel this one if that was not meant.");
  expect(same).not.toMatch(/fromPlatform|[Tt]ake/);
});

it("a retry says that an empty text was left out", async () => {
  const { post } = await service.call("schedule_post", {
    accountId,
    caption: "Rye",
    scheduledAt: inHours(5),
  });
  await queryOf(service.ctx.store)
    .updateTable("posts")
    .set({ status: "failed", error: "Refused." })
    .where("id", "=", post.id)
    .execute();
  const { warnings } = await service.call("retry_post", { id: post.id, caption: null, mediaUrl: null });
  expect(warnings[0]).toBe(
    "caption, mediaUrl came empty, which counts as left out, so that stays as it was.",
  );
});

it("a channel that is disconnected says what becomes of its posts, asked or not", async () => {
  await service.call("schedule_post", { accountId, caption: "Rye", scheduledAt: inHours(5) });
  const waits = "1 waiting post fails unless it is connected again in time.";
  expect(await service.questionOf("disconnect_channel", { accountId })).toContain(waits);
  const { account } = await service.call("disconnect_channel", { accountId });
  expect(account.statusReason).toContain(waits);
});

it("a stop with an old revision leads on to the one there is", async () => {
  const repeat = { every: 1, unit: "day", time: "09:00", timezone: "UTC" };
  const { draft } = await service.call("save_draft", { targets: [accountId], caption: "Rye", repeat });
  await service.call("decide_draft", { id: draft.id, revision: draft.revision, decision: "approve" });
  const [now] = (await service.call("list_drafts", { id: draft.id })).drafts;
  const stop = (revision: number) =>
    service.call("decide_draft", { id: draft.id, revision, decision: "stop" });
  await expect(stop(draft.revision)).rejects.toThrow(
    `${draft.revision} is not the last one. The draft is at ${now.revision}, repeating.`,
  );
  await expect(stop(draft.revision)).rejects.toThrow(/then send \d+\.$/);
  expect((await stop(now.revision)).draft.state).toBe("ended");
});
