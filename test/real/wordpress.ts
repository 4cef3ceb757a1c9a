/*
 * WordPress's platform file against the real thing, of Debian's packages. Nothing is installed: WordPress, PHP and a
 * MariaDB are unpacked into a temporary folder, run there on 127.0.0.1, and go with it. By hand, as it needs
 * Debian's packages and some minutes:
 *
 *   npx tsx test/real/wordpress.ts [folder of another WordPress, unpacked]
 */
import { setTimeout as wait } from "node:timers/promises";
import wordpress from "../../src/platforms/wordpress/index.ts";
import { textOfHtml } from "../../src/domain/html-text.ts";
import { comparable } from "../../src/platforms/shared/text.ts";
import { listChoices } from "../../src/connecting/list-choices.ts";
import { comeBack, leadOn } from "../../src/connecting/consent.ts";
import { connectChannel, connectWithSecrets } from "../../src/connecting/connections.ts";
import { guestCall } from "../../src/context.ts";
import { createPlatformIo } from "../../src/connecting/account-io.ts";
import { editPublishedPost, setThumbnail } from "../../src/posts/live-posts.ts";
import { readInsights } from "../../src/posts/posts.ts";
import { toPlatformPost } from "../../src/publishing/publish-io.ts";
import type { PostRow } from "../../src/store/schema/tables.ts";
import { callOf } from "../support/context.ts";
import { CLIP, CLIP_URL, PHOTO, PHOTO_URL } from "../support/contract/stage-media.ts";
import { queryOf } from "../support/handles.ts";
import { createMemoryMedia } from "../support/memory-media.ts";
import { addPost, drain, readPost } from "../support/publishing.ts";
import { startRangedSource, videoOf } from "../support/ranged-source.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startWordpress } from "./wordpress-server.ts";
import { conclude, openReal, tell } from "./world.ts";

const LARGE_URL = "https://media.example/large.mp4";
const CAPTION =
  "Grüße 👩‍👩‍👧 *stars* <b>tags</b> &amp; [link](https://a.example) [gallery] שלום 日本語 \\ | ~ {x} 1 < 2 \"quoted\" 'it' don't -- ... 9x9 :) 8-)";

function withMetadata(post: Partial<PostRow>, metadata: object): Partial<PostRow> {
  return { ...post, metadata: JSON.stringify(metadata) };
}

