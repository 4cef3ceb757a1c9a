/*
 * Mastodon's platform file against a real server that is not Mastodon, snac of Debian's package snac2. Nothing is
 * installed: the package is unpacked into a temporary folder. By hand, as it needs Debian's packages:
 *
 *   npx tsx test/real/mastodon.ts [path of the program]
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import mastodon from "../../src/platforms/mastodon/index.ts";
import { comeBack, leadOn } from "../../src/connecting/consent.ts";
import { connectChannel, connectWithSecrets } from "../../src/connecting/connections.ts";
import { guestCall } from "../../src/context.ts";
import { editPublishedPost } from "../../src/posts/live-posts.ts";
import { readInsights } from "../../src/posts/posts.ts";
import { callOf } from "../support/context.ts";
import { PHOTO_URL } from "../support/contract/stage-media.ts";
import { queryOf } from "../support/handles.ts";
import { startRangedSource, videoOf } from "../support/ranged-source.ts";
import { readPost } from "../support/publishing.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { unpackPackages } from "./debian.ts";
import { openDoor } from "./door.ts";
import { conclude, freePort, openReal, tell } from "./world.ts";

function findProgram(folder: string, given: string | undefined): string {
  if (given !== undefined) return resolve(given);
  if (existsSync("/usr/bin/snac")) return "/usr/bin/snac";
  return join(unpackPackages(folder, { names: ["snac2"], release: "trixie" }), "usr/bin/snac");
}

async function startSnac(folder: string, program: string) {
  const port = await freePort();
  const door = await openDoor(port);
  const data = join(folder, "data");
  const host = `127.0.0.1:${door.port}`;
  const base = `http://${host}`;
  execFileSync(program, ["init", data], { input: `127.0.0.1\n${port}\n${host}\n\n\n` });
  const file = join(data, "server.json");
  const settings = { ...JSON.parse(readFileSync(file, "utf8")), protocol: "http" };
  writeFileSync(file, JSON.stringify(settings));
  const said = execFileSync(program, ["adduser", data, "alice"], { input: "alice\n", encoding: "utf8" });
  const password = /password is (\S+)/.exec(said)?.[1] ?? "";
  const child = spawn(program, ["httpd", data], { stdio: "ignore" });
  for (let n = 0; n < 50; n += 1) {
    if ((await fetch(`${base}/api/v1/instance`).catch(() => null)) !== null) break;
    await wait(100);
  }
  return {
    base,
    door,
    async token(): Promise<string> {
      const body = new URLSearchParams({ login: "alice", passwd: password });
      const page = await (await fetch(`${base}/oauth/x-snac-get-token`, { method: "POST", body })).text();
      return /[0-9a-f]{32}/.exec(page)?.[0] ?? "";
    },
    /** Its page, filled in by the person; the parameters that they come back with. */
    async consent(address: string): Promise<Record<string, string>> {
      const page = await (await fetch(address)).text();
      const hidden = [...page.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)];
      const fields = Object.fromEntries(hidden.map(([, name = "", value = ""]) => [name, value]));
      const body = new URLSearchParams({ ...fields, login: "alice", passwd: password });
      const answer = await fetch(`${base}/oauth/x-snac-login`, { method: "POST", body, redirect: "manual" });
      return Object.fromEntries(new URL(answer.headers.get("location") ?? base).searchParams);
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, "exit");
      await door[Symbol.asyncDispose]();
    },
  };
}

