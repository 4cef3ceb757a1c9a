import { describe, expect, it } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import type { AppContext } from "../../src/context.ts";
import { Preview } from "../../src/domain/posts/preview.ts";
import type { Metadata } from "../../src/domain/posts/post.ts";
import type { AnyPlatform } from "../../src/ports/platform.ts";
import { previewPost } from "../../src/posts/preview.ts";
import { endOf } from "../support/contract/ends.ts";
import { readStage } from "../support/contract/read-stage.ts";
import { CLIP_URL, PHOTO_URL } from "../support/contract/stage-media.ts";
import { contentOf, type Stage, type StagePost } from "../support/contract/stage.ts";
import { addPost } from "../support/publishing.ts";

const { platforms } = await loadCatalog();

/** What platforms take for markup, with spaces and line ends that some of them drop. */
const TRICKY = "1. It is *blown* _here_, <b>loud</b> &amp; [far](https://a.example) 👩‍👩‍👧\n\n# and ~more~ ";

interface Given {
  readonly caption?: string;
  readonly mediaUrl?: string;
  readonly metadata?: Metadata;
}

/** Nothing outside is asked for a preview. */
function preview(
  { ctx, account }: Stage,
  { caption, mediaUrl = "", metadata = {} }: Given,
): Promise<Preview> {
  const silent = (): never => {
    throw new Error("A preview asked somebody outside.");
  };
  const alone: AppContext = {
    ...ctx,
    outbound: { ...ctx.outbound, request: silent },
    sockets: { converse: silent },
    media: { ...ctx.media, forPost: silent },
  };
  const scheduledAt = ctx.clock.now();
  const content = { caption: caption ?? null, mediaUrl, metadata, scheduledAt, leadMinutes: null };
  return previewPost(alone, account, content);
}

/** A text as a preview may show it: with the title in front, which is the first line where none is given. */
function withTitle(text: string, { caption, metadata }: StagePost): string[] {
  const titles = [metadata["title"], caption.split("\n")[0]].filter((one) => typeof one === "string");
  return [text, ...titles.map((title) => [title, text].filter((one) => one !== "").join("\n\n"))];
}

/** Servers and readers' apps end lines and texts without spaces. */
const trimmed = (text: string): string => text.replace(/[^\S\n]+$/gm, "").trim();

describe.each(platforms.map((platform) => [platform.name, platform] as const))("%s", (name, platform) => {
  it("shows ahead what readers then see", async () => {
    const fixture = await readStage(name);
    const caption = [...TRICKY].filter((sign) => !(fixture.refusedText ?? "").includes(sign)).join("");
    const posts = { ...fixture.otherPosts, "a whole post": { ...fixture.post, caption } };
    for (const [kind, post] of Object.entries<StagePost>(posts)) {
      await using stage = await fixture.openStage(platform);
      const { caption: text, media_url: mediaUrl, metadata } = post;
      const shown = Preview.parse(
        await preview(stage, { caption: text, mediaUrl, metadata: { ...metadata } }),
      );
      const { id } = await addPost(stage.ctx, stage.account, contentOf(post));
      expect([kind, await endOf(stage, id)]).toMatchObject([kind, { status: "published" }]);
      // A stage tells a text that is not there so.
      const seen = (await stage.captions()).map((one) =>
        one === "undefined" ? "" : withoutFiles(trimmed(one)),
      );
      expect([kind, trimmed(shown.text ?? ""), seen]).toEqual([
        kind,
        expect.toSatisfy((one: string) => seen.flatMap((each) => withTitle(each, post)).includes(one)),
        seen,
      ]);
      expect(shown.media[0]?.url ?? "").toBe(mediaUrl);
    }
  });

  it("shows what there is of a post that is not finished", async () => {
    await using stage = await (await readStage(name)).openStage(platform);
    const drafts: Given[] = [
      {},
      { caption: "A horn" },
      { mediaUrl: PHOTO_URL },
      { mediaUrl: "file_gone", metadata: { moreMedia: [{ url: CLIP_URL }] } },
      { caption: "A horn", metadata: wrongIn(platform) },
    ];
    const shown: Preview[] = [];
    for (const draft of drafts) shown.push(Preview.parse(await preview(stage, draft)));
    const [nothing, words, picture, gone, wrong] = shown;
    expect(nothing).toMatchObject({ parts: [], count: { length: 0 }, media: [], link: null });
    expect(words?.text).toContain("A horn");
    expect(words?.count.length).toBe(6);
    expect(picture).toMatchObject({ media: [{ url: PHOTO_URL, type: "image", change: null }] });
    expect(gone?.media[0]).toEqual({ url: "file_gone", type: null, change: null });
    expect(wrong).toEqual(words);
    // A field at a time, as a person fills them in.
    const { post, otherPosts = {} } = await readStage(name);
    for (const { metadata } of [post, ...Object.values<StagePost>(otherPosts)])
      for (const [key, value] of Object.entries(metadata))
        Preview.parse(await preview(stage, { metadata: { [key]: value } }));
  });
});

