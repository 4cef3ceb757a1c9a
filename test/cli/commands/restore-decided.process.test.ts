import { execFile } from "node:child_process";
import { hash, randomBytes } from "node:crypto";
import { copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Insertable } from "kysely";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { authenticate, createKey, localCaller, revokeKey } from "../../../src/access/api-keys.ts";
import { registerClient } from "../../../src/access/oauth/clients.ts";
import { decideConsent } from "../../../src/access/oauth/consents.ts";
import { revokeGrant } from "../../../src/access/oauth/grants.ts";
import { createOAuthServer } from "../../../src/access/oauth/oauth-server.ts";
import { beginRequest } from "../../../src/access/oauth/requests.ts";
import { findTokenCaller, issueTokens, type TokenAnswer } from "../../../src/access/oauth/tokens.ts";
import { findVisitor, makeSignIn, signInByToken, signOut } from "../../../src/access/page-sessions.ts";
import { readSetup } from "../../../src/app/setup.ts";
import { plainCall } from "../../../src/context.ts";
import { DAY, toIso } from "../../../src/domain/time.ts";
import { openCalendarLink, readCalendarFeed } from "../../../src/reporting/feeds/calendar-link.ts";
import type { RestoreResult } from "../../../src/domain/health/backups.ts";
import { storePlatformApp, deletePlatformApp } from "../../../src/store/queries/platform-apps.ts";
import type { PostRow, Tables } from "../../../src/store/schema/tables.ts";
import { insertWebhook, type WebhookRow } from "../../../src/store/queries/webhooks.ts";
import { startSession } from "../../../src/app/start-session.ts";
import { type CliRun, runCli } from "../../support/cli.ts";
import { queryOf, rawOf } from "../../support/handles.ts";
import { addAccount, readPost } from "../../support/publishing.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

type Env = Readonly<Record<string, string>>;
type Session = Awaited<ReturnType<typeof open>>;

const CALLBACK = "https://agent.example.com/callback";
const PAGE = { fixedKey: null, userAgent: "Test", former: null };
const SENT_KEY = "idem-approve-0001";
const SLOT = Date.now() + 9 * DAY;
const CHANNELS = ["gone", "paused", "kept"] as const;
const DRAFTS = ["approved", "sent", "discarded", "returned", "stopped", "series", "open", "moved"] as const;

async function open(env: Env) {
  const setup = await readSetup({ POSTHORN_LOG_LEVEL: "silent", ...env });
  return startSession(setup, { host: "test", pid: process.pid }, { isRegistered: false });
}

async function call(session: Session, tool: string, args: object, options: object = {}): Promise<any> {
  return (await session.toolbox.call(tool, args, localCaller(), options)).result;
}

const callFrom = ({ ctx }: Session) => plainCall(ctx, localCaller(), new AbortController().signal);
const later = (days: number): string => toIso(Date.now() + days * DAY);

function serverOf({ ctx }: Session) {
  return createOAuthServer(ctx, { publicUrl: "https://posts.example.com", fixedKey: null });
}

/** A program that a person has given access. */
async function allow(session: Session): Promise<{ client: string; tokens: TokenAnswer }> {
  const server = serverOf(session);
  const registered = { redirect_uris: [CALLBACK], token_endpoint_auth_method: "none" };
  const { client_id: client } = await registerClient(server, registered);
  const verifier = randomBytes(32).toString("base64url");
  const asked = new URLSearchParams({
    response_type: "code",
    client_id: client,
    redirect_uri: CALLBACK,
    code_challenge: hash("sha256", verifier, "base64url"),
    code_challenge_method: "S256",
  });
  const page = new URL(await beginRequest(server, asked, "https://posts.example.com/app/consent"));
  const decision = { decision: "allow", role: "writer" } as const;
  const id = page.searchParams.get("request") ?? "";
  const { redirectUrl } = await decideConsent(server, callFrom(session), { id, decision });
  const given = new URLSearchParams({
    grant_type: "authorization_code",
    code: new URL(redirectUrl).searchParams.get("code") ?? "",
    redirect_uri: CALLBACK,
    code_verifier: verifier,
  });
  return { client, tokens: await issueTokens(server, given, client) };
}

