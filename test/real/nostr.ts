/*
 * Nostr's platform file against a real relay, @nostr-relay of npm, once open and once with NIP-42, and judged
 * by nostr-tools. There is no file server in npm, so that a small one of ours stands in for it. All goes into a
 * temporary folder. By hand, as it needs npm's packages:
 *
 *   npx tsx test/real/nostr.ts
 */
import { execFileSync, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { systemClock } from "../../src/app/system-clock.ts";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import nostr from "../../src/platforms/nostr.ts";
import { OutboundFailure } from "../../src/ports/outbound.ts";
import type { Sockets } from "../../src/ports/sockets.ts";
import { connectWithSecrets } from "../../src/services/accounts/connecting/connections.ts";
import type { AppContext } from "../../src/services/context.ts";
import { createPlatformIo } from "../../src/services/platforms/platform-io.ts";
import { editPublishedPost } from "../../src/services/posts/live-posts.ts";
import { readInsights } from "../../src/services/posts/insights.ts";
import { toPlatformPost } from "../../src/services/publishing/publish-io.ts";
import { readStepResults } from "../../src/services/publishing/step-results.ts";
import type { PostRow } from "../../src/store/engine/schema.ts";
import { callOf, createTestContext } from "../support/context.ts";
import { CLIP_URL, createStageMedia, PHOTO_URL } from "../support/contract/stage-media.ts";
import { queryOf } from "../support/handles.ts";
import { addPost, drain, readPost } from "../support/publishing.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PACKAGES = [
  "@nostr-relay/core@0.0.40",
  "@nostr-relay/validator@0.0.40",
  "@nostr-relay/event-repository-sqlite@0.0.40",
  "nostr-tools@2.25.2",
  "ws@8.23.0",
];

/** As its README has it. `auth`: nobody writes who did not sign in. */
const RELAY = `
import { NostrRelay } from "@nostr-relay/core";
import { EventRepositorySqlite } from "@nostr-relay/event-repository-sqlite";
import { Validator } from "@nostr-relay/validator";
import { WebSocketServer } from "ws";
const needsAuth = process.argv[2] === "auth";
const events = new EventRepositorySqlite(":memory:");
await events.init();
const relay = new NostrRelay(events, needsAuth ? { hostname: "127.0.0.1" } : {});
const validator = new Validator();
const server = new WebSocketServer({ port: 0, host: "127.0.0.1" }, () => console.log(server.address().port));
server.on("connection", (socket) => {
  relay.handleConnection(socket);
  socket.on("message", async (data) => {
    try {
      const message = await validator.validateIncomingMessage(data);
      if (needsAuth && message[0] === "EVENT" && !relay.isAuthorized(socket))
        return socket.send(JSON.stringify(["OK", message[1].id, false, "auth-required: who are you?"]));
      await relay.handleMessage(socket, message);
    } catch (error) {
      socket.send(JSON.stringify(["NOTICE", error.message]));
    }
  });
  socket.on("close", () => relay.handleDisconnect(socket));
});
`;

const failures: string[] = [];

function tell(what: string, isRight: boolean, seen: unknown = ""): void {
  process.stdout.write(`${isRight ? "ok" : "DIFFERS"}  ${what}  ${isRight ? "" : JSON.stringify(seen)}\n`);
  if (!isRight) failures.push(what);
}

function install(folder: string): void {
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", ["install", ...quiet, ...PACKAGES], { cwd: folder, stdio: "inherit" });
  // Its own would have to be compiled.
  const own = join(folder, "node_modules/better-sqlite3");
  rmSync(own, { recursive: true, force: true });
  symlinkSync(join(import.meta.dirname, "../../node_modules/better-sqlite3"), own);
  writeFileSync(join(folder, "relay.js"), RELAY);
}

async function startRelay(folder: string, kind: "open" | "auth") {
  const child = spawn(process.execPath, ["relay.js", kind], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [port] = await once(child.stdout, "data");
  return {
    url: `ws://127.0.0.1:${String(port).trim()}/`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, "exit");
    },
  };
}

type Tools = { verifyEvent(event: unknown): boolean };