async function run(): Promise<void> {
  using folder = temporaryFolder();
  await using snac = await startSnac(folder.path, findProgram(folder.path, process.argv[2]));
  await using posthorn = await openReal(mastodon);
  const { ctx, publish } = posthorn;
  const named = { provider: "mastodon", instanceUrl: snac.base };

  const { url } = await connectChannel(callOf(ctx), named);
  const lead = await leadOn(guestCall(ctx), { token: url?.split("/").at(-1) ?? "" });
  const answer = lead.state === "lead" ? await snac.consent(lead.url) : {};
  const done = await comeBack(guestCall(ctx), { answer, isBegunHere: true });
  tell("connects by consent, its app registered by itself", done.state === "connected", done);
  const secrets = { accessToken: await snac.token() };
  const { account } = await connectWithSecrets(callOf(ctx), { ...named, way: "token", secrets });
  const rows = await queryOf(ctx.store).selectFrom("accounts").selectAll().execute();
  const [row] = rows;
  if (row === undefined) throw new Error("There is no account.");
  tell("connects with a token, as the same account", rows.length === 1 && row.id === account.id, rows.length);
  process.stdout.write(`    ${row.handle}, ${row.limits}\n`);

  const list = async (): Promise<any[]> => {
    const path = `${snac.base}/api/v1/accounts/${row.platform_account_id}/statuses?limit=40`;
    const headers = { authorization: `Bearer ${secrets.accessToken}` };
    return (await fetch(path, { headers })).json() as Promise<any[]>;
  };
  const count = async (text: string) => (await list()).filter(({ content }) => content.includes(text)).length;

  const text = await publish(row, { caption: "A text\n\nwith lines" });
  tell("publishes a text", text.status === "published", text.error);
  const metadata = JSON.stringify({ altText: "A horn", thread: [{ caption: "Part two" }] });
  const picture = await publish(row, { caption: "A picture", media_url: PHOTO_URL, metadata });
  tell("publishes a picture and a thread", picture.status === "published", picture);
  tell("without warnings", picture.warnings === null, picture.warnings);
  const [shown] = (await list()).filter(({ content }) => content.includes("A picture"));
  tell("shows the picture with its alt text", shown?.media_attachments?.[0]?.description === "A horn", shown);

  const change = { id: picture.id, caption: "A changed picture" };
  const edited = await editPublishedPost(callOf(ctx), change).catch((error: unknown) => error);
  const [after] = (await list()).filter(({ content }) => content.includes("A changed picture"));
  tell("changes a text", after !== undefined, edited);
  tell("keeps the media", after?.media_attachments?.length === 1, after?.media_attachments);
  const alt = after?.media_attachments?.[0]?.description;
  tell("keeps the alt text", alt === "A horn", alt);
  const insights = await readInsights(ctx, await readPost(ctx, picture.id));
  tell("tells that it is live", insights.state === "live", insights);

  for (const [what, extra] of [
    ["a text", { caption: "Gone *and* [found](https://a.example)" }],
    ["a picture", { caption: "Lost picture", media_url: PHOTO_URL }],
  ] as const) {
    const dying = posthorn.dyingAfter(
      ({ method, url: to }) => method === "POST" && to.endsWith("/api/v1/statuses"),
    );
    const lost = await publish(row, extra, dying);
    const seen = await count(extra.caption.slice(0, 4));
    tell(`shows ${what} once whose answer was lost`, lost.status === "published" && seen === 1, [lost, seen]);
  }

  await using film = await startRangedSource(videoOf(60_000));
  const { door } = snac;
  const [toot, upload] = [/^POST \/api\/v1\/statuses /, /^POST \/api\/v\d\/media /];
  for (const [what, kills] of [
    ["as the server had the post", [{ door, request: toot, when: "taken" }]],
    ["as the server had answered", [{ door, request: toot, when: "answered" }]],
    [
      "in the middle of a film, after it, and after the post",
      [
        { door, request: upload, when: "halfway" },
        { door, request: upload, when: "answered" },
        { door, request: toot, when: "answered" },
      ],
    ],
  ] as const) {
    const caption = `Killed ${what}`;
    const media = kills.length === 1 ? {} : { media_url: `${film.origin}/film.mp4` };
    const job = { account: row, post: { caption, ...media }, kills, count: () => count(caption) };
    await posthorn.tellKilled(what, job);
  }

  const removed = await posthorn.remove(row, picture).catch((error: unknown) => error);
  // snac 2.75 has no way to delete: what it cannot, it must not seem to have done.
  const left = (await count("A changed picture")) + (await count("Part two"));
  tell("removes a thread, or says that it cannot", (removed === undefined) === (left === 0), [removed, left]);
  process.stdout.write(`    ${removed instanceof Error ? removed.message : "It was removed."}\n`);
}

await run();
conclude();
