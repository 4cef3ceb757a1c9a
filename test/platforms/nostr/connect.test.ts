import { describe, expect, it } from "vitest";
import nostr from "../../../src/platforms/nostr/index.ts";
import { inspectConnected } from "../../../src/channels/connecting/inspect.ts";
import { connectWithSecrets } from "../../../src/channels/connecting/connections.ts";
import { findAccountRow } from "../../../src/store/queries/accounts.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { callOf } from "../../support/context.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import { finish } from "../../support/contract/ends.ts";
import { addPost } from "../../support/publishing.ts";
import { FILES, NPUB, NSEC, PUBKEY, RELAYS, SECRET } from "./fake.ts";
import { openNostr } from "./stage.ts";

const connect = async (stage: Awaited<ReturnType<typeof openNostr>>, secrets: Record<string, string>) =>
  connectOn(callOf(stage.ctx), { provider: "nostr", secrets });

describe("connecting with the private key", () => {
  it("finds name, checked handle, picture, relays and file servers", async () => {
    await using stage = await openNostr(nostr);
    const { account } = stage;
    expect(account).toMatchObject({
      platform_account_id: PUBKEY,
      name: "The Horn",
      handle: "horn@horn.example",
      avatar_url: "https://horn.example/p.png",
      profile_url: `https://njump.me/${NPUB}`,
      status: "connected",
    });
    expect(JSON.parse(account.limits)).toEqual({
      relays: RELAYS,
      fileServers: [`${FILES}/`],
      maxLength: null,
    });
    expect(JSON.parse(account.settings)).toMatchObject({ relays: [] });
    // As hex it is the same account.
    expect((await connect(stage, { nsec: ` ${SECRET.toUpperCase()} ` })).id).toBe(account.id);
  });

  it.each([
    ["", /^nsec: is missing|^nsec:/],
    ["hello", /^nsec: is not a Nostr private key/],
    [NPUB, /^nsec: is the public key/],
    [NSEC.slice(0, -1) + "6", /^nsec: is not a Nostr private key/],
    ["0".repeat(64), /^nsec: is not a Nostr private key/],
    ["f".repeat(64), /^nsec: is not a Nostr private key/],
  ])("refuses %j as a key", async (nsec, message) => {
    await using stage = await openNostr(nostr);
    const error: unknown = await connect(stage, { nsec }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ kind: "invalid", message: expect.stringMatching(message) });
    if (nsec.length > 20) expect(String(error)).not.toContain(nsec);
  });

  it("posts to the relays that the person names, and keeps them when it is reconnected", async () => {
    await using stage = await openNostr(nostr);
    const account = await connect(stage, { nsec: NSEC, relays: "wss://two.example" });
    expect(JSON.parse(account.settings)).toMatchObject({ relays: ["wss://two.example/"] });
    const { id } = await addPost(stage.ctx, account, { caption: "A horn" });
    expect(await finish(stage.ctx, id)).toMatchObject({ status: "published", warnings: null });
    const kinds = (at: number): number[] =>
      [...stage.nostr.relay(at).events.values()].map(({ kind }) => kind);
    expect([kinds(0).includes(1), kinds(1).includes(1)]).toEqual([false, true]);
    const again = await connectWithSecrets(callOf(stage.ctx), {
      provider: "nostr",
      accountId: account.id,
      secrets: { nsec: NSEC },
    } as never);
    const row = await findAccountRow(stage.ctx.store, account.owner_id, again.account.id);
    expect(JSON.parse(row?.settings ?? "")).toMatchObject({ relays: ["wss://two.example/"] });
  });

  it("says what is wrong with relays", async () => {
    await using stage = await openNostr(nostr);
    await expect(
      connect(stage, { nsec: NSEC, relays: "relay.example, https://x.example" }),
    ).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/^relays: has no address of a relay/),
    });
    for (const at of [0, 1]) stage.nostr.relay(at).isDown = true;
    await expect(connect(stage, { nsec: NSEC })).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("none of wss://one.example/, wss://two.example/ answers"),
    });
  });
});

describe("what the account's events say", () => {
  it("is believed only where they are its own, and its domain agrees", async () => {
    await using stage = await openNostr(nostr);
    const { ctx, account, nostr: fake } = stage;
    fake.state.names["horn"] = "11".repeat(32);
    const forged = fake.publishAs("22".repeat(32), { kind: 0, content: '{"name":"thief"}' });
    for (const at of [0, 1]) {
      const { events } = fake.relay(at);
      // One of another's key, and one whose words were changed afterwards.
      events.set(forged.id, { ...forged, pubkey: PUBKEY, created_at: forged.created_at + 60 });
      for (const event of [...events.values()].filter(({ kind }) => kind === 10_063))
        events.set("x", {
          ...event,
          created_at: event.created_at + 60,
          tags: [["server", "https://thief.example"]],
        });
    }
    await inspectConnected(ctx, account.owner_id, account.id);
    const row = await findAccountRow(ctx.store, account.owner_id, account.id);
    expect(row).toMatchObject({ name: "The Horn", handle: NPUB, status_reason: null });
    expect(JSON.parse(row?.limits ?? "")).toMatchObject({ fileServers: [`${FILES}/`] });
  });

  it("limits a text to what its relays take", async () => {
    await using stage = await openNostr(nostr);
    const { ctx, account, nostr: fake } = stage;
    fake.state.information = { limitation: { max_content_length: 100 } };
    await inspectConnected(ctx, account.owner_id, account.id);
    const dryRun = (length: number) =>
      schedulePost(callOf(ctx), {
        accountId: account.id,
        caption: "x".repeat(length),
        mediaUrl: "",
        dryRun: true,
      });
    expect((await dryRun(100)).post.caption).toHaveLength(100);
    await expect(dryRun(101)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/^caption: /),
    });
  });

  it("tells that no relay can be posted to", async () => {
    await using stage = await openNostr(nostr);
    const { ctx, account, nostr: fake } = stage;
    for (const at of [0, 1]) fake.relay(at).isDown = true;
    await inspectConnected(ctx, account.owner_id, account.id);
    const row = await findAccountRow(ctx.store, account.owner_id, account.id);
    expect(row?.status_reason).toMatch(/^Posthorn cannot post to any relay: none of wss:\/\/one/);
  });
});
