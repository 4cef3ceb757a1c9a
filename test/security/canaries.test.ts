import { appendFileSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createContext, type Context } from "../../src/app/compose.ts";
import { createLogger } from "../../src/app/log.ts";
import { readSetup } from "../../src/app/setup.ts";
import { httpDeps } from "../../src/app/start-server.ts";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import { deliverDue } from "../../src/reporting/webhooks/webhook-deliveries.ts";
import { openCalendarLink } from "../../src/reporting/feeds/calendar-link.ts";
import { runCli, type CliRun } from "../support/cli.ts";
import { FakeClock } from "../support/clock.ts";
import { startTestServer, type Answer, type Ask, type TestServer } from "../support/http.ts";
import { drain } from "../support/publishing.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startReceiver, type Receiver } from "../support/webhook-receiver.ts";
import { callOf } from "../support/context.ts";
import { visitPage } from "./page-day.ts";

/** Everything that must be found nowhere once it has been handed over. */
const CANARY = {
  appPassword: "canary-abcd-efgh-ijkl",
  wrongPassword: "canary-wrong-pass-word",
  access: "canary.access.1",
  refresh: "canary.refresh.1",
  freshAccess: "canary.access.2",
  freshRefresh: "canary.refresh.2",
  strayAccess: "canary.access.never.stored",
  strayRefresh: "canary.refresh.never.stored",
  channelToken: "canary-token",
  channelSecret: `whsec_${Buffer.from("canary-channel-signing-secret-1").toString("base64")}`,
  hookToken: "canary-hook-token",
  hookSecret: `whsec_${Buffer.from("canary-hook-signing-secret-0001").toString("base64")}`,
  fixedKey: "canary-fixed-key-of-the-settings-1234",
  metricsToken: "canary-metrics-token",
  appId: "canary-app-client-id",
  appSecret: "canary-app-client-secret",
  bucketSecret: "canary-bucket-secret-access-key",
} as const;

const folder = temporaryFolder();
const logFile = join(folder.path, "log.jsonl");

let pds: Awaited<ReturnType<typeof startLeakyPds>>;
let receiver: Receiver;
let hook: Receiver;
let ctx: Context;
let server: TestServer;
let bluesky: string;

/** Whatever anybody was shown: answers with their headers, and what commands printed. */
const shown: string[] = [];
/** Made by the product itself during the session; shown once where that is meant. */
const made: Record<string, string> = {};

async function ask(target: string, options: Ask = {}): Promise<Answer> {
  const answer = await server.ask(target, options);
  shown.push(JSON.stringify(answer.headers), answer.text);
  return answer;
}

async function call(tool: string, args: object): Promise<any> {
  return (await ask(`POST /api/v1/tools/${tool}`, { json: args })).json;
}