function refresh(session: Session, client: string, { refresh_token }: TokenAnswer): Promise<TokenAnswer> {
  const given = new URLSearchParams({ grant_type: "refresh_token", refresh_token });
  return issueTokens(serverOf(session), given, client);
}

function webhook(id: string): WebhookRow {
  const events = JSON.stringify(["post.scheduled", "post.published", "post.cancelled", "post.failed"]);
  return {
    id,
    owner_id: "default",
    address: "https://hooks.example.com",
    format: "standard",
    last_told: "{}",
    secrets_enc: "v1.none",
    events,
    account_ids: null,
    status: "active",
    status_reason: null,
    failing_since: null,
    lease_worker: null,
    lease_until: 0,
    created_at: 1,
    updated_at: 1,
  };
}

function grant(id: string): Tables["grants"] {
  return {
    id,
    owner_id: "default",
    provider: "feed",
    way: "oauth",
    instance_url: null,
    redirect_url: "",
    secrets_enc: "v1.none",
    secrets_version: 1,
    scopes: null,
    expires_at: null,
    renewable_until: null,
    renewed_at: 1,
    renew_at: null,
    renewing_worker: null,
    renewing_since: null,
    created_at: 1,
    updated_at: 1,
  };
}

/** All that can be decided about, undecided. */
async function fill(session: Session) {
  const { ctx } = session;
  await addAccount(ctx, { id: "acc_sky", name: "sky", provider: "bluesky" });
  for (const name of CHANNELS) {
    await queryOf(ctx.store)
      .insertInto("grants")
      .values(grant(`grt_${name}`))
      .execute();
    await addAccount(ctx, { id: `acc_${name}`, name, provider: "feed", grant_id: `grt_${name}` });
  }
  const drafts: Record<string, string> = {};
  for (const name of DRAFTS) {
    const repeat = name === "stopped" || name === "series" ? { unit: "day", time: "09:30" } : undefined;
    const time = repeat === undefined ? { scheduledAt: later(3) } : { repeat };
    const content = {
      caption: name,
      targets: [{ accountId: "kept" }],
      submit: name !== "open",
      labels: [name],
    };
    drafts[name] = (await call(session, "save_draft", { ...content, ...time })).draft.id;
  }
  await decide(session, drafts["stopped"], "approve", {});
  await decide(session, drafts["series"], "approve", {});
  const posts: Record<string, string> = {};
  for (const [at, name] of ["cancelled", "pulled", "flying", "untouched"].entries()) {
    const accountId = name === "flying" ? "sky" : "kept";
    const post = { accountId, caption: `post ${name}`, scheduledAt: later(5 + at) };
    posts[name] = (await call(session, "schedule_post", post)).post.id;
  }
  await setPosts(session, [posts["untouched"]], { slot_at: SLOT });
  const key = (name: string) => createKey(callFrom(session), { name });
  const [stolen, good] = [await key("stolen"), await key("good")];
  const [ended, going] = [await allow(session), await allow(session)];
  const page = await signInByToken(ctx, await makeSignIn(ctx), PAGE);
  const openSignIn = await makeSignIn(ctx);
  await ctx.store.write(async (tx) => {
    for (const id of ["whk_gone", "whk_kept"]) await insertWebhook(tx, webhook(id));
    for (const provider of ["linkedin", "youtube"])
      await storePlatformApp(tx, { provider, apps_enc: "v1.app", updated_at: 1, updated_by: "local" });
  });
  await insertAll(session, { connections: connection, oauth_clients: client });
  const calendar = await openCalendarLink(callFrom(session), { isNew: false });
  return { drafts, posts, stolen, good, ended, going, page, openSignIn, calendar };
}
type World = Awaited<ReturnType<typeof fill>>;

function decide(session: Session, id: string | undefined, decision: string, options: object): Promise<any> {
  const revision = { revision: 1 };
  return call(session, "decide_draft", { id, decision, ...(decision === "stop" ? {} : revision) }, options);
}

