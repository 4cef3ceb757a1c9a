import { openStage, type FakeStage } from "../../support/contract/open-stage.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { CLIP_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { createFakeWordpress, SITE, USER, type FakeWordpress } from "./fake.ts";
import { shownText } from "./library.ts";
import { refuse } from "./requests.ts";
import { answerOf } from "../../support/described.ts";

type Options = Omit<Parameters<typeof createFakeWordpress>[0], "now">;

/** A site with these ways, and a channel on it. */
export const openWordpress = (platform: AnyPlatform, options: Options = {}): Promise<WordpressStage> =>
  openStage({
    platform,
    createFake: (now) => createFakeWordpress({ now, ...options }),
    connect: () => ({ way: "password", instanceUrl: SITE, secrets: { ...USER } }),
    shown: ({ site }) => site.posts.filter(({ status }) => status === "publish"),
    textOf: ({ content }) => shownText(content),
  });

export type WordpressStage = FakeStage<FakeWordpress>;

export default {
  openStage: (platform) => openWordpress(platform),
  post: {
    caption: "A horn is heard",
    media_url: PHOTO_URL,
    metadata: {
      ...PICTURES,
      title: "A horn",
      tags: ["Horns", "old & gold"],
      categories: ["4"],
      excerpt: "Heard",
      thumbnailUrl: PHOTO_URL,
    },
  },
  otherPosts: {
    "a text": {
      caption: "Read it\n\nat https://a.example.",
      media_url: "",
      metadata: { title: "Grüße", slug: "greetings" },
    },
    "a text in Markdown": {
      caption: "A **horn** is [heard](https://a.example)",
      media_url: "",
      metadata: { title: "Horn", format: "markdown" },
    },
    "a film": { caption: "It plays", media_url: CLIP_URL, metadata: { title: "A film", comments: false } },
  },
  troubles: {
    "meets a firewall's limit": async () =>
      answerOf(429, "<html>Too many requests</html>", { "retry-after": "7" }),
    "meets a broken database": async () =>
      answerOf(500, "<html><h1>Error establishing a database connection</h1></html>"),
    "is acted on by a PHP that then complains": async (pass) => {
      await pass();
      return answerOf(200, "<br />\n<b>Warning</b>: in functions.php<br />\n{}");
    },
  },
  refusesToken: async () => refuse(401, "incorrect_password"),
  refusals: [
    {
      at: /\/media\?/,
      told: [
        [/^mediaUrl: the site refused/, () => refuse(500, "rest_upload_unknown_error")],
        [/^mediaUrl: is larger than the site takes/, () => refuse(400, "rest_upload_no_data")],
        [/^mediaUrl: the site refused the file/, () => refuse(400, "rest_upload_limited_space")],
      ],
    },
    {
      at: /\/posts\?/,
      told: [[/a firewall in front of it refused/, () => answerOf(403, "<h1>403 Forbidden</h1>")]],
    },
    {
      at: /\/posts/,
      end: "reconnect",
      told: [
        [/does not accept the application password/, () => refuse(401, "incorrect_password")],
        [/may not publish on this site/, () => refuse(403, "rest_cannot_publish")],
        [/REST API is switched off/, () => refuse(404, "rest_no_route")],
      ],
    },
  ],
  unfit: [
    [{ metadata: {} }, /title/],
    [{ metadata: { title: " " } }, /title/],
    [{ metadata: { title: "x", slug: "Not this" } }, /slug/],
    [{ metadata: { title: "x", categories: ["News"] } }, /must be numbers of categories/],
    [{ metadata: { title: "x", sticky: true } }, /sticky/],
    [{ metadata: { title: "x", moreMedia: [{ url: PHOTO_URL }] } }, /moreMedia/],
  ],
  needed: {
    "names the post, the file, or the tag": ["id", "slug", "name"],
    "whether everybody sees it, and since when": ["status", "date_gmt", "modified_gmt"],
    "where it is": ["link", "source_url"],
    "what the user may": ["capabilities.publish_posts", "capabilities.upload_files"],
  },
  previews: {
    "reads HTML": {
      post: { caption: "<p>a &amp; b</p>", metadata: { html: true } },
      shown: { text: "a & b\n" },
    },
  },
} satisfies PlatformFixture;
