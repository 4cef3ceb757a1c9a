import { openStage, type FakeStage } from "../../support/contract/open-stage.ts";
import ghost from "../../../src/platforms/ghost/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { CLIP_URL, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { ADMIN_KEY, createFakeGhost, SITE, type FakeGhost } from "./fake.ts";
import { textOf } from "./posts.ts";
import { refusal } from "./requests.ts";
import { answerOf } from "../../support/described.ts";

export const openGhost = (platform: AnyPlatform = ghost): Promise<GhostStage> =>
  openStage({
    platform,
    createFake: (now) => createFakeGhost({ now }),
    connect: () => ({ instanceUrl: SITE, secrets: { adminKey: ADMIN_KEY } }),
    metadata: { title: "Horn" },
    shown({ posts }) {
      if (posts.mails.length > 0) throw new Error("It was mailed.");
      return posts.shown();
    },
    textOf,
  });

export type GhostStage = FakeStage<FakeGhost>;

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
      answerOf(
        429,
        { errors: [{ message: "Slow down", type: "TooManyRequestsError" }] },
        { "retry-after": "7" },
      ),
    "meets an upgrade": async () => refusal(503, "MaintenanceError", "Ghost is in maintenance mode."),
    "is answered by a proxy": async () => answerOf(200, "<html>Welcome</html>"),
    "is in the way of an editor": async (pass, request) =>
      request.method === "PUT"
        ? refusal(409, "UpdateCollisionError", "Saving failed!", { code: "UPDATE_COLLISION" })
        : pass(),
  },
  refusesToken: async () =>
    refusal(401, "UnauthorizedError", "Unknown Admin API Key", { code: "UNKNOWN_ADMIN_API_KEY" }),
  refusals: [
    {
      at: /\/posts\/\?/,
      told: [
        [
          /^metadata\.canonicalUrl: /,
          () => refusal(422, "ValidationError", "No.", { property: "canonical_url" }),
        ],
        [
          /ValidationError\. Change the post, then send it again\. Ghost says: "No\."$/,
          () => refusal(422, "ValidationError", "No."),
        ],
        [/plan does not allow/, () => refusal(403, "HostLimitError", "No.")],
        [/does not let this integration/, () => refusal(403, "NoPermissionError", "No.")],
      ],
    },
    {
      at: /\/upload\//,
      told: [
        [/^mediaUrl: .*too large/, () => refusal(413, "RequestEntityTooLargeError", "No.")],
        [/^mediaUrl: .*type/, () => refusal(415, "UnsupportedMediaTypeError", "No.")],
      ],
    },
  ],
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
