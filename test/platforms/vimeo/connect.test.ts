import vimeo from "../../../src/platforms/vimeo/index.ts";
import { describe, expect, it } from "vitest";
import type { OAuthWay } from "../../../src/ports/connect.ts";
import { connectWithSecrets, disconnectChannel } from "../../../src/channels/connecting/connections.ts";
import { inspectAccount } from "../../../src/channels/connecting/inspect.ts";
import { beginConsent, finishConsent } from "../../../src/channels/connecting/oauth.ts";
import { findAccountRow } from "../../../src/store/queries/accounts.ts";
import { callOf } from "../../support/context.ts";
import { queryOf } from "../../support/handles.ts";
import { createVimeoWorld, type VimeoWorld } from "./world.ts";

const way = vimeo.connect[0] as OAuthWay;
const PLACE = { instanceUrl: null, redirectUrl: "http://localhost:4747/connect/callback" };

async function consent({ ctx, fake }: VimeoWorld, granted?: string) {
  const asked = { platform: vimeo, way, place: PLACE, ownerId: "default" };
  const { signal } = new AbortController();
  const { url, keep } = await beginConsent(ctx, { ...asked, state: "state-1" }, signal);
  return finishConsent(ctx, { ...asked, keep, answer: fake.state.consent(url, granted) }, signal);
}

const withToken = ({ ctx }: VimeoWorld, accessToken: string) =>
  connectWithSecrets(callOf(ctx), { provider: "vimeo", way: "token", secrets: { accessToken } });

describe("connecting Vimeo", () => {
  it("gives the account that consented", async () => {
    const world = await createVimeoWorld();
    const { tokens, targets } = await consent(world);
    expect(targets).toEqual([
      {
        platformAccountId: "152184",
        name: "Horn Films",
        handle: "hornfilms",
        profileUrl: "https://vimeo.com/hornfilms",
        avatarUrl: "https://i.vimeocdn.com/portrait/1_30x30",
        settings: {},
        secrets: {},
      },
    ]);
    expect(tokens).toMatchObject({ expiresAt: null, scopes: way.scopes });
    expect(world.fake.wrong).toEqual([]);
  });

  it("refuses a consent without the permission to upload", async () => {
    const world = await createVimeoWorld();
    await expect(consent(world, "public private edit")).rejects.toThrow(/permissions are missing: .*upload/);
  });

  it("takes a token of the app's page, as the same account, and only one that may upload", async () => {
    const world = await createVimeoWorld();
    const token = world.fake.state.grant();
    await withToken(world, ` ${token} `);
    const rows = await queryOf(world.ctx.store).selectFrom("accounts").selectAll().execute();
    expect(rows.map(({ id, name }) => [id, name])).toEqual([[world.account.id, "Horn Films"]]);
    await expect(withToken(world, "wrong")).rejects.toThrow(/^accessToken: Vimeo refused it.*Generate/);
    world.fake.state.scope = "public private";
    await expect(withToken(world, token)).rejects.toThrow(/^accessToken: it may not upload, edit/);
  });

  it("keeps the account's name and says when its room is used up, or its token is over", async () => {
    const { ctx, account, fake } = await createVimeoWorld();
    const read = async () => findAccountRow(ctx.store, account.owner_id, account.id);
    fake.state.me = { ...fake.state.me, name: "New name", upload_quota: { space: { free: 0 } } };
    await inspectAccount(ctx, account);
    expect(await read()).toMatchObject({
      name: "New name",
      status_reason: expect.stringContaining("space on Vimeo is used up"),
    });
    fake.state.revokeAll();
    await inspectAccount(ctx, account);
    expect((await read())?.status).toBe("reconnect_required");
    await disconnectChannel(callOf(ctx), { accountId: account.id });
  });
});
