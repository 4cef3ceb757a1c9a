import { expect, it } from "vitest";
import matrix from "../../../src/platforms/matrix/index.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { refuse, ROOM } from "./fake.ts";
import { openMatrix } from "./world.ts";

it("is changed by a message that takes its place, and keeps its file", async () => {
  await using world = await openMatrix();
  const row = await world.publish(await world.connect(), { caption: "One", mediaUrl: PHOTO_URL });
  const [before] = world.shown();
  await editPublishedPost(world.call, { id: row.id, caption: "Two", metadata: { html: "<i>Two</i>" } });
  await world.clock.advance(1_000);
  await editPublishedPost(world.call, { id: row.id, caption: "One", metadata: { html: null } });
  const [after, ...others] = world.shown();
  expect(others).toEqual([]);
  expect(after?.content).toMatchObject({ msgtype: "m.image", body: "One", url: before?.content["url"] });
  expect(after?.content).not.toHaveProperty("formatted_body");
  const edits = world.state.rooms.get(ROOM)?.events.filter(({ content }) => "m.new_content" in content);
  expect(edits?.map(({ content }) => content["m.relates_to"].event_id)).toEqual([
    row.platform_post_id,
    row.platform_post_id,
  ]);
});

it("stays as it was where the message is gone, or the field cannot be changed", async () => {
  await using world = await openMatrix();
  const row = await world.publish(await world.connect(), { mediaUrl: PHOTO_URL });
  const change = { id: row.id, metadata: { altText: "Another" } };
  await expect(editPublishedPost(world.call, change)).rejects.toMatchObject({ kind: "conflict" });
  await matrix.remove?.(world.postOf(row), await world.ioOf(await world.connect(), row));
  await expect(editPublishedPost(world.call, { id: row.id, caption: "Two" })).rejects.toMatchObject({
    kind: "conflict",
    message: expect.stringContaining("not in the room any more"),
  });
});

it("has its reactions and its thread counted", async () => {
  await using world = await openMatrix();
  const row = await world.publish(await world.connect(), {});
  const room = world.state.rooms.get(ROOM);
  const add = (type: string, rel_type: string): void => {
    const content = { "m.relates_to": { rel_type, event_id: row.platform_post_id } };
    const event = {
      id: `$${room?.events.length}`,
      type,
      sender: "@boss:horn.example",
      at: world.clock.now(),
    };
    room?.events.push({ ...event, device: "", transaction: "", content, isRedacted: false });
  };
  for (let n = 0; n < 5; n += 1) add("m.reaction", "m.annotation");
  for (let n = 0; n < 2; n += 1) add("m.room.message", "m.thread");
  expect(await readInsights(world.ctx, row)).toMatchObject({
    state: "live",
    metrics: { likes: 5, comments: 2 },
  });
});

it("is taken back with its further files and its edits, which hold the text too", async () => {
  await using world = await openMatrix();
  const account = await world.connect();
  const row = await world.publish(account, { caption: "One", mediaUrl: PHOTO_URL, metadata: PICTURES });
  await editPublishedPost(world.call, { id: row.id, caption: "Two" });
  const io = await world.ioOf(account, row);
  for (let time = 0; time < 2; time += 1) await matrix.remove?.(world.postOf(row), io);
  const events = world.state.rooms.get(ROOM)?.events ?? [];
  expect(events.filter(({ type }) => type === "m.room.redaction")).toHaveLength(3);
  expect(events.filter(({ type, content }) => type === "m.room.message" && "body" in content)).toEqual([]);
});

it("says it plainly where the account may not take it back", async () => {
  await using world = await openMatrix();
  const account = await world.connect();
  const row = await world.publish(account, {});
  world.state.meets = (operation) =>
    operation.includes("/redact/") ? refuse(403, "M_FORBIDDEN", "You don't have permission") : null;
  const removing = matrix.remove?.(world.postOf(row), await world.ioOf(account, row));
  await expect(removing).rejects.toMatchObject({
    kind: "rejected",
    message: expect.stringContaining("does not let this account do that"),
  });
});

it("counts the members of the room", async () => {
  await using world = await openMatrix();
  const io = await world.ioOf(await world.connect());
  const { totals, unavailable } = (await matrix.analytics?.({ from: "", to: "" }, io)) ?? {};
  expect(totals).toEqual({ followers: 1 });
  expect(unavailable?.map(({ metric }) => metric)).toContain("views");
});
