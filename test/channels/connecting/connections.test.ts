import type { ConnectArgs } from "../../../src/domain/accounts/connection.ts";
import { checkConnection } from "../../../src/channels/connecting/check-connection.ts";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SecretsWay } from "../../../src/ports/connect.ts";
import { scriptedPlatform, targetOf } from "../../support/scripted-platform.ts";
import type { AppError } from "../../../src/domain/errors.ts";
import type { Caller } from "../../../src/domain/permissions.ts";
import { MINUTE } from "../../../src/domain/time.ts";
import { listAccounts } from "../../../src/channels/accounts/accounts.ts";
import { MAX_ATTEMPTS } from "../../../src/channels/connecting/connect-link.ts";
import { openConnection, submitSecrets } from "../../../src/channels/connecting/connect-page.ts";
import {
  connectChannel,
  connectWithSecrets,
  askToReconnect,
  disconnectChannel,
} from "../../../src/channels/connecting/connections.ts";
import { noteServerUrl } from "../../../src/publishing/at-work.ts";
import { openSecrets } from "../../../src/channels/platform-io/secrets.ts";
import { guestCall } from "../../../src/context.ts";
import { createCipher } from "../../../src/store/engine/cipher.ts";
import { listAccountRows } from "../../../src/store/queries/accounts.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { createCinema } from "../../support/cinema.ts";
import { createPhotobox, createPinboard, createScriptedOutbound } from "../../support/connect-fixtures.ts";
import { callerOf, callOf, createTestContext } from "../../support/context.ts";
import { queryOf, rawOf } from "../../support/handles.ts";
import { addPosts } from "../../support/post-rows.ts";

const ALICE = { handle: "alice.example", appPassword: "alice-password-1" };

async function setUp(overrides: Parameters<typeof createTestContext>[0] = {}) {
  const box = createPhotobox();
  let wakes = 0;
  const ctx = await createTestContext({
    platformList: [box.platform, createPinboard()],
    outbound: createScriptedOutbound(),
    wakePublisher: () => void wakes++,
    ...overrides,
  });
  const caller = callerOf();
  const start = async (args: Partial<ConnectArgs> = {}, who: Caller = caller) => {
    const result = await connectChannel(callOf(ctx, who), { provider: "photobox", ...args });
    return { result, token: result.url?.split("/connect/")[1] ?? "", connectId: result.connectId ?? "" };
  };
  const submit = (token: string, secrets: Record<string, string>) =>
    submitSecrets(guestCall(ctx), { token, secrets });
  const connectAlice = async () =>
    (await connectWithSecrets(callOf(ctx, caller), { provider: "photobox", secrets: ALICE })).account;
  const secretsOf = async (id: string) => {
    const row = (await listAccountRows(ctx.store, caller.ownerId)).find((candidate) => candidate.id === id);
    return row === undefined ? null : openSecrets(ctx, row);
  };
  return { ctx, box, caller, start, submit, connectAlice, secretsOf, wakes: () => wakes };
}