/** PUT /upload of BUD-02; the authorization is judged by nostr-tools. */
async function startFiles({ verifyEvent }: Tools) {
  const files = new Map<string, Buffer>();
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const sha256 = createHash("sha256").update(body).digest("hex");
    const token = (request.headers.authorization ?? "").replace(/^Nostr /, "");
    const event = JSON.parse(Buffer.from(token, "base64").toString() || "{}");
    const isRight =
      request.method === "HEAD" ||
      (verifyEvent(event) && event.tags.some((tag: string[]) => tag[1] === sha256));
    if (!isRight) return void response.writeHead(401).end();
    if (request.method === "HEAD")
      return void response.writeHead(files.has(request.url ?? "") ? 200 : 404).end();
    const path = `/${sha256}.${request.headers["content-type"]?.split("/")[1]}`;
    files.set(path, body);
    response.writeHead(201, { "content-type": "application/json" });
    response.end(JSON.stringify({ url: `${base}${path}`, sha256, size: body.length, type: "", uploaded: 1 }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { base, files, [Symbol.asyncDispose]: async () => void server.close() };
}

async function finish(ctx: AppContext, id: string, worker: AppContext = ctx): Promise<PostRow> {
  for (let n = 0; n < 60; n += 1) {
    await drain(worker);
    const row = await readPost(ctx, id);
    if (row.next_at === null) return row;
    await wait(Math.max(0, Math.min(row.next_at - ctx.clock.now(), 5_000)));
  }
  return readPost(ctx, id);
}

async function run(): Promise<void> {
  using folder = temporaryFolder();
  install(folder.path);
  const require = createRequire(join(folder.path, "package.json"));
  const tools = require("nostr-tools") as any;
  await using open = await startRelay(folder.path, "open");
  await using closed = await startRelay(folder.path, "auth");
  await using files = await startFiles(tools);
  await using door = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
  const platformSettings = {
    POSTHORN_NOSTR_RELAYS: `${open.url} ${closed.url}`,
    POSTHORN_NOSTR_BLOSSOM_URL: files.base,
  };
  const parts = {
    platformList: [nostr],
    outbound: door,
    sockets: door,
    media: createStageMedia(),
    clock: systemClock as never,
    settings: { timezone: "UTC", maxLatenessMs: 3_600_000, uploadFolders: [], platformSettings },
  };
  await using ctx = await createTestContext(parts);

  /** What a relay has, asked by a client of somebody else's. */
  const ask = async (url: string, filter: object): Promise<any[]> => {
    const { Relay, useWebSocketImplementation } = require("nostr-tools/relay");
    useWebSocketImplementation(require("ws"));
    const relay = await Relay.connect(url);
    const found: any[] = [];
    await new Promise<void>((resolve) => {
      relay.subscribe([{ ...filter, limit: 100 + Math.floor(Math.random() * 400) }], {
        onevent: (event: any) => found.push(event),
        oneose: () => resolve(),
      });
    });
    relay.close();
    return found;
  };

  const secret = randomBytes(32);
  const nsec = tools.nip19.nsecEncode(Uint8Array.from(secret));
  const pubkey = tools.getPublicKey(Uint8Array.from(secret));
  const write = (kind: number, tags: string[][], content = "") =>
    tools.finalizeEvent(
      { kind, tags, content, created_at: Math.floor(Date.now() / 1_000) - 60 },
      Uint8Array.from(secret),
    );
  await door.converse({ url: open.url }, async (socket) => {
    for (const event of [
      write(0, [], '{"name":"horn"}'),
      write(10_002, [
        ["r", open.url],
        ["r", closed.url],
      ]),
    ]) {
      await socket.send(JSON.stringify(["EVENT", event]));
      await socket.receive();
    }
  });

  await connectWithSecrets(callOf(ctx), { provider: "nostr", secrets: { nsec } });
  const [row] = await queryOf(ctx.store).selectFrom("accounts").selectAll().execute();
  if (row === undefined) throw new Error("There is no account.");
  tell("connects with the key", row.platform_account_id === pubkey && row.name === "horn", row);
  tell("shows the npub", row.handle === tools.nip19.npubEncode(pubkey), row.handle);
  process.stdout.write(`    ${row.limits}\n`);

  const publish = async (post: Partial<PostRow>, worker: AppContext = ctx) =>
    finish(ctx, (await addPost(ctx, row, post)).id, worker);
  const shown = async (url: string, text: string) =>
    (await ask(url, { authors: [pubkey], kinds: [1, 20, 21, 22, 30_023] })).filter(({ content }) =>
      content.includes(text),
    );
  const everywhere = async (what: string, post: Partial<PostRow>, text: string) => {
    const published = await publish(post);
    tell(`publishes ${what}`, published.status === "published" && published.warnings === null, published);
    for (const url of [open.url, closed.url]) {
      const found = await shown(url, text);
      tell(`${what} is there once, on ${url}`, found.length === 1 && tools.verifyEvent(found[0]), found);
    }
    const { data } = tools.nip19.decode(published.platform_url?.split("/").at(-1) ?? "");
    tell(
      `its address names it`,
      (data.id ?? published.platform_post_id) === published.platform_post_id,
      data,
    );
    return published;
  };

  const text = await everywhere(
    "a text",
    { caption: 'A text "with" 日本語 \\ \u2028 and\nlines 👩‍👩‍👧' },
    "A text",
  );
  const metadata = { altText: "A horn", thread: [{ caption: "Part two" }, { caption: "Part three" }] };
  const thread = await everywhere(
    "a picture and a thread",
    { caption: "A picture #Horn", media_url: PHOTO_URL, metadata: JSON.stringify(metadata) },
    "A picture",
  );
  const [last] = await shown(closed.url, "Part three");
  const refs = tools.nip10?.parse?.(last) ?? {};
  tell(
    "the thread holds together",
    refs.root?.id === thread.platform_post_id && refs.reply !== undefined,
    refs,
  );
  await everywhere("a film", { caption: "A film", media_url: CLIP_URL }, "A film");
  const article = await everywhere(
    "an article",
    {
      caption: "# An article",
      metadata: JSON.stringify({ format: "article", title: "Horn", tags: ["brass"] }),
    },
    "An article",
  );
  tell("all files are there", files.files.size === 2, [...files.files.keys()]);

  const change = { id: article.id, caption: "# A changed article" };
  const edited: any = await editPublishedPost(callOf(ctx), change).catch((error: unknown) => error);
  const after = await ask(closed.url, { authors: [pubkey], kinds: [30_023] });
  tell("changes an article", after.length === 1 && after[0].content === change.caption, [edited, after]);
  tell("and it stays the same one", edited.post?.platformUrl === article.platform_url, edited);
  const insights = await readInsights(ctx, await readPost(ctx, thread.id));
  tell("tells that it is live", insights.state === "live", insights);

  const due = Date.now() + 3_000;
  const timed = await addPost(ctx, row, {
    caption: "At its time",
    media_url: PHOTO_URL,
    lead_minutes: 10,
    scheduled_at: due,
    due_at: Date.now(),
  });
  await drain(ctx);
  const early = (await shown(open.url, "At its time")).length;
  const done = await finish(ctx, timed.id);
  tell("shows nothing before its time", early === 0 && done.status === "published" && Date.now() >= due, [
    early,
    done,
  ]);

  for (const [what, caption] of [
    ["taken", "Gone"],
    ["sent", "Lost"],
  ] as const) {
    let times = 0;
    const converse: Sockets["converse"] = (request, work) =>
      door.converse(request, (socket) => {
        if (times++ > 1) return work(socket);
        const receive = async (): Promise<string | null> => {
          if (what === "taken")
            for (let text = await socket.receive(); text !== null && !text.includes('"OK"');)
              text = await socket.receive();
          throw new OutboundFailure("The process died before it was written down.", true);
        };
        return work({ ...socket, receive });
      });
    const lost = await publish({ caption }, { ...ctx, sockets: { converse } });
    const seen = [(await shown(open.url, caption)).length, (await shown(closed.url, caption)).length];
    tell(
      `shows a text once that was ${what} and not written down`,
      lost.status === "published" && seen.join() === "1,1",
      [lost, seen],
    );
  }

  for (const post of [text, thread, article]) {
    const current = await readPost(ctx, post.id);
    const io = {
      ...(await createPlatformIo(ctx, row, AbortSignal.timeout(30_000))),
      ...(await readStepResults(ctx, current)),
    };
    const removed = await nostr.remove?.(toPlatformPost(nostr, current), io).catch((error: unknown) => error);
    const ids = [current.platform_post_id];
    const left = [...(await ask(open.url, { ids })), ...(await ask(closed.url, { ids }))];
    if (post === thread)
      left.push(...(await shown(open.url, "Part ")), ...(await shown(closed.url, "Part ")));
    tell("removes it", removed === undefined && left.length === 0, [String(removed), left]);
  }
}

await run();
process.stdout.write(failures.length === 0 ? "Nothing differed.\n" : `${failures.length} differed.\n`);
process.exitCode = failures.length === 0 ? 0 : 1;