/** What a person and the publisher did after the backup. */
async function decideAll(session: Session, { drafts, posts, stolen, ended, going, page }: World) {
  const { ctx } = session;
  await revokeKey(callFrom(session), { key: stolen.apiKey.id });
  const program = await findTokenCaller(serverOf(session), ended.tokens.access_token);
  await revokeGrant(callFrom(session), program?.keyId ?? "");
  const tokens = await refresh(session, going.client, going.tokens);
  await signOut(ctx, page?.token ?? "");
  await call(session, "disconnect_channel", { accountId: "gone" });
  await call(session, "update_account", { accountId: "paused", paused: true });
  await addAccount(ctx, { id: "acc_new", name: "new", provider: "feed" });
  const moved = { id: drafts["moved"], revision: 1, targets: [{ accountId: "new" }] };
  await call(session, "save_draft", moved);
  await call(session, "decide_draft", { id: drafts["moved"], revision: 2, decision: "approve" });
  await decide(session, drafts["approved"], "approve", {});
  await decide(session, drafts["sent"], "approve", { idempotencyKey: SENT_KEY });
  await decide(session, drafts["discarded"], "discard", {});
  await decide(session, drafts["returned"], "changes", {});
  await decide(session, drafts["stopped"], "stop", {});
  await call(session, "cancel_post", { id: posts["cancelled"] });
  const [about] = await postsOf(session, drafts["sent"]);
  const live = {
    status: "published",
    next_at: null,
    published_at: Date.now(),
    platform_post_id: "42",
  } as const;
  await setPosts(session, [posts["pulled"], about?.id], { ...live, attempts: 1 });
  const flying = {
    status: "publishing",
    lease_worker: "wrk_dead",
    fence: 1,
    due_at: 1,
    scheduled_at: 1,
  } as const;
  await setPosts(session, [posts["flying"]], flying);
  await queryOf(ctx.store)
    .insertInto("effects")
    .values(intent(posts["flying"] ?? ""))
    .execute();
  await insertAll(session, besides(about?.id ?? ""));
  await queryOf(ctx.store).deleteFrom("oauth_clients").where("id", "=", client.id).execute();
  // Another post took the slot of one that was moved.
  const [approved] = await postsOf(session, drafts["approved"]);
  await setPosts(session, [posts["untouched"]], { slot_at: null });
  await setPosts(session, [approved?.id], { slot_at: SLOT });
  await call(session, "delete_webhook", { id: "whk_gone" });
  await ctx.store.write((tx) => deletePlatformApp(tx, "linkedin"));
  const calendar = await openCalendarLink(callFrom(session), { isNew: true });
  return { tokens, calendar };
}

const connection: Insertable<Tables["connections"]> = {
  id: "con_1",
  owner_id: "default",
  provider: "bluesky",
  token_hash: "con",
  status: "pending",
  attempts: 0,
  created_at: 1,
  expires_at: Number.MAX_SAFE_INTEGER,
};

const client = {
  id: "client_gone",
  name: "Gone",
  secret_hash: null,
  uri: null,
  redirect_uris: "[]",
  created_at: 1,
  used_at: Date.now(),
};

/** What the publisher leaves of a post of the built-in feed, and a file that came since. */
function besides(id: string): Rows {
  const of = { owner_id: "default", post_id: id, number: 1, run: 1, worker_id: "wrk_dead", started_at: 1 };
  const file = { owner_id: "default", storage_key: "a/b.jpg", name: "b.jpg", mime_type: "image/jpeg" };
  return {
    attempts: { ...of, id: "att_1", outcome: "published" },
    results: { account_id: "acc_kept", at: 1, post_id: id, provider: "feed", media: "", step: 0 },
    feed_items: { account_id: "acc_kept", id, item: "{}", is_public: 1, published_at: 1 },
    effects: intent(id),
    files: {
      ...file,
      id: "file_1",
      type: "image",
      size_bytes: 1,
      is_animated: 0,
      status: "ready",
      created_at: 1,
      updated_at: 1,
    },
  };
}

