import ghost from "../../../src/platforms/ghost/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { JsonObject } from "../../../src/ports/platform-io.ts";
import type { AccountRow } from "../../../src/store/queries/accounts.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import type { PlatformFixture, Stage } from "../../support/contract/stage.ts";
import { CLIP_URL, createStageMedia, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { addPost } from "../../support/publishing.ts";
import { ADMIN_KEY, createFakeGhost, SITE, type FakeGhost } from "./fake.ts";
import { textOf } from "./posts.ts";
import { answer, refusal } from "./requests.ts";

export interface GhostStage extends Stage {
  readonly fake: FakeGhost;
  readonly account: AccountRow;
  add(caption: string, metadata?: JsonObject, more?: object): ReturnType<typeof addPost>;
}

export async function openGhost(platform: AnyPlatform = ghost): Promise<GhostStage> {
  const clock = new FakeClock();
  const fake = createFakeGhost({ now: () => clock.now() });
  const parts = { platformList: [platform], outbound: fake.door, media: createStageMedia(), clock };
  const ctx = await createTestContext(parts);
  const target = { provider: "ghost", instanceUrl: SITE, secrets: { adminKey: ADMIN_KEY } };
  const account = await connectOn(callOf(ctx), target);
  const shown = () => {
    if (fake.wrong.length > 0) throw new Error(`The site was asked wrongly: ${fake.wrong.join("; ")}`);
    if (fake.posts.mails.length > 0) throw new Error("It was mailed.");
    return fake.posts.shown();
  };
  return {
    ctx,
    account,
    fake,
    add: (caption, metadata = {}, more = {}) =>
      addPost(ctx, account, { caption, metadata: JSON.stringify({ title: "Horn", ...metadata }), ...more }),
    published: async () => shown().length,
    captions: async () => shown().map(textOf),
    [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose](),
  };
}

export default {
  openStage: openGhost,
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { title: "Horn", tags: ["Brass", "#internal"], thumbnailUrl: PHOTO_URL, ...PICTURES },
  },
  otherPosts: {
    "a text": { caption: "Two\n\nparagraphs", media_url: "", metadata: { title: "Horn" } },
    "a film": { caption: "A film", media_url: CLIP_URL, metadata: { title: "Horn", slug: "my-horn" } },
  },
  troubles: {
    "meets a limit": async () =>
      answer(
        429,
        { errors: [{ message: "Slow down", type: "TooManyRequestsError" }] },
        { "retry-after": "7" },
      ),
    "meets an upgrade": async () => refusal(503, "MaintenanceError", "Ghost is in maintenance mode."),
    "is answered by a proxy": async () => answer(200, "<html>Welcome</html>"),
    "is in the way of an editor": async (pass, request) =>
      request.method === "PUT"
        ? refusal(409, "UpdateCollisionError", "Saving failed!", { code: "UPDATE_COLLISION" })
        : pass(),
  },
  refusesToken: async () =>
    refusal(401, "UnauthorizedError", "Unknown Admin API Key", { code: "UNKNOWN_ADMIN_API_KEY" }),
  needed: {
    "where the file is": ["images.url", "media.url"],
    "names the post, by which it is found again": ["posts.id", "posts.slug"],
    "whether everybody sees it": ["posts.status"],
    "goes back with a change, which Ghost refuses without it": ["posts.updated_at"],
    "names the site": ["site.title", "site.url"],
    "the number itself": ["meta.pagination.total"],
    "what is chosen": ["newsletters.slug", "newsletters.name", "users.email", "users.name"],
  },
  previews: {
    "reads HTML": {
      post: { caption: "<p>a <b>b</b></p>", metadata: { format: "html" } },
      shown: { text: "a b\n" },
    },
    "shows markup as it is written": { post: { caption: "<b>" }, shown: { text: "<b>" } },
  },
} satisfies PlatformFixture;