/** A Bluesky server that quotes whatever it is sent, in every kind of failure. */
async function startLeakyPds(): Promise<{
  origin: string;
  mode: string;
  [Symbol.asyncDispose](): Promise<void>;
}> {
  const http = createServer((request, response) => void answerAsPds(pds.mode, request, response));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    mode: "well",
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

const session = {
  did: "did:plc:canary",
  handle: "alice.test",
  accessJwt: CANARY.access,
  refreshJwt: CANARY.refresh,
};

async function answerAsPds(mode: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  const method = (request.url ?? "").split("?")[0]?.split("/xrpc/")[1] ?? "";
  const quoted = `You sent ${request.headers.authorization} and ${body}.`;
  const send = (status: number, json: object): void =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
  const isSession =
    method === "com.atproto.server.createSession" || method === "com.atproto.server.refreshSession";
  if (isSession && body.includes(CANARY.wrongPassword))
    return send(401, { error: "AuthenticationRequired", message: quoted });
  if (isSession && mode === "half a session") {
    return send(200, {
      accessJwt: CANARY.strayAccess,
      refreshJwt: CANARY.strayRefresh,
      handle: "alice.test",
    });
  }
  if (isSession && mode === "500") return send(500, { error: "InternalServerError", message: quoted });
  if (method === "com.atproto.server.createSession") return send(200, session);
  if (method === "com.atproto.server.refreshSession") {
    return send(200, { ...session, accessJwt: CANARY.freshAccess, refreshJwt: CANARY.freshRefresh });
  }
  if (method === "com.atproto.repo.getRecord")
    return send(400, { error: "RecordNotFound", message: "There is none." });
  if (method === "app.bsky.actor.getProfile") return send(400, { error: "InvalidRequest", message: quoted });
  if (
    mode === "half a session" ||
    (mode === "expired" && request.headers.authorization === `Bearer ${CANARY.access}`)
  ) {
    return send(400, { error: "ExpiredToken", message: quoted });
  }
  const long = { error: "InvalidRequest", message: `${"x".repeat(1_960)} ${quoted}` };
  if (mode === "cut")
    return void response.writeHead(200, { "content-length": "1000" }).write(quoted, () => response.destroy());
  if (mode === "500") return send(500, long);
  send(400, mode === "long" ? long : { error: "InvalidRequest", message: quoted });
}

async function connectBluesky(appPassword: string): Promise<Answer> {
  const args = { provider: "bluesky", handle: "alice.test", instanceUrl: pds.origin };
  // The one answer that is meant to hold the link.
  const { result } = (await server.ask("POST /api/v1/tools/connect_channel", { json: args })).json;
  const path = new URL(result.url).pathname;
  made["connect link"] = path.split("/")[2] ?? "";
  await ask(`GET ${path}`, { key: null });
  const answer = await ask(`POST ${path}`, {
    key: null,
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ handle: "alice.test", appPassword }).toString(),
  });
  await call("check_connection", { connectId: result.connectId });
  return answer;
}

async function publishOn(accountId: string): Promise<void> {
  const { result } = await call("schedule_post", { accountId, caption: "Hello" });
  await drain(ctx);
  await call("get_post", { id: result.post.id, history: true, insights: true });
  await call("retry_post", { id: result.post.id });
  await call("resolve_post", { id: result.post.id, outcome: "not_published" });
}

/** A bucket that answers as the Bluesky server does: not at all like one, and quoting what it is sent. */
const bucket = (): Record<string, string> => ({
  POSTHORN_S3_ENDPOINT: pds.origin,
  POSTHORN_S3_BUCKET: "posts",
  POSTHORN_S3_REGION: "auto",
  POSTHORN_S3_ACCESS_KEY_ID: "AKIDEXAMPLE",
  POSTHORN_S3_SECRET_ACCESS_KEY: CANARY.bucketSecret,
});

async function command(
  args: readonly string[],
  input?: string,
  env: Record<string, string> = {},
): Promise<CliRun> {
  const run = await runCli(args, {
    env: {
      POSTHORN_DATA_DIR: folder.env["POSTHORN_DATA_DIR"] ?? "",
      POSTHORN_ALLOWED_HOSTS: "127.0.0.1",
      POSTHORN_API_KEY: CANARY.fixedKey,
      POSTHORN_METRICS_TOKEN: CANARY.metricsToken,
      ...env,
    },
    ...(input === undefined ? {} : { input }),
  });
  shown.push(run.stdout, run.stderr);
  return run;
}

beforeAll(async () => {
  pds = await startLeakyPds();
  [receiver, hook] = await Promise.all([startReceiver(), startReceiver()]);
  const setup = await readSetup({
    ...folder.env,
    POSTHORN_ALLOWED_HOSTS: "127.0.0.1",
    POSTHORN_API_KEY: CANARY.fixedKey,
    POSTHORN_METRICS_TOKEN: CANARY.metricsToken,
    POSTHORN_LOG_LEVEL: "debug",
  });
  ctx = await createContext(setup, {
    clock: new FakeClock(),
    log: createLogger({ logLevel: "debug", logFormat: "json" }, (line) => appendFileSync(logFile, line)),
  });
  const toolbox = createToolbox(ctx, setup.catalog.tools);
  server = await startTestServer(ctx, setup.catalog.tools, {
    ...httpDeps({ setup, ctx, toolbox, isReady: () => true }),
    rateLimit: 1e6,
  });
  await runSession();
});

