import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/ports/platform-io.ts";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import { openWorld } from "./world.ts";

/** In place of the board that posts of this world have. */
const WITHOUT = { boardId: undefined } as unknown as JsonObject;
const NAMED: JsonObject = { ...WITHOUT, board: "new  Horns" };

describe("a board", () => {
  it("is found by its name", async () => {
    await using world = await openWorld();
    const row = await world.end(await world.post(await world.connect(), { ...NAMED, board: "posts" }));
    expect(row).toMatchObject({ status: "published", error: null });
    expect(world.fake.state.pins).toMatchObject([{ board_id: "222" }]);
  });

  it("is made once, where it is to be made, and used again", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    for (let pins = 0; pins < 2; pins += 1)
      await world.end(await world.post(account, { ...NAMED, createBoard: true }));
    const made = world.fake.state.boards.filter(({ name }) => /new/i.test(name));
    expect(made).toHaveLength(1);
    expect(world.fake.state.pins.map(({ board_id: id }) => id)).toEqual([made[0]?.id, made[0]?.id]);
  });

  it("that has no such name is not made without being asked for", async () => {
    await using world = await openWorld();
    const row = await world.end(await world.post(await world.connect(), NAMED));
    expect(row).toMatchObject({
      status: "failed",
      error: expect.stringContaining("metadata.board: the channel has no board of this name."),
    });
    expect(world.fake.state.boards).toHaveLength(3);
  });

  it("that another post made meanwhile is taken", async () => {
    await using world = await openWorld();
    const post = await world.post(await world.connect(), { ...NAMED, createBoard: true });
    const { state } = world.fake;
    world.fake.refuse("POST /boards", 400, { code: 58, message: "You already have a board with this name." });
    const { push } = world.fake.calls;
    world.fake.calls.push = (...calls) => {
      if (calls[0]?.name === "POST /boards")
        state.boards.push({ id: "999", name: "New Horns", privacy: "PUBLIC" });
      return push.apply(world.fake.calls, calls);
    };
    expect(await world.end(post)).toMatchObject({ status: "published" });
    expect(state.pins).toMatchObject([{ board_id: "999" }]);
  });

  it("has its sections, which a pin goes into and is found in", async () => {
    await using world = await openWorld();
    const account = await world.connect();
    const choices = (search: string) =>
      listChoices(world.call, { accountId: account.id, field: "boardSection", search });
    expect((await choices("post")).choices).toEqual([
      { value: "7002", label: "Posts: Letters" },
      { value: "7003", label: "Posts: Parcels" },
      { value: "7004", label: "Posts: Stamps" },
    ]);
    expect((await choices("111")).choices).toEqual([{ value: "7001", label: "Horns: French horns" }]);
    const row = await world.end(await world.post(account, { boardSection: "7001" }));
    expect(world.fake.state.pins).toMatchObject([{ board_id: "111", board_section_id: "7001" }]);
    await editPublishedPost(world.call, { id: row.id, metadata: { boardId: "222", boardSection: "7002" } });
    expect(world.fake.state.pins).toMatchObject([{ board_id: "222", board_section_id: "7002" }]);
  });

  it.each<[JsonObject, string]>([
    [WITHOUT, "metadata.boardId: is missing."],
    [{ board: "Horns" }, "give either boardId or board"],
    [{ createBoard: true }, "needs the name of the board"],
    [{ ...NAMED, createBoard: true, boardSection: "7001" }, "a new board has no sections"],
  ])("that cannot be meant is refused: %j", async (metadata, sentence) => {
    await using world = await openWorld();
    const row = await world.end(await world.post(await world.connect(), metadata));
    expect(row).toMatchObject({ status: "failed", error: expect.stringContaining(sentence) });
  });
});