describe("connecting a channel again that kept posts back", () => {
  const GOES_OUT =
    "1 post goes out as soon as it is connected: “Kept back”, which was due on Saturday 21 November 2026, 08:50 (UTC).";
  const TELL = new RegExp(GOES_OUT.replaceAll(/[().]/g, "\\$&"));

  async function keepBack(
    ctx: Awaited<ReturnType<typeof setUp>>["ctx"],
    accountId: string,
    provider: string,
  ) {
    const scheduledAt = ctx.clock.now() - 10 * MINUTE;
    await addPosts(ctx.store, [{ id: "post_kept", accountId, provider, caption: "Kept back", scheduledAt }]);
  }

  it("tells the agent and the page which of them go out then", async () => {
    const { ctx, caller, start, connectAlice } = await setUp();
    const { id } = await connectAlice();
    await keepBack(ctx, id, "photobox");
    expect(String((await start({ accountId: id })).result.instructions)).not.toMatch(TELL);
    await disconnectChannel(callOf(ctx, caller), { accountId: id });
    const { result, token } = await start({ accountId: id });
    expect(String(result.instructions)).toMatch(TELL);
    expect(String(result.instructions)).toMatch(
      / It connects the channel .* on Photobox again\. Tell the person:/,
    );
    const page = await openConnection(guestCall(ctx), { token });
    expect(String(page.state === "open" && page.form.release)).toBe(GOES_OUT);
  });

  it("is asked about where nobody else asks, and is told in the answer", async () => {
    const { ctx, caller } = await setUp();
    const { account } = await connectChannel(callOf(ctx, caller), { provider: "pinboard", name: "News" });
    const accountId = account?.id ?? "";
    const again = { provider: "pinboard", accountId };
    await keepBack(ctx, accountId, "pinboard");
    expect(await askToReconnect(callOf(ctx, caller), again)).toBeNull();
    await disconnectChannel(callOf(ctx, caller), { accountId });
    expect(await askToReconnect(callOf(ctx, caller), again)).toBe(
      `Connect the channel News on Pinboard again? ${GOES_OUT}`,
    );
    expect(String((await connectChannel(callOf(ctx, caller), again)).instructions)).toBe(GOES_OUT);
  });
});