/** A day with everything that ever sees a secret, most of it going wrong. */
async function runSession(): Promise<void> {
  made["key"] = await server.keyFor("default", { permissions: ["read"] });
  await server.ask("GET /api/v1/posts", { key: made["key"] });
  await ask("GET /api/v1/posts", { key: `${made["key"]}x` });
  await ask("GET /api/v1/posts", { key: CANARY.fixedKey });
  await ask(`GET /api/v1/posts?apiKey=${CANARY.fixedKey}`);
  await ask("GET /metrics", { key: CANARY.metricsToken });
  await ask("GET /metrics", { key: `${CANARY.metricsToken}x` });

  for (const mode of ["500", "half a session", "well"]) {
    pds.mode = mode;
    await connectBluesky(CANARY.wrongPassword);
    await connectBluesky(CANARY.appPassword);
  }
  const { result } = await call("list_accounts", {});
  bluesky = result.accounts.find((account: { provider: string }) => account.provider === "bluesky").id;
  for (const mode of ["well", "long", "500", "cut", "expired", "half a session"]) {
    pds.mode = mode;
    await publishOn(bluesky);
    await (ctx.clock as FakeClock).advance(120_000);
    await drain(ctx);
  }
  await call("get_account_analytics", { accountId: bluesky, from: "2026-11-01" });

  const channel = await call("connect_channel", { provider: "webhook", name: "Hook" });
  const path = new URL(channel.result.url).pathname;
  for (const secret of ["whsec_canary-not-base64-%%", CANARY.channelSecret]) {
    const body = new URLSearchParams({ url: receiver.url, secret }).toString();
    const page = await server.ask(`POST ${path}`, {
      key: null,
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body,
    });
    // Whoever typed the address finds it in its field again, to mend it; nothing else shows it.
    shown.push(JSON.stringify(page.headers), page.text.replace(`value="${receiver.url}"`, ""));
  }
  const { account } = (await call("check_connection", { connectId: channel.result.connectId })).result;
  const quoted = `You sent it to ${receiver.url} signed with ${CANARY.channelSecret}`;
  for (const status of [500, 400, 401, 410]) {
    receiver.replies.push({ status, body: quoted });
    await publishOn(account.id);
  }
  const url = `${hook.url.split("?")[0]}?key=${CANARY.hookToken}`;
  const headers = { "Idempotency-Key": "once" };
  const first = await server.ask("POST /api/v1/webhooks", { json: { url }, headers });
  made["hook secret"] = first.json.secret;
  await server.ask("POST /api/v1/webhooks", { json: { url }, headers });
  const own = await call("create_webhook", { url, secret: CANARY.hookSecret });
  hook.replies.push(
    { status: 500, body: CANARY.hookSecret },
    { status: 302, headers: { location: `/?key=${CANARY.hookToken}` } },
  );
  await call("test_webhook", { id: own.result.webhook.id });
  await call("test_webhook", { id: own.result.webhook.id });
  await deliverDue(ctx, own.result.webhook.id, new AbortController().signal);
  await call("list_webhooks", { id: own.result.webhook.id, limit: 50 });

  const app = { clientId: CANARY.appId, clientSecret: CANARY.appSecret };
  await ask("PUT /api/v1/platforms/tiktok/app", { json: app });
  await ask("PUT /api/v1/platforms/tiktok/app", { json: { ...app, [CANARY.appSecret.slice(0, 6)]: 1 } });
  await ask("PUT /api/v1/platforms/tiktok/app", { json: { ...app, clientSecret: `${app.clientSecret}\n` } });
  await ask("PUT /api/v1/platforms/bluesky/app", { json: app });
  await call("list_platforms", { provider: ["tiktok"] });

  const link = await openCalendarLink(callOf(ctx), { isNew: false });
  made["calendar link"] = new URL(link.url).pathname.split("/")[2]?.replace(".ics", "") ?? "";
  const calendar = await server.ask(`GET ${new URL(link.url).pathname}`, { key: null });
  shown.push(JSON.stringify(calendar.headers), calendar.text);
  await ask(`GET /calendar/${made["calendar link"]}x.ics`, { key: null });

  const ofPage = await visitPage(ctx, server, (answer) =>
    shown.push(JSON.stringify(answer.headers), answer.text),
  );
  Object.assign(made, ofPage);
  await ask("GET /metrics", { key: CANARY.metricsToken });
  await call("test_webhook", { id: own.result.webhook.id });

  for (const target of [
    "GET /api/v1/accounts",
    "GET /api/v1/webhooks",
    "GET /api/v1/platforms",
    "GET /api/v1/status",
    "GET /readyz",
  ]) {
    await ask(target);
  }
  await command(["export", join(folder.path, "export.jsonl")]);
  await command(["backup", join(folder.path, "backup.tar")]);
  await command(["keys", "list"]);
  await command(["doctor"]);
  await command(["doctor", "tiktok"]);
  await command(["setup", "tiktok", "--client-id", CANARY.appId, "--secret-stdin"], CANARY.appSecret);
  await command(["doctor"], undefined, bucket());
  await command(["backup", join(folder.path, "bucket.tar")], undefined, bucket());
  await command(
    ["connect", "bluesky", "--handle", "alice.test", "--instance", pds.origin, "--secrets-stdin"],
    JSON.stringify({ appPassword: CANARY.wrongPassword }),
  );
}

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await ctx[Symbol.asyncDispose]();
  for (const each of [pds, receiver, hook]) await each[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

function secrets(): Record<string, string> {
  const all = { ...CANARY, ...made, "signing secret": made["hook secret"]?.slice("whsec_".length) ?? "" };
  for (const [name, value] of Object.entries(all)) expect([name, value.length > 10]).toEqual([name, true]);
  return all;
}

/** The names of the secrets that stand in it, as they are or encoded. */
function found(haystack: string): string[] {
  return Object.entries(secrets())
    .filter(([, secret]) =>
      [
        secret,
        encodeURIComponent(secret),
        Buffer.from(secret).toString("base64").replace(/=+$/, ""),
        Buffer.from(secret).toString("hex"),
      ].some((form) => haystack.includes(form)),
    )
    .map(([name]) => name);
}

function filesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => join(path, name))
    .filter((file) => statSync(file).isFile());
}

