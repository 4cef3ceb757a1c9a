import { expect, it } from "vitest";
import ghost from "../../../src/platforms/ghost/index.ts";
import { connectWithSecrets } from "../../../src/channels/connecting/connections.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { ADMIN_KEY, createFakeGhost, SITE } from "./fake.ts";
import { openGhost } from "./stage.ts";

async function openWorld(version?: string) {
  const clock = new FakeClock();
  const fake = createFakeGhost({ now: () => clock.now(), ...(version === undefined ? {} : { version }) });
  const ctx = await createTestContext({ platformList: [ghost], outbound: fake.door, clock });
  const connect = (adminKey: string, instanceUrl: string | null = SITE) =>
    connectWithSecrets(callOf(ctx), {
      provider: "ghost",
      ...(instanceUrl === null ? {} : { instanceUrl }),
      secrets: { adminKey },
    });
  return { ctx, fake, clock, connect, [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose]() };
}

it("connects a site by its key, whichever of its addresses is copied, as one account", async () => {
  await using world = await openWorld();
  const { account } = await world.connect(ADMIN_KEY);
  expect(account).toMatchObject({
    name: "Horns",
    handle: "blog.example",
    profileUrl: `${SITE}/`,
    avatarUrl: `${SITE}/logo.png`,
    status: "connected",
  });
  for (const address of [
    `${SITE}/`,
    `${SITE}/ghost`,
    `${SITE}/ghost/#/settings`,
    `${SITE}/ghost/api/admin/`,
  ]) {
    const again = world.connect(ADMIN_KEY, address.split("#")[0]);
    expect((await again).account.id).toBe(account.id);
  }
  Object.assign(world.ctx.settings.platformSettings, { POSTHORN_GHOST_BASE_URL: SITE });
  expect((await world.connect(ADMIN_KEY, null)).account.id).toBe(account.id);
  expect(world.fake.wrong).toEqual([]);
});

it("says which field is wrong", async () => {
  await using world = await openWorld();
  const other = `${"0".repeat(24)}:${"cd".repeat(32)}`;
  await expect(world.connect("fb3d7d9b41a656f13cbd524f5d")).rejects.toThrow(
    /^adminKey: is not an Admin API key/,
  );
  await expect(world.connect(other)).rejects.toThrow(/^adminKey: blog\.example does not know this key/);
  await expect(world.connect(`${ADMIN_KEY.slice(0, -2)}cd`)).rejects.toThrow(/^adminKey: blog\.example/);
  await expect(world.connect(ADMIN_KEY, null)).rejects.toThrow(/^instanceUrl: is required/);
  for (const address of ["https://blog.example/elsewhere", "https://nobody.example"])
    await expect(world.connect(ADMIN_KEY, address)).rejects.toThrow(
      /^instanceUrl: .* did not answer as a Ghost/,
    );
  await using old = await openWorld("4.48");
  await expect(old.connect(ADMIN_KEY)).rejects.toThrow(/^instanceUrl: the site runs Ghost 4\.48/);
});

it("looks at the site now and then", async () => {
  await using stage = await openGhost();
  const io = await createPlatformIo(stage.ctx, stage.account, AbortSignal.timeout(5_000));
  expect(await ghost.inspect?.(io)).toMatchObject({
    name: "Horns",
    limits: { version: "6.65" },
    problem: null,
  });
});
