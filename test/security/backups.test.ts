import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { localCaller, authenticate } from "../../src/access/api-keys.ts";
import { readSetup } from "../../src/app/setup.ts";
import { startSession } from "../../src/app/start-session.ts";
import type { Session } from "../../src/cli/host.ts";
import { openConnection } from "../../src/channels/connecting/connect-page.ts";
import { guestCall } from "../../src/context.ts";
import { createPlatformIo } from "../../src/channels/connecting/account-io.ts";
import { openSecrets, sealSecrets } from "../../src/channels/platform-io/secrets.ts";
import { makeEarlyDatabase } from "../support/early-database.ts";
import type { SqliteDatabase } from "../../src/store/local/driver.ts";
import { editBackup, forgeBackup } from "../support/backup-files.ts";
import { runCli, type CliRun } from "../support/cli.ts";
import { queryOf } from "../support/handles.ts";
import { addAccount } from "../support/publishing.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const HOME = JSON.stringify({ instanceUrl: null, pdsUrl: "https://home.example" });
const THEIRS = JSON.stringify({
  instanceUrl: "https://attacker.example",
  pdsUrl: "https://attacker.example",
});
const SECRETS = {
  appPassword: "abcd-efgh-ijkl-mnop",
  accessJwt: "canary-token",
  refreshJwt: "canary-refresh",
};
const PLANTED = { id: "0".repeat(26), secret: "ab".repeat(32) };

let folder: ReturnType<typeof temporaryFolder>;
let backup: string;

async function open(): Promise<Session> {
  const env = { POSTHORN_LOG_LEVEL: "silent", ...folder.env };
  return startSession(await readSetup(env), { host: "test", pid: process.pid }, { isRegistered: false });
}

beforeEach(async () => {
  folder = temporaryFolder();
  backup = join(folder.path, "backup.tar");
  await using session = await open();
  const account = await addAccount(session.ctx, {
    id: "acc_bluesky",
    provider: "bluesky",
    platform_account_id: "did:plc:me",
    settings: HOME,
  });
  await queryOf(session.ctx.store)
    .updateTable("accounts")
    .set({ secrets_enc: sealSecrets(session.ctx, account, SECRETS) })
    .where("id", "=", account.id)
    .execute();
  expect(await runCli(["backup", backup], folder)).toMatchObject({ status: 0 });
});
afterEach(() => folder[Symbol.dispose]());

/** What whoever can write a backup puts into its database. */
const ATTACKS: Readonly<Record<string, (database: SqliteDatabase) => void>> = {
  "an API key of theirs": (database) =>
    void database
      .prepare(
        `INSERT INTO api_keys (id, owner_id, name, secret_hash, permissions, created_at)
         VALUES (?, 'default', 'x', ?, '["read","publish","accounts","files","admin"]', 1)`,
      )
      .run([`key_${PLANTED.id}`, createHash("sha256").update(PLANTED.secret).digest("hex")]),
  "another server for a channel": (database) =>
    void database.prepare("UPDATE accounts SET settings = ? WHERE id = 'acc_bluesky'").run([THEIRS]),
  "a trigger": (database) =>
    database.exec(
      "CREATE TRIGGER evil AFTER INSERT ON posts BEGIN UPDATE posts SET caption = 'theirs' WHERE id = NEW.id; END",
    ),
};

function restore(...more: string[]): Promise<CliRun> {
  return runCli(["restore", backup, "--force", ...more], folder);
}

function listing(): string[] {
  return readdirSync(folder.path, { recursive: true, encoding: "utf8" }).sort();
}

describe("a backup whose checksums fit", () => {
  it.each(Object.entries(ATTACKS))("is refused with %s in it", async (_what, database) => {
    const before = listing();
    await forgeBackup(backup, { database });
    const run = await restore();
    expect(run).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringMatching(
        /its signature does not fit .*secret\.key, so it was changed .*--unsigned/,
      ),
    });
    await forgeBackup(backup, { changes: { "checksums.hmac": null } });
    expect((await restore()).stderr).toMatch(/it is not signed.* API keys .* tokens .*--unsigned/);
    expect(listing()).toEqual(before);
  });

  it("is taken as it was made", async () => {
    const run = await restore();
    expect(run.status).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({ isSigned: true });
    expect(run.stderr).not.toContain("vouch");
    await using session = await open();
    const row = await queryOf(session.ctx.store)
      .selectFrom("accounts")
      .selectAll()
      .where("id", "=", "acc_bluesky")
      .executeTakeFirstOrThrow();
    expect(openSecrets(session.ctx, row)).toEqual(SECRETS);
  });

  it("is refused with a manifest, or a file, that was not in it", async () => {
    await forgeBackup(backup, { changes: { [`files/${"a".repeat(16)}/${"b".repeat(26)}.jpg`]: "x" } });
    expect((await restore()).stderr).toContain("its signature does not fit");
    await editBackup(backup, { "checksums.hmac": "" });
    expect((await restore()).stderr).toContain("its signature does not fit");
  });

  it("wants the key that vouches for it on a new machine, before it is told to be unsigned", async () => {
    const env = { POSTHORN_DATA_DIR: join(folder.path, "other") };
    for (const more of [[], ["--unsigned"]]) {
      const run = await runCli(["restore", backup, ...more], { env });
      expect(run.stderr).toMatch(
        /The secret key \w{8} vouches for this backup .*secret\.key is not there\. Put/,
      );
    }
    expect(existsSync(join(env.POSTHORN_DATA_DIR, "posthorn.db"))).toBe(false);
    copyFileSync(
      join(folder.env["POSTHORN_DATA_DIR"] ?? "", "secret.key"),
      join(env.POSTHORN_DATA_DIR, "secret.key"),
    );
    expect(await runCli(["restore", backup], { env })).toMatchObject({ status: 0 });
  });

  it("is refused as another key's after the secret key was replaced", async () => {
    expect(await runCli(["keys", "rotate-secret"], folder)).toMatchObject({ status: 0 });
    expect((await restore()).stderr).toMatch(/secret\.key is another \(\w{8}\)/);
  });
});