describe("connectChannel", () => {
  it("answers a link for a platform with secrets and keeps only the hash of its token", async () => {
    const { ctx, start } = await setUp();
    const { result, token } = await start({ handle: "alice.example" });
    expect(result).toMatchObject({
      status: "authorization_required",
      account: null,
      expiresAt: "2026-11-21T09:15:00.000Z",
    });
    expect(result.url).toMatch(/^http:\/\/localhost:4747\/connect\/[\w-]{43}$/);
    expect(String(result.instructions)).toContain("Make an app password under Settings");
    const rows = await queryOf(ctx.store).selectFrom("connections").selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  it.each([
    ["social.example", "https://social.example"],
    ["https://social.example/", "https://social.example"],
    ["https://social.example/blog", "https://social.example/blog"],
    ["me@social.example", "https://social.example"],
    [" @me@social.example ", "https://social.example"],
    ["acct:me@social.example:8443", "https://social.example:8443"],
    ["@me:social.example", "https://social.example"],
    ["https://social.example/@me", "https://social.example"],
    ["social.example/@me/", "https://social.example"],
  ])("takes the server %j, or the handle there, as %s", async (instanceUrl, server) => {
    const { ctx, start } = await setUp();
    await start({ instanceUrl });
    const rows = await queryOf(ctx.store).selectFrom("connections").select("instance_url").execute();
    expect(rows).toEqual([{ instance_url: server }]);
  });

  it("connects a platform that needs nothing at once, one account a call, named as asked", async () => {
    const { ctx, caller, start } = await setUp();
    const first = await start({ provider: "pinboard" });
    const second = await start({ provider: "pinboard", name: "News" });
    expect(first.result).toMatchObject({
      status: "connected",
      connectId: null,
      url: null,
      account: { name: "My pinboard", status: "connected" },
    });
    expect(second.result.account?.name).toBe("News");
    expect((await listAccounts(callOf(ctx, caller))).accounts).toHaveLength(2);
  });

  it("reconnects a platform that needs nothing and keeps its id and name", async () => {
    const { ctx, caller, start } = await setUp();
    const { result } = await start({ provider: "pinboard", name: "News" });
    const accountId = result.account?.id ?? "";
    await disconnectChannel(callOf(ctx, caller), { accountId });
    const again = await start({ provider: "pinboard", accountId });
    expect(again.result.account).toMatchObject({
      id: accountId,
      name: "News",
      status: "connected",
      statusReason: null,
      platformAccountId: "pin-1",
    });
  });

  it("stores the answer with the idempotency key in the transaction of its effect", async () => {
    const { ctx } = await setUp();
    const completed: unknown[] = [];
    const idempotency = {
      keyHash: "k",
      complete: async (_tx: unknown, result: unknown) => void completed.push(result),
    };
    const atOnce = await connectChannel({ ...callOf(ctx), idempotency }, { provider: "pinboard" });
    const link = await connectChannel({ ...callOf(ctx), idempotency }, { provider: "photobox" });
    expect(completed).toEqual([atOnce, link]);
  });

  it.each([
    [
      { provider: "nowhere" },
      "invalid",
      /^provider: "nowhere" is not a known platform. The platforms are photobox, pinboard\.$/,
    ],
    [
      { provider: "photobx" },
      "invalid",
      /^provider: "photobx" is not a known platform. Did you mean photobox\? The platforms are photobox, pinboard\.$/,
    ],
    [{ provider: "Pin Bord" }, "invalid", /Did you mean pinboard\? The platforms are photobox, pinboard\.$/],
    [{ provider: undefined }, "invalid", /^provider: is required unless accountId/],
    [{ accountId: "acc_unknown" }, "not_found", /^accountId: there is no account "acc_unknown"/],
    [{ instanceUrl: "https://10.0.0.1" }, "invalid", /^instanceUrl: private/],
    [{ instanceUrl: "https://me:pw@pds.example" }, "invalid", /^instanceUrl: give only the server's address/],
    [{ instanceUrl: "not an address" }, "invalid", /^instanceUrl: /],
  ])("refuses %o", async (args, kind, message) => {
    const { start } = await setUp();
    await expect(start(args)).rejects.toMatchObject({ kind, message: expect.stringMatching(message) });
  });

  it.each(["Pin Board", "PINBOARD"])("takes %j for the platform that is known by it", async (provider) => {
    const { start } = await setUp();
    expect((await start({ provider })).result.account).toMatchObject({ provider: "pinboard" });
  });

  it("takes the platform of the account that is reconnected", async () => {
    const { start, connectAlice } = await setUp();
    const { id } = await connectAlice();
    const { result } = await start({ provider: undefined, accountId: id });
    expect(result.status).toBe("authorization_required");
  });

  it("asks anew for what the platform refused, and keeps what it did not", async () => {
    const { ctx, start, submit, connectAlice } = await setUp();
    const { id } = await connectAlice();
    const fields = async (token: string) => {
      const page = await openConnection(guestCall(ctx), token);
      if (page.state !== "open") throw new Error(page.state);
      return Object.fromEntries(page.form.fields.map(({ name, isStored }) => [name, isStored]));
    };
    const early = await start({ accountId: id });
    expect(await fields(early.token)).toMatchObject({ appPassword: true });
    await queryOf(ctx.store).updateTable("accounts").set({ status: "reconnect_required" }).execute();
    const { token } = await start({ accountId: id });
    expect(await fields(token)).toMatchObject({ handle: false, appPassword: false });
    expect(await submit(token, { handle: "alice.example", appPassword: "" })).toMatchObject({
      state: "refused",
      fieldName: "appPassword",
    });
    expect(await submit(token, { ...ALICE, appPassword: "alice-password-2" })).toMatchObject({
      state: "connected",
    });
  });

  it("names the missing settings of a platform that is not configured", async () => {
    const refusalWith = async (platformSettings: Readonly<Record<string, string>>): Promise<AppError> => {
      const settings = { timezone: "UTC", maxLatenessMs: 1, uploadFolders: [], platformSettings };
      const { start } = await setUp({ platformList: [createCinema()], settings });
      return start({ provider: "cinema" }).then(
        () => expect.fail("It is not configured."),
        (error: AppError) => error,
      );
    };
    const nothing = await refusalWith({});
    expect(nothing.kind).toBe("unavailable");
    expect(nothing.message).toBe(
      "Cinema cannot be connected yet: POSTHORN_CINEMA_CLIENT_ID and POSTHORN_CINEMA_CLIENT_SECRET are not set. " +
        "A person first registers an app at https://console.cinema.example/apps with the redirect address http://localhost:4747/connect/callback. " +
        "The steps are on the page http://localhost:4747/connect/setup/cinema, which the person can open now. posthorn doctor cinema prints them, too. " +
        "Enter them with posthorn setup cinema. Or set them in the environment or in posthorn.env and start Posthorn again.",
    );
    const half = await refusalWith({
      POSTHORN_CINEMA_CLIENT_ID: "id",
      POSTHORN_CINEMA_REDIRECT_URL: "https://posts.example/back",
    });
    expect(half.message).toContain(": POSTHORN_CINEMA_CLIENT_SECRET is not set.");
    expect(half.message).toContain("redirect address https://posts.example/back.");
  });

  it("names the redirect address of the server that runs, whatever port this process would have", async () => {
    const settings = {
      timezone: "UTC",
      maxLatenessMs: 1,
      uploadFolders: [],
      publicUrl: null,
      port: 4911,
      platformSettings: { POSTHORN_CINEMA_CLIENT_ID: "id", POSTHORN_CINEMA_CLIENT_SECRET: "secret" },
    };
    let url = "http://localhost:50123";
    const { ctx, start } = await setUp({
      platformList: [createCinema()],
      settings,
      publicUrl: async () => url,
    });
    const told = async (): Promise<string> =>
      String((await start({ provider: "cinema" })).result.instructions);
    expect(await told()).toContain("The browser ends at http://localhost:4911/connect/callback.");
    await noteServerUrl(ctx, { host: "here", pid: 1 }, (url = "http://localhost:4799"));
    const plan = await told();
    expect(plan).not.toContain("4911");
    expect(plan).not.toContain("The browser ends at");
  });

  it("keeps owners and limited keys apart", async () => {
    const { ctx, start, connectAlice, caller } = await setUp();
    const account = await connectAlice();
    const { connectId } = await start();
    const stranger = callerOf({ ownerId: "other" });
    const limited = callerOf({ accountIds: [account.id] });
    await expect(start({ accountId: account.id }, stranger)).rejects.toMatchObject({ kind: "not_found" });
    await expect(checkConnection(callOf(ctx, stranger), { connectId })).rejects.toMatchObject({
      kind: "not_found",
    });
    await expect(disconnectChannel(callOf(ctx, stranger), { accountId: account.id })).rejects.toMatchObject({
      kind: "not_found",
    });
    await expect(start({}, limited)).rejects.toMatchObject({ kind: "forbidden" });
    await expect(checkConnection(callOf(ctx, limited), { connectId })).rejects.toMatchObject({
      kind: "not_found",
    });
    const own = await start({ accountId: account.id }, limited);
    expect((await checkConnection(callOf(ctx, limited), { connectId: own.connectId })).status).toBe(
      "pending",
    );
    await expect(start({ accountId: account.id }, callerOf({ accountIds: [] }))).rejects.toMatchObject({
      kind: "not_found",
    });
    expect((await listAccounts(callOf(ctx, callerOf({ accountIds: [] })))).accounts).toEqual([]);
    expect((await listAccounts(callOf(ctx, stranger))).accounts).toEqual([]);
    expect((await listAccounts(callOf(ctx, caller))).accounts).toHaveLength(1);
  });

  it("refuses to reconnect a channel as one of another platform", async () => {
    const { start, connectAlice } = await setUp();
    const account = await connectAlice();
    await expect(start({ provider: "pinboard", accountId: account.id })).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/^accountId: this channel is on photobox/),
    });
  });
});