type Rows = { readonly [T in keyof Tables]?: Insertable<Tables[T]> };

async function insertAll(session: Session, rows: Rows): Promise<void> {
  for (const [table, row] of Object.entries(rows))
    await queryOf(session.ctx.store)
      .insertInto(table as keyof Tables)
      .values(row)
      .execute();
}

function countIn(session: Session, table: keyof Tables, where: string): number {
  return rawOf(session.ctx.store).prepare(`SELECT * FROM ${table} WHERE ${where}`).all([]).length;
}

function intent(postId: string): Insertable<Tables["effects"]> {
  const step = { post_id: postId, run: 1, step: "send", fence: 1, effect_key: "", request_hash: "" };
  return { ...step, state: "intent", handle_enc: "v1.none", asked: 0, sent: 1, started_at: 1 };
}

function setPosts(session: Session, ids: readonly (string | undefined)[], set: Partial<PostRow>) {
  const posts = queryOf(session.ctx.store).updateTable("posts").set(set);
  return posts.where("id", "in", ids.map(String)).execute();
}

async function postsOf(session: Session, draftId: string | undefined) {
  return queryOf(session.ctx.store)
    .selectFrom("posts")
    .innerJoin("post_plans", "post_plans.post_id", "posts.id")
    .select(["posts.id", "posts.status", "posts.slot_at"])
    .where("post_plans.draft_id", "=", draftId ?? "")
    .execute();
}

const statesOf = (session: Session): Promise<Record<string, string>> =>
  queryOf(session.ctx.store)
    .selectFrom("drafts")
    .select(["caption", "state"])
    .execute()
    .then((rows) => Object.fromEntries(rows.map(({ caption, state }) => [caption, state])));

const namesIn = async (session: Session, table: "webhooks" | "platform_apps" | "grants"): Promise<string[]> =>
  (rawOf(session.ctx.store).prepare(`SELECT * FROM ${table}`).all([]) as any[])
    .map((row) => row.id ?? row.provider)
    .sort();

function tokenOf({ url }: { readonly url: string }): string {
  return /calendar\/(.*)\.ics$/.exec(url)?.[1] ?? "";
}

const seesCalendar = (session: Session, link: { readonly url: string }): Promise<boolean> =>
  readCalendarFeed(plainCall(session.ctx, localCaller(), new AbortController().signal), tokenOf(link)).then(
    () => true,
    () => false,
  );

const folder = temporaryFolder();
const data = folder.env["POSTHORN_DATA_DIR"] ?? "";
const backup = join(folder.path, "backup.tar");
let world: World;
let since: Awaited<ReturnType<typeof decideAll>>;

/** The folder as it was before the restore, again. */
function anotherFolder(name: string): Env {
  const env = { POSTHORN_DATA_DIR: join(folder.path, name) };
  cpSync(data, env.POSTHORN_DATA_DIR, { recursive: true });
  return env;
}

/** The command as it is installed. */
async function runBuilt(args: readonly string[], env: Env): Promise<CliRun> {
  const options = { env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env } };
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [inject("program"), ...args],
    options,
  );
  return { status: 0, stdout, stderr };
}

const runInside = (args: readonly string[], env: Env): Promise<CliRun> => runCli(args, { env });

async function restoreInto(
  env: Env,
  restore: typeof runBuilt = runInside,
): Promise<{ run: CliRun; report: RestoreResult; session: Session }> {
  const run = await restore(["restore", backup, "--force"], env);
  expect(run).toMatchObject({ status: 0 });
  return { run, report: JSON.parse(run.stdout), session: await open(env) };
}

beforeAll(async () => {
  {
    await using session = await open(folder.env);
    world = await fill(session);
  }
  expect(await runCli(["backup", backup], folder)).toMatchObject({ status: 0 });
  await using session = await open(folder.env);
  since = await decideAll(session, world);
});
afterAll(() => folder[Symbol.dispose]());