/** Every field of a platform with a value that it cannot have. */
function wrongIn({ metadata: { shape } }: AnyPlatform): Metadata {
  return { ...Object.fromEntries(Object.keys(shape).map((key) => [key, { wrong: [] }])), unknown: "field" };
}

/** Nostr's apps show files where their addresses stand below the text. */
function withoutFiles(text: string): string {
  return text.replace(/(\s+https:\/\/files\.\S+)+$/, "");
}

const THREAD = [{ caption: "Two", mediaUrl: PHOTO_URL }, { caption: "Three" }];

/** What the platforms do in a way of their own. */
const RULES: readonly (readonly [name: string, rule: string, post: Given, shown: object])[] = [
  [
    "bluesky",
    "has its title on the card of the link",
    {
      caption: "a\r\nb",
      metadata: { title: "Card", link: "https://a.example/", thread: [{ caption: "c\r\nd" }] },
    },
    {
      text: "a\nb",
      parts: [{ text: "c\nd", count: { length: 3, max: 300, unit: "graphemes" }, media: [] }],
      count: { length: 3, max: 300, unit: "graphemes" },
      link: "https://a.example/",
    },
  ],
  [
    "dailymotion",
    "counts signs of HTML as they are written there",
    { caption: "a <b>", metadata: { title: "T" } },
    { text: "T\n\na <b>", count: { length: 8 } },
  ],
  [
    "discord",
    "counts its escapes",
    { caption: "*a*" },
    { text: "*a*", count: { length: 5, max: 2_000, unit: "weighted" } },
  ],
  [
    "facebook",
    "has the first comment below",
    { caption: "a", metadata: { firstComment: "b", link: "https://a.example/" } },
    { text: "a", parts: [{ text: "b", count: { length: 1, max: null } }], link: "https://a.example/" },
  ],
  [
    "feed",
    "has the description below the caption",
    { caption: "b", metadata: { title: "a", description: "c", link: "https://a.example/" } },
    { text: "a\n\nb\n\nc", count: { length: 1, max: 10_000 }, link: "https://a.example/" },
  ],
  ["ghost", "reads HTML", { caption: "<p>a <b>b</b></p>", metadata: { format: "html" } }, { text: "a b\n" }],
  ["ghost", "shows markup as it is written", { caption: "<b>" }, { text: "<b>" }],
  [
    "google_business",
    "leads an offer's button to where it is redeemed",
    { caption: "a", metadata: { topicType: "OFFER", redeemOnlineUrl: "https://a.example/" } },
    { link: "https://a.example/" },
  ],
  [
    "instagram",
    "shows a story without text",
    { caption: "a", mediaUrl: PHOTO_URL, metadata: { story: true } },
    { text: null, note: "A story: Instagram shows it without a text, for a day." },
  ],
  ["linkedin", "has its title on the card", { caption: "a", metadata: { title: "t" } }, { text: "a" }],
  [
    "mastodon",
    "counts the warning with each text, and addresses as 23",
    {
      caption: "https://example.com/long/and/longer/and/longest",
      metadata: { spoilerText: "Loud", thread: THREAD },
    },
    {
      note: "Shown after a click on the warning: Loud",
      count: { length: 27, max: 500 },
      parts: [
        { text: "Two", count: { length: 7, max: 500 }, media: [{ url: PHOTO_URL, type: "image" }] },
        { text: "Three", count: { length: 9 }, media: [] },
      ],
    },
  ],
  [
    "matrix",
    "tells a file without a caption by its alternative text",
    { mediaUrl: PHOTO_URL, metadata: { altText: "A horn" } },
    { text: "A horn", count: { length: 0, unit: "bytes" } },
  ],
  [
    "misskey",
    "hides it behind its warning",
    { caption: " a ", metadata: { spoilerText: "Loud" } },
    { text: "a", note: "Shown after a click on the warning: Loud" },
  ],
  ["pixelfed", "shows no warning without sensitive", { metadata: { spoilerText: "Loud" } }, { note: null }],
  [
    "pixelfed",
    "shows it with sensitive",
    { metadata: { spoilerText: "Loud", sensitive: true } },
    { note: "Shown after a click on the warning: Loud" },
  ],
  ["slack", "names the first file by its title", { caption: "a", metadata: { title: "t" } }, { text: "a" }],
  [
    "telegram",
    "writes a link that stands alone",
    { metadata: { link: "https://a.example/" } },
    {
      text: "https://a.example/",
      link: "https://a.example/",
      count: { length: 0, max: 4_096, unit: "utf16" },
    },
  ],
  [
    "telegram",
    "has less room beside media",
    { caption: "a", mediaUrl: PHOTO_URL },
    { text: "a", count: { max: 1_024 } },
  ],
  ["threads", "counts an emoji by its bytes", { caption: "🎺" }, { count: { length: 4, max: 500 } }],
  [
    "tiktok",
    "leaves a film in the inbox to a person, without text",
    { caption: "a", mediaUrl: CLIP_URL, metadata: { mode: "inbox" } },
    { text: null, note: "TikTok: a person finishes it in the app." },
  ],
  [
    "tiktok",
    "gives photos there their text",
    {
      caption: "a",
      mediaUrl: PHOTO_URL,
      metadata: { mode: "inbox", title: "t", moreMedia: [{ url: PHOTO_URL }] },
    },
    { text: "t\n\na", count: { max: 4_000 }, note: "TikTok: a person finishes it in the app." },
  ],
  [
    "vimeo",
    "takes the first line for the title",
    { caption: "a\nb", mediaUrl: CLIP_URL },
    { text: "a\n\na\nb", media: [{ url: CLIP_URL, type: "video", change: null }] },
  ],
  ["vimeo", "calls a film without words so", { mediaUrl: CLIP_URL }, { text: "Untitled" }],
  [
    "webhook",
    "leaves all to the receiver",
    { caption: "a", metadata: { title: "t" } },
    { text: "a", note: "The receiver gets every field and decides what it shows of them." },
  ],
  ["wordpress", "reads HTML", { caption: "<p>a &amp; b</p>", metadata: { html: true } }, { text: "a & b\n" }],
  [
    "x",
    "takes spaces away and weighs signs",
    {
      caption: " 日本 https://example.com/long/and/longer/and/longest\r\n",
      metadata: { thread: [{ caption: " b " }] },
    },
    {
      text: "日本 https://example.com/long/and/longer/and/longest",
      count: { length: 28, max: 280, unit: "weighted" },
      parts: [{ text: "b", count: { length: 1, max: 280 } }],
    },
  ],
  [
    "youtube",
    "has the title in front and counts the description",
    { caption: "ü", metadata: { title: "T" } },
    { text: "T\n\nü", count: { length: 2, max: 5_000, unit: "bytes" } },
  ],
];

/** Where a title belongs to something else than the text. */
const NO_TITLE = ["bluesky", "linkedin", "slack", "webhook"];

it("has the title in front of the text, but where it belongs to something else", async () => {
  for (const platform of platforms) {
    const isTitled = Object.hasOwn(platform.metadata.shape, "title");
    if (!isTitled) continue;
    await using stage = await (await readStage(platform.name)).openStage(platform);
    const { text } = await preview(stage, { caption: "It sounds", metadata: { title: "The horn" } });
    expect([platform.name, text]).toEqual([
      platform.name,
      NO_TITLE.includes(platform.name) ? "It sounds" : "The horn\n\nIt sounds",
    ]);
  }
});

describe("what a platform does in a way of its own", () => {
  it.each(RULES)("%s %s", async (name, _rule, post, expected) => {
    const platform = platforms.find((one) => one.name === name);
    if (platform === undefined) throw new Error(`There is no platform ${name}.`);
    await using stage = await (await readStage(name)).openStage(platform);
    expect(await preview(stage, post)).toMatchObject(expected);
  });
});
