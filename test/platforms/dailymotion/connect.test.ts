import { describe, expect, it } from "vitest";
import dailymotion from "../../../src/platforms/dailymotion/index.ts";
import { listChoices } from "../../../src/channels/connecting/list-choices.ts";
import {
  openConnection,
  submitChoice,
  submitSecrets,
} from "../../../src/channels/connecting/connect-page.ts";
import { checkConnection } from "../../../src/channels/connecting/check-connection.ts";
import { connectChannel } from "../../../src/channels/connecting/connections.ts";
import { inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import { guestCall } from "../../../src/context.ts";
import { findAccountRow } from "../../../src/store/queries/accounts.ts";
import { callOf } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { CLIP_URL } from "../../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { KEY } from "./fake.ts";
import { createDailymotionWorld, openDailymotion } from "./world.ts";

describe("connecting Dailymotion", () => {
  it("gives the channel that the key is good for", async () => {
    const { connect, fake } = await openDailymotion();
    expect(await connect()).toMatchObject({
      name: "hornchannel",
      handle: "hornchannel",
      platform_account_id: "x1horn",
      profile_url: "https://www.dailymotion.com/hornchannel",
      status: "connected",
      status_reason: null,
    });
    expect(fake.wrong).toEqual([]);
  });

  it("lets a person choose where the key is good for several", async () => {
    const { ctx, fake } = await openDailymotion();
    fake.state.profiles.push({ profile_id: "x2horn", name: "second" });
    const call = callOf(ctx);
    const { url, connectId } = await connectChannel(call, { provider: "dailymotion" });
    const ref = { token: url?.split("/connect/")[1] ?? "" };
    await submitSecrets(guestCall(ctx), { ...ref, secrets: KEY });
    const page = await openConnection(guestCall(ctx), ref);
    if (page.state !== "choose") throw new Error(JSON.stringify(page));
    const keys = page.choice.channels.map(({ key }) => key);
    await submitChoice(guestCall(ctx), { ...ref, keys });
    const { accounts } = await checkConnection(call, { connectId: connectId ?? "" });
    expect(accounts.map(({ name }) => name)).toEqual(["hornchannel", "second"]);
  });

  it.each([
    ["a wrong secret", { ...KEY, apiSecret: "no" }, /^apiSecret: .*does not accept the key/],
    ["a key without a permission", KEY, /^apiSecret: .*lacks a permission.*API keys/],
    ["a key for nothing", KEY, /^apiKey: gives access to no channel/],
  ])("refuses %s in words", async (what, secrets, message) => {
    const { connect, fake } = await openDailymotion();
    if (what.includes("permission")) fake.state.permissions = ["account.read"];
    if (what.includes("nothing")) fake.state.profiles = [];
    await expect(connect(secrets)).rejects.toMatchObject({ message: expect.stringMatching(message) });
  });

  it("gets a new token when the half hour is over, once for all", async () => {
    const { ctx, account, fake, clock } = await createDailymotionWorld();
    await clock.advance(31 * 60_000);
    const metadata = JSON.stringify({ title: "The horn" });
    const posts = [1, 2].map(() => addPost(ctx, account, { media_url: CLIP_URL, metadata }));
    for (const { id } of await Promise.all(posts))
      expect(await finish(ctx, id)).toMatchObject({ status: "published", error: null });
    expect(fake.state.tokensGiven).toBe(2);
    expect(fake.videos.size).toBe(2);
  });

  it("asks to be reconnected when the key is taken away", async () => {
    const { ctx, account, fake } = await createDailymotionWorld();
    fake.tokens.clear();
    fake.state.secret = "another";
    const { id } = await addPost(ctx, account, {
      media_url: CLIP_URL,
      metadata: JSON.stringify({ title: "The horn" }),
    });
    await drain(ctx);
    expect(await readPost(ctx, id)).toMatchObject({
      status: "scheduled",
      error: expect.stringContaining("must be reconnected first"),
    });
  });
});

describe("what Dailymotion says of a channel", () => {
  it("is kept: its name, and that the key is not good for it any more", async () => {
    const { ctx, account, fake } = await createDailymotionWorld();
    const read = () => findAccountRow(ctx.store, account.owner_id, account.id);
    fake.state.profiles = [{ profile_id: "x1horn", name: "newname" }];
    await inspectAccount(ctx, account);
    expect(await read()).toMatchObject({ name: "newname", status_reason: null });
    fake.state.profiles = [{ profile_id: "x9other", name: "other" }];
    await inspectAccount(ctx, account);
    expect(await read()).toMatchObject({
      status_reason: expect.stringContaining("no longer gives access to this channel"),
    });
  });

  it("is which categories there are", async () => {
    const { ctx, account } = await createDailymotionWorld();
    const find = async (search: string) =>
      (await listChoices(callOf(ctx), { accountId: account.id, field: "category", search })).choices;
    expect(await find("")).toHaveLength(17);
    expect(await find("video g")).toEqual([{ value: "videogames", label: "Video games" }]);
    expect(dailymotion.metadata.safeParse({ title: "A", category: "cars" }).success).toBe(false);
  });
});
