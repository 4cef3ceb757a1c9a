import { expectAskedRightly } from "../../support/contract/ends.ts";
import { DAY } from "../../../src/domain/time.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { FakeClock } from "../../support/clock.ts";
import { createTestContext, type TestContext } from "../../support/context.ts";
import { CLIP_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { unfitWith, type PlatformFixture, type Stage } from "../../support/contract/stage.ts";
import { refusal } from "../instagram/meta-door.ts";
import { CLIENT } from "../instagram/meta-tokens.ts";
import { connectByConsent, createFetchedMedia } from "../instagram/stage-kit.ts";
import { META_TROUBLES, refusesWith } from "../instagram/stage.ts";
import { createThreads, type Threads } from "./fake.ts";

export interface ThreadsStage extends Stage {
  readonly ctx: TestContext;
  readonly threads: Threads;
}

/** A context in which nothing is connected yet. */
export async function openThreads(platform: AnyPlatform) {
  const media = createFetchedMedia();
  const clock = new FakeClock();
  const threads = createThreads({ clock, fetched: media.fetched });
  const ctx = await createTestContext({ platformList: [platform], outbound: threads.door, media, clock });
  Object.assign(ctx.settings.platformSettings, {
    POSTHORN_THREADS_CLIENT_ID: CLIENT.id,
    POSTHORN_THREADS_CLIENT_SECRET: CLIENT.secret,
  });
  return { ctx, threads };
}

export async function openStage(platform: AnyPlatform): Promise<ThreadsStage> {
  const { ctx, threads } = await openThreads(platform);
  const agree = threads.tokens.consent;
  const [account] = await connectByConsent(ctx, { provider: "threads", way: "more", agree });
  if (account === undefined) throw new Error("Nothing was connected.");
  // A token can be renewed from its second day on.
  await ctx.clock.advance(2 * DAY);
  // A thread is one post of ours, and each of its parts is there once.
  const visible = () => {
    expectAskedRightly(threads.door);
    const shown = threads.shelf.posts.filter(({ isDeleted }) => !isDeleted);
    const replies = shown.filter(threads.isReply).map(({ fields }) => fields["text"]);
    if (new Set(replies).size < replies.length) throw new Error(`A part twice: ${replies.join(" | ")}`);
    return shown.filter((post) => !threads.isReply(post));
  };
  return {
    ctx,
    account,
    threads,
    wrong: threads.door.wrong,
    published: async () => visible().length,
    captions: async () => visible().map(({ fields }) => fields["text"] ?? ""),
    [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose](),
  };
}

const POLL = { options: ["a", "b"], hours: 24 };

export default {
  openStage,
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { ...PICTURES, topicTag: "#Horns", thread: [{ caption: "Two" }] },
  },
  otherPosts: {
    "a text": { caption: "Only words", media_url: "", metadata: { link: "https://posthorn.example" } },
    "a poll": {
      caption: "Which horn?",
      media_url: "",
      metadata: { poll: { options: ["The post horn", "The French horn"], hours: 24 } },
    },
    "a long text": {
      caption: "The story",
      media_url: "",
      metadata: { longText: "It is long. ".repeat(200) },
    },
    "a text with a GIF": {
      caption: "The horn is blown at dawn",
      media_url: "",
      metadata: {
        gifId: "3o7TKSjRrfIPjeiVyM",
        spoilers: ["at dawn"],
        locationId: "12345",
        shareToInstagram: true,
      },
    },
    "a film": { caption: "It sounds", media_url: CLIP_URL, metadata: {} },
  },
  troubles: META_TROUBLES,
  refusesToken: refusesWith(refusal(190, 463, 401)),
  unfit: [
    ...unfitWith("", [
      [{}, /^caption: .*504/, "🎺".repeat(126)],
      [{ thread: [{ caption: "x".repeat(501) }] }, /thread\[0\]\.caption: .*501/],
      [{}, /5 addresses/, [1, 2, 3, 4, 5, 6].map((n) => `https://a.example/${n}`).join(" ")],
      [{}, /caption/, ""],
      [{ topicTag: "a.b" }, /topicTag/],
      [{ poll: { ...POLL, hours: 48 } }, /metadata\.poll\.hours/],
      [{ poll: POLL, link: "https://a.example" }, /takes no link beside a poll/],
    ]),
    ...unfitWith(PHOTO_URL, [
      [{ link: "https://a.example" }, /metadata\.link/],
      [{ poll: POLL }, /metadata\.poll: Threads takes no media beside a poll/],
      [{ longText: "x" }, /metadata\.longText: Threads shows it only in posts without media/],
    ]),
  ],
  needed: {
    "names the container, the post or the account": ["id"],
    "whether the container is done": ["status"],
    "whose number it is": ["data.name"],
    "the number itself": ["data.quota_usage"],
  },
  scopes: {
    threads: [
      "threads_basic",
      "threads_content_publish",
      "threads_manage_insights",
      "threads_delete",
      "threads_manage_replies",
      "threads_read_replies",
    ],
  },
  askedOnlyWhen: {
    threads_location_tagging: "asked for only when posts are to have places",
    threads_share_to_instagram: "asked for only when posts are shown as stories on Instagram, too",
  },
  gated: [
    [{ locationId: "1" }, { scopes: ["threads_basic"] }, "refused"],
    [{ shareToInstagram: true }, { scopes: ["threads_basic"] }, "refused"],
    [{ locationId: "1" }, { scopes: [] }, "taken"],
  ],
  previews: {
    "counts an emoji by its bytes": { post: { caption: "🎺" }, shown: { count: { length: 4, max: 500 } } },
  },
} satisfies PlatformFixture;