describe("after a day with secrets", () => {
  it("it was a day on which something happened", () => {
    const log = readFileSync(logFile, "utf8");
    expect(log.split("\n").length).toBeGreaterThan(60);
    expect(log).toContain("a try did not succeed");
    // The platform's words are there, without what they quote.
    expect(log).toContain("You sent Bearer [secret]");
    expect(receiver.deliveries.length).toBeGreaterThan(3);
    expect(shown.join("\n")).toContain("Bluesky");
  });

  it("none stands in the log, at its most talkative", () => {
    const log = readFileSync(logFile, "utf8");
    const lines = log.split("\n").map((line) => ({ has: found(line), line }));
    expect(lines.filter(({ has }) => has.length > 0)).toEqual([]);
  });

  it("none stands in an answer, a page or an error", () => {
    expect(
      shown.map((answer) => ({ answer, has: found(answer) })).filter(({ has }) => has.length > 0),
    ).toEqual([]);
  });

  it("none of the page stands in a notice", () => {
    const sent = JSON.stringify([...hook.deliveries, ...receiver.deliveries]);
    expect(found(sent).filter((name) => name.endsWith(" token"))).toEqual([]);
  });

  it.each(["posthorn.db", "posthorn.db-wal", "backup.tar", "export.jsonl"])("none stands in %s", (name) => {
    const file = filesBelow(folder.path).find((path) => path.endsWith(name));
    expect(file).toBeDefined();
    expect(found(readFileSync(file ?? "").toString("latin1"))).toEqual([]);
  });

  it("none stands in any other file of the data folder", () => {
    const files = filesBelow(dataFolder());
    expect(files.filter((file) => found(readFileSync(file).toString("latin1")).length > 0)).toEqual([]);
  });

  it("the secret key is in no backup", () => {
    const key = readFileSync(join(dataFolder(), "secret.key"), "utf8").trim();
    for (const name of ["backup.tar", "export.jsonl"]) {
      const bytes = readFileSync(join(folder.path, name));
      expect(bytes.includes(key)).toBe(false);
      expect(bytes.includes(Buffer.from(key, "hex"))).toBe(false);
    }
  });
});

function dataFolder(): string {
  return folder.env["POSTHORN_DATA_DIR"] ?? "";
}