describe("a link", () => {
  it("connects with the right secrets, wakes the publisher and is used up", async () => {
    const { ctx, caller, start, submit, wakes } = await setUp();
    const { token, connectId } = await start();
    expect(await checkConnection(callOf(ctx, caller), { connectId })).toEqual({
      status: "pending",
      account: null,
      accounts: [],
      error: null,
    });
    expect(await submit(token, ALICE)).toMatchObject({
      state: "connected",
      accountNames: ["alice.example on Photobox"],
      notice: null,
    });
    expect(wakes()).toBe(1);
    const checked = await checkConnection(callOf(ctx, caller), { connectId });
    expect(checked).toMatchObject({
      status: "connected",
      error: null,
      account: { handle: "alice.example", status: "connected" },
    });
    expect(await submit(token, ALICE)).toMatchObject({ state: "closed", reason: "used" });
    expect(await openConnection(guestCall(ctx), token)).toMatchObject({ state: "closed", reason: "used" });
  });

  it("tells a channel that is called otherwise with its handle", async () => {
    const { ctx, start, submit, connectAlice } = await setUp();
    const { id } = await connectAlice();
    const named = { name: "Fjord Bakery", is_renamed: 1 };
    await queryOf(ctx.store).updateTable("accounts").set(named).where("id", "=", id).execute();
    const { token } = await start({ accountId: id });
    expect(await submit(token, ALICE)).toMatchObject({
      accountNames: ["Fjord Bakery on Photobox (alice.example)"],
    });
  });

  it("says which field is wrong, stays open, and tells check_connection", async () => {
    const { ctx, caller, start, submit } = await setUp();
    const { token, connectId } = await start();
    const refused = await submit(token, { handle: "alice.example", appPassword: "nonsense" });
    expect(refused).toMatchObject({ state: "refused", fieldName: "appPassword", error: { kind: "invalid" } });
    expect(await checkConnection(callOf(ctx, caller), { connectId })).toMatchObject({
      status: "pending",
      error: expect.stringContaining("appPassword: "),
    });
    expect(await submit(token, ALICE)).toMatchObject({ state: "connected" });
    expect((await checkConnection(callOf(ctx, caller), { connectId })).error).toBeNull();
  });

  it.each([
    [{ handle: "a" }, "appPassword", "invalid"],
    [{ handle: " ", appPassword: "x" }, "handle", "invalid"],
    [{ handle: "a", appPassword: "x".repeat(5_000) }, "appPassword", "invalid"],
    [{ ...ALICE, extra: "1" }, null, "invalid"],
    [{ handle: "a", appPassword: "offline" }, null, "unavailable"],
    [{ handle: "a", appPassword: "busy" }, null, "rate_limited"],
    [{ handle: "a", appPassword: "wrong app" }, null, "unavailable"],
  ])("refuses %o", async (secrets: Record<string, string>, fieldName, kind) => {
    const { start, submit } = await setUp();
    const { token } = await start();
    expect(await submit(token, secrets)).toMatchObject({ state: "refused", fieldName, error: { kind } });
  });

  it("runs out after 15 minutes", async () => {
    const { ctx, caller, start, submit } = await setUp();
    const { token, connectId } = await start();
    await ctx.clock.advance(15 * MINUTE);
    expect(await openConnection(guestCall(ctx), token)).toMatchObject({ state: "closed", reason: "expired" });
    expect(await submit(token, ALICE)).toMatchObject({ state: "closed", reason: "expired" });
    expect(await checkConnection(callOf(ctx, caller), { connectId })).toMatchObject({
      status: "expired",
      account: null,
    });
  });

  it("closes after too many tries, and only tries that reach the platform count", async () => {
    const { ctx, caller, start, submit } = await setUp();
    const { token, connectId } = await start();
    for (let at = 0; at < 3 * MAX_ATTEMPTS; at++) await submit(token, { handle: "" });
    for (let at = 0; at < MAX_ATTEMPTS; at++)
      expect((await submit(token, { ...ALICE, appPassword: `guess-${at}` })).state).toBe("refused");
    expect(await submit(token, ALICE)).toMatchObject({ state: "closed", reason: "failed" });
    expect(await checkConnection(callOf(ctx, caller), { connectId })).toMatchObject({
      status: "failed",
      account: null,
    });
  });

  it("connects once when it is submitted several times at once", async () => {
    const { ctx, caller, box, start, submit } = await setUp();
    const { token } = await start();
    let open = (): void => {};
    box.gate = new Promise((resolve) => (open = resolve));
    const all = [
      submit(token, ALICE),
      submit(token, { ...ALICE, appPassword: "bob-password-1" }),
      submit(token, ALICE),
    ];
    while (box.inputs.length < 3) await new Promise((resolve) => setImmediate(resolve));
    open();
    const states = (await Promise.all(all)).map((done) => done.state).sort();
    expect(states).toEqual(["closed", "closed", "connected"]);
    expect((await listAccounts(callOf(ctx, caller))).accounts).toHaveLength(1);
  });

  it("stores nothing when the person closed the page meanwhile", async () => {
    const { ctx, caller, box, start } = await setUp();
    const { token } = await start();
    let open = (): void => {};
    box.gate = new Promise((resolve) => (open = resolve));
    const gone = new AbortController();
    const done = submitSecrets(guestCall(ctx, gone.signal), { token, secrets: ALICE });
    while (box.inputs.length < 1) await new Promise((resolve) => setImmediate(resolve));
    gone.abort();
    open();
    expect((await done).state).toBe("refused");
    expect((await listAccounts(callOf(ctx, caller))).accounts).toEqual([]);
    expect((await openConnection(guestCall(ctx), token)).state).toBe("open");
  });

  it("is unknown for any other token, whatever it looks like", async () => {
    const { ctx, start } = await setUp();
    await start();
    for (const token of ["", "x", "' OR 1=1 --", "\u0000", "a".repeat(10_000)]) {
      expect(await openConnection(guestCall(ctx), token)).toEqual({
        state: "closed",
        reason: "unknown",
        title: null,
      });
    }
  });

  it("is forgotten a day after it ended", async () => {
    const { ctx, caller, start } = await setUp();
    const { connectId } = await start();
    await ctx.clock.advance(25 * 60 * MINUTE);
    await start();
    await expect(checkConnection(callOf(ctx, caller), { connectId })).rejects.toMatchObject({
      kind: "not_found",
    });
  });
});