async function run(): Promise<void> {
  using folder = temporaryFolder();
  await using site = await startWordpress(folder.path, process.argv[2]);
  process.stdout.write(`    WordPress ${site.version}\n`);
  const padded = { ...CLIP, bytes: Buffer.concat([CLIP.bytes, Buffer.alloc(100_000)]) };
  const media = new Map([
    [PHOTO_URL, PHOTO],
    [CLIP_URL, CLIP],
    [LARGE_URL, padded],
  ]);
  await using real = await openReal(wordpress, { media: createMemoryMedia(media) });
  const { ctx } = real;
  const connect = (username: string, appPassword: string) =>
    connectWithSecrets(callOf(ctx), {
      ...{ provider: "wordpress", way: "password", instanceUrl: site.base },
      secrets: { username, appPassword },
    }).catch((error: unknown) => error as Error);

  site.setPermalinks("");
  const wrong = await connect("writer", "wrong wrong");
  tell(
    "refuses a wrong password in words",
    wrong instanceof Error && wrong.message.startsWith("appPassword: "),
    wrong,
  );
  const helper = await connect("helper", site.password("helper"));
  tell(
    "refuses who may not publish",
    helper instanceof Error && /may not publish/.test(helper.message),
    helper,
  );
  const plain = await connect("writer", site.password("writer"));
  tell("connects without pretty permalinks", !(plain instanceof Error), plain);
  site.setPermalinks("/%year%/%postname%/");
  const link = await connectChannel(callOf(ctx), {
    ...{ provider: "wordpress", way: "authorize", instanceUrl: site.base },
  });
  const lead = await leadOn(guestCall(ctx), { token: link.url?.split("/").at(-1) ?? "" });
  const answer = lead.state === "lead" ? await site.approve(lead.url, "writer") : {};
  const done = await comeBack(guestCall(ctx), { answer, isBegunHere: true });
  tell("connects by the site's own page", done.state === "connected", done);
  const rows = await queryOf(ctx.store).selectFrom("accounts").selectAll().execute();
  const [row] = rows;
  if (row === undefined) return;
  tell("as the same channel", rows.length === 1, rows.length);
  process.stdout.write(`    ${row.name}, ${row.handle}, ${row.settings}\n`);

  const shown = async (title: string): Promise<any[]> => {
    const posts: any[] = await site.look("/wp/v2/posts&per_page=100");
    return posts.filter((one) => textOfHtml(one.title.rendered) === title);
  };
  const everything = (): any[] =>
    JSON.parse(
      site.run(
        "echo json_encode(get_posts(['numberposts' => -1, 'post_type' => ['post', 'attachment'], 'post_status' => 'any']));",
      ),
    );

  const text = await real.publish(row, withMetadata({ caption: CAPTION }, { title: "A text & <more>" }));
  const [read] = await shown("A text & <more>");
  tell("publishes a text", text.status === "published" && read !== undefined, text);
  tell("at the address that it tells", text.platform_url === read?.link, [text.platform_url, read?.link]);
  const words = textOfHtml(read?.content.rendered ?? "").trim();
  tell("which readers see as it was written", words === CAPTION, words);

  const album = await real.publish(
    row,
    withMetadata(
      { caption: "An album", media_url: PHOTO_URL },
      {
        ...{
          title: "An album",
          altText: 'A "horn" & <b>',
          moreMedia: [{ url: PHOTO_URL }, { url: CLIP_URL }],
        },
        ...{
          tags: ["Horns & more", "horns & More"],
          categories: ["1"],
          excerpt: "In short",
          comments: false,
        },
        ...{ thumbnailUrl: PHOTO_URL, slug: "the-album" },
      },
    ),
  );
  const [seen] = await shown("An album");
  tell("publishes pictures and a film", album.status === "published" && album.warnings === null, album);
  const html = seen?.content.rendered ?? "";
  const tagged = [...html.matchAll(/<(img|video)\b/g)].map(([, name]) => name).join();
  tell("which are all in it", tagged === "video,img,img", html);
  const alts = [...html.matchAll(/alt="([^"]*)"/g)].map(([, alt = ""]) => textOfHtml(alt));
  tell("with the alt text", alts[0] === 'A "horn" & <b>', alts);
  tell("with its featured image", seen?.featured_media > 0, seen);
  tell("under its slug", seen?.slug === "the-album", seen?.slug);
  tell("under one tag and its category", seen?.tags.length === 1 && seen?.categories.join() === "1", seen);
  tell("without comments", seen?.comment_status === "closed", seen?.comment_status);
  const alone = everything().filter((one) => one.post_type === "attachment" && one.post_parent === 0);
  tell("its files are its own", alone.length === 0, alone);
  const large = await real.publish(row, withMetadata({ media_url: LARGE_URL }, { title: "Too large" }));
  tell("says that a file is too large", large.error?.startsWith("mediaUrl: ") === true, large.error);

  const change = { id: album.id, caption: "A changed album", metadata: { title: "Changed" } };
  const edited = await editPublishedPost(callOf(ctx), change).catch((error: unknown) => error);
  const [after] = await shown("Changed");
  const isWhole =
    after?.content.rendered.includes("A changed album") && after.content.rendered.includes("<img");
  tell("changes text and title, and keeps the media", isWhole === true && after.tags.length === 1, [
    edited,
    after,
  ]);
  const replaced = await setThumbnail(callOf(ctx), { id: album.id, thumbnailUrl: PHOTO_URL }).catch(String);
  const [again] = await shown("Changed");
  tell("changes the featured image", again?.featured_media !== seen?.featured_media, replaced);
  const insights = await readInsights(ctx, await readPost(ctx, album.id));
  tell("tells that it is live", insights.state === "live" && insights.metrics.comments === 0, insights);
  const choices = await listChoices(callOf(ctx), { accountId: row.id, field: "tags", search: "horns" });
  tell("lists its tags", choices.choices[0]?.value === "Horns & more", choices);

  for (const [what, path, kind] of [
    ["the draft", /\/wp\/v2\/posts\?/, "post"],
    ["a file", /\/wp\/v2\/media\?/, "attachment"],
    ["the public post", /\/wp\/v2\/posts\/\d+\?/, "post"],
  ] as const) {
    const title = `Lost with ${what}`;
    const worker = real.dyingAfter(({ method, url }) => method === "POST" && path.test(url));
    const lost = await real.publish(
      row,
      withMetadata({ caption: "Lost", media_url: PHOTO_URL }, { title }),
      worker,
    );
    const count = (await shown(title)).length;
    tell(
      `is there once when it dies after the answer about ${what}`,
      lost.status === "published" && count === 1,
      lost,
    );
    const own = everything().filter((one) => one.post_name.startsWith(`lost-with-`));
    const ids = own.filter((one) => one.post_name.includes(lost.id.slice(-8)) && one.post_type === kind);
    tell("and nothing is left beside it", ids.length === 1, ids);
  }

  await using source = await startRangedSource(videoOf(60_000));
  const { door } = site;
  const draft = /^POST \/wp-json\/wp\/v2\/posts\?/;
  const upload = /^POST \/wp-json\/wp\/v2\/media\?/;
  const publishing = /^POST \/wp-json\/wp\/v2\/posts\/\d+\?/;
  for (const [what, kills] of [
    ["as the server had the draft", [{ door, request: draft, when: "taken" }]],
    ["as the server had answered that it is public", [{ door, request: publishing, when: "answered" }]],
    [
      "after the draft, in the middle of a film, after it, and as it was made public",
      [
        { door, request: draft, when: "answered" },
        { door, request: upload, when: "halfway" },
        { door, request: upload, when: "answered" },
        { door, request: publishing, when: "taken" },
      ],
    ],
  ] as const) {
    const title = `Killed ${what}`;
    const media = kills.length === 1 ? {} : { media_url: `${source.origin}/film.mp4` };
    const post = withMetadata({ caption: "Killed", ...media }, { title });
    const count = async (): Promise<number> => (await shown(title)).length;
    const { id } = await real.tellKilled(what, { account: row, post, kills, count });
    const own = everything().filter((one) => one.post_name.includes(id.slice(-8)));
    tell("and nothing is left beside it", own.length === (kills.length === 1 ? 1 : 2), own);
  }

  for (const doesSleep of [false, true]) {
    site.sleepCron(doesSleep);
    const title = doesSleep ? "While WP-Cron sleeps" : "By WP-Cron";
    const at = ctx.clock.now() + 100_000;
    const extra = { scheduled_at: at, due_at: ctx.clock.now(), lead_minutes: 2, media_url: PHOTO_URL };
    const { id } = await addPost(ctx, row, withMetadata(extra, { title, tags: ["Later"] }));
    await drain(ctx);
    const held = await readPost(ctx, id);
    tell(`lies on the site as uploaded: ${title}`, held.status === "uploaded", held);
    let early = 0;
    while (ctx.clock.now() < at - 1_000) {
      early += (await shown(title)).length;
      const files: any[] = await site.look("/wp/v2/media&per_page=100");
      early += files.filter(({ slug }) => slug.includes(id.slice(-8))).length;
      await wait(5_000);
    }
    tell("nobody sees it, nor its picture, before its time", early === 0, early);
    // What a visitor wakes unseen where the server can call itself, which PHP's own cannot.
    if (!doesSleep) {
      await wait(Math.max(0, at + 200 - ctx.clock.now()));
      site.run("delete_transient('doing_cron');");
      await fetch(`${site.base}/wp-cron.php`);
      tell("WP-Cron publishes it", (await shown(title)).length === 1);
    }
    const last = await real.finish(id);
    const lateMs = (last.published_at ?? Infinity) - at;
    const isThere = (await shown(title)).length === 1;
    tell("and everybody does from then on", last.status === "published" && isThere, [last, lateMs]);
    process.stdout.write(`    ${lateMs} ms after its time\n`);
  }
  site.sleepCron(false);

  const io = await createPlatformIo(ctx, row, AbortSignal.timeout(10_000));
  const gone = toPlatformPost(wordpress, await readPost(ctx, album.id));
  for (let n = 0; n < 2; n += 1) await wordpress.remove?.(gone, io);
  tell("removes a post", (await shown("Changed")).length === 0);
  const told = await readInsights(ctx, await readPost(ctx, album.id));
  tell("tells that it is gone", told.state === "removed", told);
  tell("keeps no password in the log", !comparable(real.log.text()).includes("appPassword"));
}

process.once("SIGINT", () => process.exit(130));
await run();
conclude();
