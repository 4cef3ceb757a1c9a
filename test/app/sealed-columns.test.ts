import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { openCalendarLink } from "../../src/reporting/feeds/calendar-link.ts";
import { resealAll, ownsDatabase } from "../../src/app/secret-key.ts";
import {
  appAad,
  openSecrets,
  pendingAad,
  platformAppAad,
  sealGrant,
  sealSecrets,
} from "../../src/channels/platform-io/secrets.ts";
import { readPublicPushKey } from "../../src/reporting/webhooks/push.ts";
import { openTarget, sealTarget } from "../../src/reporting/webhooks/send.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import { SEALED_COLUMNS } from "../../src/store/backup/sealed-columns.ts";
import { callOf, createTestContext, type TestContext } from "../support/context.ts";
import { addAccount, addPost } from "../support/publishing.ts";
import { queryOf, rawOf } from "../support/handles.ts";

/** Every sealed value of a database, by where it stands. */
function sealedValues(ctx: TestContext): string[] {
  const tables = rawOf(ctx.store)
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'search_%'")
    .all([]);
  return (tables as { name: string }[]).flatMap(({ name }) =>
    (
      rawOf(ctx.store)
        .prepare(`SELECT ${textsOf(ctx, name)} FROM ${name}`)
        .all([]) as Record<string, unknown>[]
    ).flatMap((row) =>
      Object.entries(row)
        .filter(([, value]) => typeof value === "string" && /^v1\.[\w-]{38,}$/.test(value))
        .map(([column]) => `${name}.${column}`),
    ),
  );
}

/**
 * Numbers are no sealed values, and node:sqlite does not hand out those that are larger than JavaScript has.
 */
function textsOf(ctx: TestContext, table: string): string {
  const columns = rawOf(ctx.store)
    .prepare(`SELECT name FROM pragma_table_info(?) WHERE type <> 'INTEGER'`)
    .all([table]) as { name: string }[];
  return columns.map(({ name }) => `"${name}"`).join(", ") || "NULL";
}

/** A grant, an app that we registered, and a person who is on the way back. */
async function fillConsents(ctx: TestContext): Promise<void> {
  const grant = { id: "grt_1", owner_id: "default", provider: "scripted", way: "oauth", instance_url: null };
  const app = {
    provider: "scripted",
    instance_url: "https://one.example",
    redirect_url: "https://us.example",
  };
  const insert = (table: string, row: Record<string, string | number | null>): void => {
    const names = Object.keys(row);
    const places = names.map(() => "?").join(", ");
    rawOf(ctx.store)
      .prepare(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${places})`)
      .run(Object.values(row));
  };
  insert("grants", {
    ...grant,
    redirect_url: "",
    secrets_enc: sealGrant(ctx, grant, { accessToken: "secret" }),
    secrets_version: 1,
    renewed_at: 0,
    created_at: 0,
    updated_at: 0,
  });
  insert("apps", { ...app, app_enc: ctx.cipher.seal("{}", appAad(app)), created_at: 0 });
  insert("platform_apps", {
    provider: "scripted",
    apps_enc: ctx.cipher.seal("{}", platformAppAad({ provider: "scripted" })),
    updated_at: 0,
    updated_by: "local",
  });
  const link = { id: "con_1", owner_id: "default" };
  insert("connections", {
    ...link,
    provider: "scripted",
    token_hash: "hash",
    status: "pending",
    attempts: 0,
    created_at: 0,
    expires_at: 0,
    pending_enc: ctx.cipher.seal("{}", pendingAad(link)),
  });
}

async function fill(ctx: TestContext, posts: number): Promise<void> {
  const account = await addAccount(ctx);
  await queryOf(ctx.store)
    .updateTable("accounts")
    .set({ secrets_enc: sealSecrets(ctx, account, { token: "secret" }) })
    .execute();
  const target = sealTarget(
    ctx,
    { owner_id: "default", id: "whk_1" },
    { url: "https://hooks.example/", secret: "whsec_x" },
  );
  await queryOf(ctx.store)
    .insertInto("webhooks")
    .values({
      id: "whk_1",
      owner_id: "default",
      address: "https://hooks.example/",
      secrets_enc: target,
      events: "[]",
      status: "active",
      lease_until: 0,
      created_at: 0,
      updated_at: 0,
    })
    .execute();
  for (let n = 0; n < posts; n++) {
    const post = await addPost(ctx, account);
    const handle = ctx.cipher.seal("{}", `${post.id}|effects|1|upload`);
    await queryOf(ctx.store)
      .insertInto("effects")
      .values({
        post_id: post.id,
        run: 1,
        step: "upload",
        fence: 1,
        effect_key: "key",
        request_hash: "",
        state: "intent",
        handle_enc: handle,
        asked: 0,
        started_at: 0,
      })
      .execute();
  }
  const result = ctx.cipher.seal("{}", "default|hash|idempotency");
  await queryOf(ctx.store)
    .insertInto("idempotency")
    .values({
      owner_id: "default",
      key_hash: "hash",
      tool: "t",
      fingerprint: "f",
      worker_id: null,
      result,
      created_at: 0,
      expires_at: 9e15,
    })
    .execute();
  await fillConsents(ctx);
  await openCalendarLink(callOf(ctx), { isNew: false });
  await ownsDatabase(ctx.store, ctx.cipher);
  await readPublicPushKey(ctx);
}

describe("the sealed columns", () => {
  it("are all that a database seals, and all go over to the new key", async () => {
    await using ctx = await createTestContext();
    await fill(ctx, 1_001);
    const places = sealedValues(ctx);
    const link = await openCalendarLink(callOf(ctx), { isNew: false });
    const pushKey = await readPublicPushKey(ctx);
    expect([...new Set(places)].sort()).toEqual(
      Object.entries(SEALED_COLUMNS)
        .map(([table, { column }]) => `${table}.${column}`)
        .sort(),
    );

    const fresh = createCipher(randomBytes(32));
    const counts = await ctx.store.write((tx) => resealAll(tx, { old: ctx.cipher, fresh }));
    expect(counts).toEqual({ values: places.length, unreadable: 0 });
    const after = { ...ctx, cipher: fresh };
    expect(await ownsDatabase(ctx.store, fresh)).toBe(true);
    expect(await ownsDatabase(ctx.store, ctx.cipher)).toBe(false);
    const account = await queryOf(ctx.store).selectFrom("accounts").selectAll().executeTakeFirstOrThrow();
    expect(openSecrets(after, account)).toEqual({ token: "secret" });
    expect(
      openTarget(
        after,
        await queryOf(ctx.store).selectFrom("webhooks").selectAll().executeTakeFirstOrThrow(),
      ),
    ).toMatchObject({
      secret: "whsec_x",
    });
    expect(await openCalendarLink(callOf(after), { isNew: false })).toEqual(link);
    // Every browser that is subscribed is bound to it.
    expect(await readPublicPushKey(after)).toBe(pushKey);
    // Every one of them: the next change of keys can read what this one wrote.
    const again = await ctx.store.write((tx) =>
      resealAll(tx, { old: fresh, fresh: createCipher(randomBytes(32)) }),
    );
    expect(again).toEqual(counts);
  });

  it("leave what nobody can read as it is, and count it", async () => {
    await using ctx = await createTestContext();
    await fill(ctx, 1);
    await queryOf(ctx.store).updateTable("accounts").set({ secrets_enc: "v1.broken" }).execute();
    const counts = await ctx.store.write((tx) =>
      resealAll(tx, { old: ctx.cipher, fresh: createCipher(randomBytes(32)) }),
    );
    expect(counts).toMatchObject({ unreadable: 1 });
  });
});