describe("reconnecting", () => {
  it("keeps id and identity, raises the version, and clears the reason", async () => {
    const { ctx, caller, connectAlice, start, submit } = await setUp();
    const account = await connectAlice();
    await queryOf(ctx.store)
      .updateTable("accounts")
      .set({ status: "reconnect_required", status_reason: "Gone." })
      .execute();
    const { token } = await start({ accountId: account.id });
    await submit(token, { handle: "alice.example", appPassword: "alice-password-2" });
    const [again] = (await listAccounts(callOf(ctx, caller))).accounts;
    expect(again).toMatchObject({
      id: account.id,
      status: "connected",
      statusReason: null,
      createdAt: account.createdAt,
    });
    const row = await queryOf(ctx.store)
      .selectFrom("accounts")
      .select("secrets_version")
      .executeTakeFirstOrThrow();
    expect(row.secrets_version).toBe(2);
  });

  it("finds the channel again without accountId, also after it was disconnected", async () => {
    const { ctx, caller, connectAlice, secretsOf } = await setUp();
    const account = await connectAlice();
    await disconnectChannel(callOf(ctx, caller), { accountId: account.id });
    expect(await secretsOf(account.id)).toEqual({});
    expect((await connectAlice()).id).toBe(account.id);
    expect((await listAccounts(callOf(ctx, caller))).accounts).toHaveLength(1);
  });

  it("lets the stored secret stand in for an empty one and never overwrites it", async () => {
    const { ctx, box, caller, start, submit, secretsOf } = await setUp();
    const { account } = await connectWithSecrets(callOf(ctx, caller), {
      provider: "photobox",
      secrets: { ...ALICE, hint: "first hint" },
    });
    const { token } = await start({ accountId: account.id });
    const opened = await openConnection(guestCall(ctx), token);
    expect(opened).toMatchObject({
      state: "open",
      form: {
        fields: [
          { value: "alice.example", isStored: false },
          { value: "", isStored: true },
          { value: "", isStored: true },
        ],
      },
    });
    expect((await submit(token, { handle: "alice.example", appPassword: "", hint: "" })).state).toBe(
      "connected",
    );
    expect(box.inputs.at(-1)?.secrets).toEqual({ ...ALICE, hint: "first hint" });
    expect(await secretsOf(account.id)).toMatchObject({
      appPassword: "alice-password-1",
      hint: "first hint",
    });
  });

  it("refuses another account of the platform and leaves the channel as it was", async () => {
    const { start, submit, connectAlice, secretsOf } = await setUp();
    const account = await connectAlice();
    const { token } = await start({ accountId: account.id });
    const refused = await submit(token, { handle: "bob.example", appPassword: "bob-password-1" });
    expect(refused).toMatchObject({
      state: "refused",
      error: { kind: "conflict", message: expect.stringContaining('"bob.example"') },
    });
    expect(await secretsOf(account.id)).toMatchObject({ appPassword: "alice-password-1" });
    expect((await submit(token, { handle: "alice.example", appPassword: "alice-password-2" })).state).toBe(
      "connected",
    );
  });

  it.each([{ instanceUrl: "https://evil.example" }, { handle: "mallory.example" }])(
    "does not send the stored secret elsewhere on the word of %o",
    async (elsewhere) => {
      const { ctx, box, caller, start, submit, connectAlice } = await setUp();
      const account = await connectAlice();
      const { token } = await start({ accountId: account.id, ...elsewhere });
      expect(await submit(token, { handle: "alice.example" })).toMatchObject({
        state: "refused",
        fieldName: "appPassword",
      });
      const byCli = { provider: "photobox", accountId: account.id, secrets: {}, ...elsewhere };
      await expect(connectWithSecrets(callOf(ctx, caller), byCli)).rejects.toMatchObject({ kind: "invalid" });
      expect(box.inputs).toHaveLength(1);
    },
  );

  it("takes the stored secret when the address given is the channel's own", async () => {
    const { start, submit, connectAlice } = await setUp();
    const account = await connectAlice();
    const { token } = await start({ accountId: account.id, instanceUrl: "photobox.example/" });
    expect((await submit(token, {})).state).toBe("connected");
  });

  it("goes back to the channel's own server", async () => {
    const { ctx, box, caller, start, submit } = await setUp();
    const args = { provider: "photobox", instanceUrl: "pds.example", secrets: ALICE };
    const { account } = await connectWithSecrets(callOf(ctx, caller), args);
    const { token } = await start({ accountId: account.id });
    expect(await openConnection(guestCall(ctx), token)).toMatchObject({
      form: { instanceUrl: "https://pds.example", reconnecting: "alice.example" },
    });
    expect((await submit(token, {})).state).toBe("connected");
    expect(box.inputs[1]).toMatchObject({
      instanceUrl: "https://pds.example",
      reconnecting: { id: account.id },
    });
  });

  it("asks for all secrets again where the stored ones cannot be opened", async () => {
    const { ctx, start, submit, connectAlice } = await setUp();
    const account = await connectAlice();
    await queryOf(ctx.store)
      .updateTable("accounts")
      .set({ secrets_enc: createCipher(randomBytes(32)).seal("{}", "elsewhere") })
      .execute();
    const { token } = await start({ accountId: account.id });
    expect(await submit(token, { appPassword: "" })).toMatchObject({
      state: "refused",
      fieldName: "appPassword",
    });
    expect((await submit(token, { appPassword: "alice-password-2" })).state).toBe("connected");
  });
});