describe("a restore beside the database that was there", () => {
  let session: Session;
  let report: RestoreResult;
  let run: CliRun;
  beforeAll(async () => {
    ({ session, report, run } = await restoreInto(anotherFolder("known"), runBuilt));
  });
  afterAll(() => session[Symbol.asyncDispose]());

  it("says what it kept", () => {
    expect(report).toMatchObject({
      held: 1,
      decided: {
        unknown: null,
        isSealed: false,
        counts: { keys: 2, channels: 2, webhooks: 1, apps: 1, drafts: 6 },
        goodKeys: null,
        lostPosts: [{ id: expect.any(String), draftId: world.drafts["moved"] }],
      },
    });
    expect(run.stderr).toMatch(
      /kept: 2 keys and programs' accesses that were ended, 2 channels that were .*, 1 webhook .*, 1 platform's app .*, 6 drafts/,
    );
    expect(run.stderr).not.toContain("These keys are good");
    expect(run.stderr).toMatch(
      new RegExp(`channels that the backup does not have.*of ${world.drafts["moved"]}`),
    );
  });

  it("leaves a key revoked, and others good", async () => {
    expect(await authenticate(session.ctx, world.stolen.key, null)).toBeNull();
    expect(await authenticate(session.ctx, world.good.key, null)).toMatchObject({
      keyId: world.good.apiKey.id,
    });
  });

  it("leaves a program's access ended, and that of another as it went on", async () => {
    const { ended, going } = world;
    await expect(refresh(session, ended.client, ended.tokens)).rejects.toThrow();
    expect(await findTokenCaller(serverOf(session), ended.tokens.access_token)).toBeNull();
    expect(await findTokenCaller(serverOf(session), since.tokens.access_token)).not.toBeNull();
    expect(await refresh(session, going.client, since.tokens)).toMatchObject({ token_type: "Bearer" });
  });

  it("ends sessions of the page, and addresses that sign in", async () => {
    expect(await findVisitor(session.ctx, world.page?.token ?? "", null)).toBeNull();
    expect(await signInByToken(session.ctx, world.openSignIn, PAGE)).toBeNull();
  });

  it("leaves channels disconnected and paused", async () => {
    const { accounts } = await call(session, "list_accounts", {});
    const byName = (name: string) => accounts.find((one: { name: string }) => one.name === name);
    expect(byName("gone")).toMatchObject({ status: "disconnected" });
    expect(byName("paused")).toMatchObject({ status: "connected", schedule: { paused: true } });
    expect(byName("kept")).toMatchObject({ status: "connected", schedule: null });
    const rows = await queryOf(session.ctx.store).selectFrom("accounts").selectAll().execute();
    expect(rows.find(({ id }) => id === "acc_gone")).toMatchObject({ secrets_enc: null, grant_id: null });
    expect(await namesIn(session, "grants")).toEqual(["grt_kept", "grt_paused"]);
  });

  it("leaves drafts decided", async () => {
    expect(await statesOf(session)).toEqual({
      approved: "scheduled",
      sent: "scheduled",
      discarded: "discarded",
      returned: "open",
      stopped: "ended",
      series: "repeating",
      open: "open",
      moved: "scheduled",
    });
    await expect(decide(session, world.drafts["sent"], "approve", {})).rejects.toThrow(
      /was approved already/,
    );
  });

  it("brings the posts that were made of drafts since, and finds them by their words", async () => {
    expect(await postsOf(session, world.drafts["approved"])).toMatchObject([
      { status: "scheduled", slot_at: null },
    ]);
    expect(await postsOf(session, world.drafts["sent"])).toMatchObject([{ status: "published" }]);
    const { posts } = await call(session, "list_posts", { search: "approved" });
    expect(posts).toMatchObject([{ caption: "approved", status: "scheduled" }]);
    const stopped = await postsOf(session, world.drafts["stopped"]);
    expect(new Set(stopped.map(({ status }) => status))).toEqual(new Set(["cancelled"]));
  });

  it("brings what belongs to them", async () => {
    const [sent] = await postsOf(session, world.drafts["sent"]);
    for (const table of ["attempts", "results", "effects", "post_labels"] as const)
      expect([table, countIn(session, table, `post_id = '${sent?.id}'`)]).toEqual([table, 1]);
    expect(countIn(session, "feed_items", `id = '${sent?.id}'`)).toBe(1);
    expect(countIn(session, "files", "id = 'file_1'")).toBe(1);
  });

  it("ends what was begun, and leaves a program forgotten that was", () => {
    expect(countIn(session, "connections", "TRUE")).toBe(0);
    expect(countIn(session, "oauth_codes", "TRUE")).toBe(0);
    expect(countIn(session, "oauth_clients", "id = 'client_gone'")).toBe(0);
    expect(countIn(session, "oauth_clients", "TRUE")).toBe(2);
  });

  it("leaves posts cancelled and sent, and others waiting", async () => {
    const { cancelled, pulled, untouched } = world.posts;
    const look = async (id: string | undefined) => (await call(session, "get_post", { id })).post;
    expect(await look(cancelled)).toMatchObject({ status: "cancelled" });
    expect(await look(pulled)).toMatchObject({ status: "published", platformPostId: "42" });
    expect(await look(untouched)).toMatchObject({ status: "scheduled" });
  });

  it("asks about a post that was on its way, with what is known of it", async () => {
    const { ctx } = session;
    const id = world.posts["flying"] ?? "";
    expect(await readPost(ctx, id)).toMatchObject({ status: "publishing", in_doubt: 1, lease_worker: null });
    const steps = await queryOf(ctx.store)
      .selectFrom("effects")
      .select("step")
      .where("post_id", "=", id)
      .execute();
    expect(steps.map(({ step }) => step).sort()).toEqual(["restored", "send"]);
  });

  it("answers a repeated call as before", async () => {
    const again = await decide(session, world.drafts["sent"], "approve", { idempotencyKey: SENT_KEY });
    expect(again.draft).toMatchObject({ id: world.drafts["sent"], state: "scheduled" });
    expect(await postsOf(session, world.drafts["sent"])).toHaveLength(1);
  });

  it("leaves webhooks and platforms' apps deleted, and tells none of what it did", async () => {
    expect(await namesIn(session, "webhooks")).toEqual(["whk_kept"]);
    expect(await namesIn(session, "platform_apps")).toEqual(["youtube"]);
    expect(await queryOf(session.ctx.store).selectFrom("webhook_deliveries").selectAll().execute()).toEqual(
      [],
    );
  });

  it("leaves the calendar's former address ended", async () => {
    expect(await seesCalendar(session, world.calendar)).toBe(false);
    expect(await seesCalendar(session, since.calendar)).toBe(true);
  });

  it("knows the same when the backup is restored again", async () => {
    const env = anotherFolder("twice");
    await restoreInto(env).then((one) => one.session[Symbol.asyncDispose]());
    const second = await restoreInto(env);
    await using again = second.session;
    expect(second.report.decided).toMatchObject({ unknown: null, counts: { keys: 2, channels: 2 } });
    expect(await statesOf(again)).toMatchObject({ sent: "scheduled", discarded: "discarded" });
  });
});

