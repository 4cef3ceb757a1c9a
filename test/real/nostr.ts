/*
 * Nostr's platform file against a real relay, @nostr-relay of npm, once open and once with NIP-42, and judged
 * by nostr-tools. There is no file server in npm, so that a small one of ours stands in for it. All goes into a
 * temporary folder. By hand, as it needs npm's packages:
 *
 *   npx tsx test/real/nostr.ts
 */
import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { join } from "node:path";
import nostr from "../../src/platforms/nostr/index.ts";
import { OutboundFailure } from "../../src/ports/outbound.ts";
import type { Sockets } from "../../src/ports/sockets.ts";
import { connectWithSecrets } from "../../src/connecting/connections.ts";
import { editPublishedPost } from "../../src/posts/live-posts.ts";
import { readInsights } from "../../src/posts/posts.ts";
import type { PostRow } from "../../src/store/schema/tables.ts";
import { callOf } from "../support/context.ts";
import { CLIP_URL, PHOTO_URL } from "../support/contract/stage-media.ts";
import { queryOf } from "../support/handles.ts";
import { addPost, drain, readPost } from "../support/publishing.ts";
import { startRangedSource, videoOf } from "../support/ranged-source.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { install, startFiles, startRelay } from "./nostr-servers.ts";
import { conclude, openReal, tell } from "./world.ts";

async function run(): Promise<void> {
  using folder = temporaryFolder();
  install(folder.path);
  const require = createRequire(join(folder.path, "package.json"));
  const tools = require("nostr-tools") as any;
  await using open = await startRelay(folder.path, "open");
  await using closed = await startRelay(folder.path, "auth");
  await using files = await startFiles(tools);
  const settings = {
    POSTHORN_NOSTR_RELAYS: `${open.url} ${closed.url}`,
    POSTHORN_NOSTR_BLOSSOM_URL: files.base,
  };
  await using real = await openReal(nostr, { settings });
  const { ctx } = real;

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
  await ctx.sockets.converse({ url: open.url }, async (socket) => {
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

  const shown = async (url: string, text: string) =>
    (await ask(url, { authors: [pubkey], kinds: [1, 20, 21, 22, 30_023] })).filter(({ content }) =>
      content.includes(text),
    );
  const everywhere = async (what: string, post: Partial<PostRow>, text: string) => {
    const published = await real.publish(row, post);
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
  const done = await real.finish(timed.id);
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
      ctx.sockets.converse(request, (socket) => {
        if (times++ > 1) return work(socket);
        const receive = async (): Promise<string | null> => {
          if (what === "taken")
            for (let text = await socket.receive(); text !== null && !text.includes('"OK"');)
              text = await socket.receive();
          throw new OutboundFailure("The process died before it was written down.", true);
        };
        return work({ ...socket, receive });
      });
    const lost = await real.publish(row, { caption }, { ...ctx, sockets: { converse } });
    const seen = [(await shown(open.url, caption)).length, (await shown(closed.url, caption)).length];
    tell(
      `shows a text once that was ${what} and not written down`,
      lost.status === "published" && seen.join() === "1,1",
      [lost, seen],
    );
  }

  await using film = await startRangedSource(videoOf(60_000));
  const taken = { request: /^GET \S+ HTTP/, when: "answered", answer: /\["OK","[0-9a-f]{64}",true/ } as const;
  const upload = { door: files.door, request: /^PUT \/upload / } as const;
  for (const [what, kills] of [
    ["as the first relay had said OK", [{ ...taken, door: open.door }]],
    ["as the second relay had", [{ ...taken, door: closed.door }]],
    [
      "in the middle of a film, after it, and after the OK",
      [
        { ...upload, when: "halfway" },
        { ...upload, when: "answered" },
        { ...taken, door: closed.door },
      ],
    ],
  ] as const) {
    const caption = `Killed ${what}`;
    const media = kills.length === 1 ? {} : { media_url: `${film.origin}/film.mp4` };
    const count = async (): Promise<number> => (await shown(open.url, caption)).length;
    await real.tellKilled(what, { account: row, post: { caption, ...media }, kills, count });
    tell("    and on the second relay", (await shown(closed.url, caption)).length === 1);
  }

  for (const post of [text, thread, article]) {
    const current = await readPost(ctx, post.id);
    const removed = await real.remove(row, current).catch((error: unknown) => error);
    const ids = [current.platform_post_id];
    const left = [...(await ask(open.url, { ids })), ...(await ask(closed.url, { ids }))];
    if (post === thread)
      left.push(...(await shown(open.url, "Part ")), ...(await shown(closed.url, "Part ")));
    tell("removes it", removed === undefined && left.length === 0, [String(removed), left]);
  }
}

await run();
conclude();