describe("secrets", () => {
  it("are in no database file, answer or log line, and are bound to their row", async () => {
    const folder = await mkdtemp(join(tmpdir(), "posthorn-connect-"));
    const file = join(folder, "posthorn.db");
    const store = await openStore({ file });
    const { ctx, caller, start, submit, secretsOf } = await setUp({ store });
    const shown: unknown[] = [];
    const { token, connectId, result } = await start();
    const canaries = ["alice-password-1", "wrong-canary-password", "hint-canary", "access-did:alice-canary"];
    shown.push(await submit(token, { handle: "alice.example", appPassword: "wrong-canary-password" }));
    shown.push(await submit(token, { ...ALICE, hint: "hint-canary" }));
    shown.push(
      await checkConnection(callOf(ctx, caller), { connectId }),
      await listAccounts(callOf(ctx, caller)),
      ctx.log.text(),
    );
    const [account] = (await listAccounts(callOf(ctx, caller))).accounts;
    expect(await secretsOf(account?.id ?? "")).toMatchObject({
      appPassword: "alice-password-1",
      hint: "hint-canary",
    });

    rawOf(store).exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const bytes = (await readFile(file)).toString("latin1");
    for (const canary of [...canaries, token]) {
      expect(bytes).not.toContain(canary);
      expect(JSON.stringify(shown)).not.toContain(canary);
    }
    expect(JSON.stringify(result)).not.toContain("alice-password");

    await connectWithSecrets(callOf(ctx, caller), {
      provider: "photobox",
      secrets: { handle: "bob.example", appPassword: "bob-password-1" },
    });
    const [alice, bob] = await listAccountRows(store, caller.ownerId);
    expect(() => openSecrets(ctx, { ...bob!, secrets_enc: alice!.secrets_enc })).toThrow(/cannot be read/);
    expect(() => openSecrets(ctx, { ...alice!, owner_id: "other" })).toThrow(/cannot be read/);
    await store[Symbol.asyncDispose]();
  });

  it("go through connectWithSecrets with handle and server as arguments", async () => {
    const { ctx, box, caller } = await setUp();
    const { account, shownOnce } = await connectWithSecrets(callOf(ctx, caller), {
      provider: "photobox",
      handle: "alice.example",
      instanceUrl: "https://pds.example/",
      secrets: { appPassword: " alice-password-1\n", hint: "notice" },
    });
    expect(account).toMatchObject({ handle: "alice.example", queuedCount: 0 });
    expect(shownOnce).toBe("whsec_shown_once");
    expect(box.inputs[0]).toMatchObject({
      instanceUrl: "https://pds.example",
      secrets: { handle: "alice.example", appPassword: "alice-password-1" },
    });
  });

  it("lets a bug of ours surface as one and keeps the link open", async () => {
    const { ctx, start, submit } = await setUp();
    const { token } = await start();
    await expect(submit(token, { ...ALICE, appPassword: "bug" })).rejects.toThrow(TypeError);
    expect((await openConnection(guestCall(ctx), token)).state).toBe("open");
  });
});

