import { expect, it } from "vitest";
import wordpress from "../../../src/platforms/wordpress/index.ts";
import { leadOn } from "../../../src/channels/connecting/consent.ts";
import { connectChannel, connectWithSecrets } from "../../../src/channels/connecting/connections.ts";
import { guestCall } from "../../../src/context.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import { consentOn } from "../../support/contract/consent-on.ts";
import { finish } from "../../support/contract/ends.ts";
import { createStageMedia } from "../../support/contract/stage-media.ts";
import { addPost } from "../../support/publishing.ts";
import { createFakeWordpress, SITE, USER } from "./fake.ts";

type Options = Omit<Parameters<typeof createFakeWordpress>[0], "now">;

async function openWorld(options: Options = {}) {
  const clock = new FakeClock();
  const server = createFakeWordpress({ now: () => clock.now(), ...options });
  const ctx = await createTestContext({
    platformList: [wordpress],
    outbound: server.door,
    media: createStageMedia(),
    clock,
    publicUrl: async () => "https://horn.example",
  });
  const enter = (secrets: Record<string, string> = {}, instanceUrl: string | undefined = SITE) => ({
    provider: "wordpress",
    ...(instanceUrl === undefined ? {} : { instanceUrl }),
    secrets: { ...USER, ...secrets },
  });
  return {
    ctx,
    server,
    connect: (secrets?: Record<string, string>, instanceUrl?: string) =>
      connectOn(callOf(ctx), enter(secrets, instanceUrl)),
    refused: (secrets?: Record<string, string>, instanceUrl?: string) =>
      expect(connectWithSecrets(callOf(ctx), enter(secrets, instanceUrl))).rejects,
    [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose](),
  };
}

it("connects with an application password, however it is spaced", async () => {
  await using world = await openWorld();
  const row = await world.connect();
  expect(row).toMatchObject({
    platform_account_id: "3",
    id_server: SITE,
    name: "The horn",
    handle: "alice",
    profile_url: SITE,
    avatar_url: `${SITE}/96.png`,
    status: "connected",
    token_expires_at: null,
  });
  expect(JSON.parse(row.settings)).toMatchObject({ instanceUrl: SITE, apiRoot: `${SITE}/wp-json` });
  const again = await world.connect({ appPassword: "abcd EFGH 1234 ijkl MNOP 5678" }, "blog.example");
  expect(again.id).toBe(row.id);
  expect(world.server.wrong).toEqual([]);
});

it("posts to a site without pretty permalinks", async () => {
  await using world = await openWorld({ isPretty: false });
  const row = await world.connect();
  expect(JSON.parse(row.settings)).toMatchObject({ apiRoot: `${SITE}/?rest_route=` });
  const { id } = await addPost(world.ctx, row, { metadata: JSON.stringify({ title: "A horn" }) });
  expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
  expect(world.server.wrong).toEqual([]);
});

it("connects by the site's own page, and posts", async () => {
  await using world = await openWorld();
  const named = { provider: "wordpress", way: "authorize", instanceUrl: SITE };
  const { rows, error, url } = await consentOn(callOf(world.ctx), named, {
    agree: (address) => world.server.approve(address),
  });
  expect(error).toBeNull();
  const [row] = rows;
  if (row === undefined) throw new Error("There is no channel.");
  expect(new URL(url).searchParams.get("app_name")).toBe("Posthorn");
  world.server.passwords.delete(USER.appPassword);
  const { id } = await addPost(world.ctx, row, { metadata: JSON.stringify({ title: "A horn" }) });
  expect(await finish(world.ctx, id)).toMatchObject({ status: "published", error: null });
});

it("connects nothing where the person does not approve", async () => {
  await using world = await openWorld();
  const named = { provider: "wordpress", way: "authorize", instanceUrl: SITE };
  const { rows, error } = await consentOn(callOf(world.ctx), named, {
    agree: (address) => world.server.approve(address, false),
  });
  expect(rows).toEqual([]);
  expect(error).toMatch(/not approved/);
});

it("says that a site offers no application passwords", async () => {
  await using world = await openWorld({ hasPasswords: false });
  const named = { provider: "wordpress", way: "authorize", instanceUrl: SITE };
  const { url } = await connectChannel(callOf(world.ctx), named);
  const lead = await leadOn(guestCall(world.ctx), { token: url?.split("/").at(-1) ?? "" });
  expect(lead).toMatchObject({
    state: "refused",
    error: { message: expect.stringMatching(/^instanceUrl: the site offers no application passwords/) },
  });
});

it("says which field is wrong", async () => {
  await using world = await openWorld();
  await world.refused({ appPassword: "wrong" }).toThrow(/^appPassword: blog\.example refused it\./);
  await world
    .refused({}, "https://blog.example/shop")
    .toThrow(/^instanceUrl: .*did not answer as a WordPress/);
  await world.refused({}, "https://nobody.example").toThrow(/^instanceUrl: nobody\.example did not answer/);
  const nowhere = connectWithSecrets(callOf(world.ctx), { provider: "wordpress", secrets: { ...USER } });
  await expect(nowhere).rejects.toThrow(/^instanceUrl: is required/);
});

it("refuses a user who may not publish, and finds out when one may not any more", async () => {
  await using helper = await openWorld({ capabilities: { edit_posts: true } });
  await helper.refused().toThrow(/may not publish posts and upload files/);
  const rights: Record<string, boolean> = { publish_posts: true, upload_files: true };
  await using world = await openWorld({ capabilities: rights });
  const row = await world.connect();
  const io = await createPlatformIo(world.ctx, row, AbortSignal.timeout(5_000));
  expect(await wordpress.inspect?.(io)).toEqual({ avatarUrl: `${SITE}/96.png`, problem: null });
  rights["upload_files"] = false;
  expect(await wordpress.inspect?.(io)).toMatchObject({
    problem: expect.stringMatching(/may not upload files/),
  });
});