describe("--unsigned", () => {
  it("takes what nobody vouches for, and says what that risks", async () => {
    await forgeBackup(backup, {
      database: ATTACKS["an API key of theirs"]!,
      changes: { "checksums.hmac": null },
    });
    const run = await restore("--unsigned");
    expect(run).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/does not vouch for this backup\. .*API keys .*tokens .*keys list/),
    });
    expect(JSON.parse(run.stdout)).toMatchObject({ isSigned: false });
    const key = `phk_${PLANTED.id}_${PLANTED.secret}`;
    const find = async (): Promise<unknown> => {
      await using session = await open();
      return authenticate(session.ctx, key, null);
    };
    // The database that was there does not know the key. On another machine nothing keeps it out.
    expect(await find()).toBeNull();
    rmSync(join(folder.env["POSTHORN_DATA_DIR"] ?? "", "posthorn.db"));
    expect(await restore("--unsigned")).toMatchObject({ status: 0 });
    expect(await find()).toMatchObject({ keyId: `key_${PLANTED.id}` });
  });

  it("sends no token to a server that was put in the place of the channel's", async () => {
    await forgeBackup(backup, {
      database: (database) => {
        ATTACKS["another server for a channel"]!(database);
        // Nor does it help to pretend that nothing was ever bound.
        database.exec("DELETE FROM meta WHERE key = 'secrets_bound'");
      },
    });
    expect(await restore("--unsigned")).toMatchObject({ status: 0 });
    await using session = await open();
    const { ctx } = session;
    const row = await queryOf(ctx.store)
      .selectFrom("accounts")
      .selectAll()
      .where("id", "=", "acc_bluesky")
      .executeTakeFirstOrThrow();
    expect(row.settings).toBe(THEIRS);
    const io = await createPlatformIo(ctx, row, new AbortController().signal);
    await expect(io.authorized(async () => expect.unreachable())).rejects.toThrow(/for another server/);
    // Nor does the page on which it is connected again.
    const again = { provider: "bluesky", accountId: row.id };
    const link = await session.toolbox.call("connect_channel", again, localCaller());
    const token = String(link.result["url"]).split("/").at(-1) ?? "";
    expect(await openConnection(guestCall(ctx), token)).toMatchObject({ form: { instanceUrl: null } });
    const { result } = await session.toolbox.call("list_accounts", {}, localCaller());
    expect(result["accounts"]).toContainEqual(
      expect.objectContaining({ id: row.id, status: "reconnect_required", statusReason: expect.any(String) }),
    );
  });
});

describe("a backup of an older version", () => {
  it("is restored, its tokens bound", async () => {
    const data = folder.env["POSTHORN_DATA_DIR"] ?? "";
    const old = join(folder.path, "old.db");
    {
      await using session = await open();
      makeEarlyDatabase(old, (database) => {
        const insert = database.prepare("INSERT INTO meta (key, value) VALUES (?, ?)");
        insert.run(["secret_key_check", session.ctx.cipher.seal("secret_key_check", "secret_key_check")]);
        // As accounts' secrets were sealed before they were bound to a server.
        const sealed = session.ctx.cipher.seal(JSON.stringify(SECRETS), "default|acc_old|secrets");
        database
          .prepare(
            `INSERT INTO accounts (id, owner_id, provider, name, status, scopes, settings, secrets_enc, secrets_version, next_allowed_at, created_at, updated_at)
           VALUES ('acc_old', 'default', 'bluesky', 'Old', 'connected', '[]', ?, ?, 1, 0, 1, 1)`,
          )
          .run([HOME, sealed]);
      });
    }
    await forgeBackup(backup, { changes: { "checksums.hmac": null, "posthorn.db": readFileSync(old) } });
    rmSync(join(data, "posthorn.db"));
    expect(await restore("--unsigned")).toMatchObject({ status: 0 });
    for (const rotate of [false, true]) {
      if (rotate) expect(await runCli(["keys", "rotate-secret"], folder)).toMatchObject({ status: 0 });
      await using session = await open();
      const row = await queryOf(session.ctx.store)
        .selectFrom("accounts")
        .selectAll()
        .where("id", "=", "acc_old")
        .executeTakeFirstOrThrow();
      expect(openSecrets(session.ctx, row)).toEqual(SECRETS);
      expect(() => openSecrets(session.ctx, { ...row, settings: THEIRS })).toThrow(/another server/);
      expect(() => openSecrets(session.ctx, { ...row, provider: "webhook" })).toThrow(/another server/);
    }
  });
});