describe("a channel on a server that gives ids of its own", () => {
  it("is another one than that of the same id elsewhere, and itself when it is connected again", async () => {
    const bot: SecretsWay = {
      kind: "secrets",
      name: "token",
      label: "Token",
      instructions: "Enter the token.",
      fields: [{ name: "token", label: "Token", help: "Yours.", isRequired: true, isSecret: true }],
      renewal: null,
      connect: async ({ instanceUrl, secrets }) => ({
        tokens: null,
        targets: [
          {
            ...targetOf({ platformAccountId: "1", name: "One" }),
            idServer: instanceUrl ?? "",
            settings: { instanceUrl },
            secrets,
          },
        ],
      }),
    };
    const publish = async () => ({ state: "live", platformPostId: "1", platformUrl: null }) as const;
    const outbound = createScriptedOutbound();
    const platform = scriptedPlatform({ publish, connect: [bot] });
    await using ctx = await createTestContext({ platformList: [platform], outbound, feed: {} as never });
    const connect = async (instanceUrl: string, accountId?: string) =>
      (
        await connectWithSecrets(callOf(ctx), {
          provider: "scripted",
          instanceUrl,
          secrets: { token: "a-token" },
          ...(accountId === undefined ? {} : { accountId }),
        })
      ).account;
    const here = await connect("https://one.example");
    const there = await connect("https://two.example");
    expect(there.id).not.toBe(here.id);
    expect([here.platformAccountId, there.platformAccountId]).toEqual(["1", "1"]);
    expect((await connect("https://one.example")).id).toBe(here.id);
    await expect(connect("https://two.example", here.id)).rejects.toMatchObject({ kind: "conflict" });
  });
});