describe("a restore without a database that knows", () => {
  let session: Session;
  let report: RestoreResult;
  let run: CliRun;
  beforeAll(async () => {
    const env = { POSTHORN_DATA_DIR: join(folder.path, "unknown") };
    mkdirSync(env.POSTHORN_DATA_DIR, { mode: 0o700 });
    copyFileSync(join(data, "secret.key"), join(env.POSTHORN_DATA_DIR, "secret.key"));
    ({ session, report, run } = await restoreInto(env));
  });
  afterAll(() => session[Symbol.asyncDispose]());

  it("says so, and names the keys that are good again", () => {
    expect(report.decided).toMatchObject({ unknown: "absent", counts: { programs: 2, drafts: 6 } });
    expect(report.decided.goodKeys?.map(({ name }) => name).sort()).toEqual(["good", "stolen"]);
    for (const part of [
      "No database was there",
      "The access of 2 programs has ended",
      `stolen (${world.stolen.apiKey.id})`,
      "6 drafts",
    ])
      expect(run.stderr).toContain(part);
  });

  it("ends the access of all programs, and sessions of the page", async () => {
    const { going, page } = world;
    await expect(refresh(session, going.client, going.tokens)).rejects.toThrow();
    expect(await findTokenCaller(serverOf(session), going.tokens.access_token)).toBeNull();
    expect(await findVisitor(session.ctx, page?.token ?? "", null)).toBeNull();
    expect(await authenticate(session.ctx, world.stolen.key, null)).toMatchObject({
      keyId: world.stolen.apiKey.id,
    });
  });

  it("asks once to look at the channel before a draft is approved", async () => {
    const approve = () => decide(session, world.drafts["sent"], "approve", { idempotencyKey: SENT_KEY });
    await expect(approve()).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringMatching(/put back from a copy.*Look at its channels first\..*approve it again/),
    });
    expect(await postsOf(session, world.drafts["sent"])).toEqual([]);
    expect((await approve()).draft).toMatchObject({ state: "scheduled" });
    await decide(session, world.drafts["discarded"], "discard", {});
    const marks = await queryOf(session.ctx.store)
      .selectFrom("meta")
      .select("key")
      .where("key", "like", "restored_draft:%")
      .execute();
    expect(marks).toHaveLength(4);
  });

  it("leaves channels, webhooks and the calendar as the backup has them", async () => {
    expect(await namesIn(session, "webhooks")).toEqual(["whk_gone", "whk_kept"]);
    expect(await seesCalendar(session, world.calendar)).toBe(true);
  });
});

describe("the database that was there", () => {
  it("is said to be unreadable, and to be another one", async () => {
    const broken = anotherFolder("broken");
    for (const end of ["-wal", "-shm"])
      rmSync(join(broken["POSTHORN_DATA_DIR"] ?? "", `posthorn.db${end}`), { force: true });
    writeFileSync(join(broken["POSTHORN_DATA_DIR"] ?? "", "posthorn.db"), "no database at all ".repeat(900));
    const first = await restoreInto(broken);
    await first.session[Symbol.asyncDispose]();
    expect(first.report.decided).toMatchObject({ unknown: "unreadable", counts: { programs: 2 } });
    expect(first.run.stderr).toContain("The database that was there cannot be read");

    const other = { POSTHORN_DATA_DIR: join(folder.path, "other") };
    await open(other).then((session) => session[Symbol.asyncDispose]());
    copyFileSync(join(data, "secret.key"), join(other.POSTHORN_DATA_DIR, "secret.key"));
    const second = await restoreInto(other);
    await second.session[Symbol.asyncDispose]();
    expect(second.report.decided).toMatchObject({ unknown: "unrelated", counts: { programs: 2 } });
  });

  it("keeps what was decided where another secret key sealed it, and refuses what it cannot answer", async () => {
    const env = anotherFolder("rotated");
    expect(await runCli(["keys", "rotate-secret"], { env })).toMatchObject({ status: 0 });
    copyFileSync(join(data, "secret.key"), join(env["POSTHORN_DATA_DIR"] ?? "", "secret.key"));
    const { session, report, run } = await restoreInto(env);
    await using ended = session;
    expect(report.decided).toMatchObject({ unknown: null, isSealed: true, counts: { keys: 2, drafts: 6 } });
    expect(run.stderr).toContain("Another secret key sealed the database that was there");
    expect(await authenticate(ended.ctx, world.stolen.key, null)).toBeNull();
    await expect(
      decide(ended, world.drafts["sent"], "approve", { idempotencyKey: SENT_KEY }),
    ).rejects.toMatchObject({ kind: "conflict" });
    expect(await seesCalendar(ended, world.calendar)).toBe(false);
    const steps = await queryOf(ended.ctx.store).selectFrom("effects").select("step").execute();
    expect(steps).toEqual([{ step: "restored" }]);
  });
});
