import hashnode from "../../../src/platforms/hashnode/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { JsonObject } from "../../../src/ports/platform-io.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import type { PlatformFixture, Stage } from "../../support/contract/stage.ts";
import { createStageMedia, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { answerOf } from "../../support/described.ts";
import { addPost } from "../../support/publishing.ts";
import { createFakeHashnode, refusal, textOf, TOKEN, type FakeHashnode } from "./fake.ts";

export interface HashnodeStage extends Stage {
  readonly fake: FakeHashnode;
  add(caption: string, metadata?: JsonObject, more?: object): ReturnType<typeof addPost>;
}

export async function openHashnode(platform: AnyPlatform = hashnode): Promise<HashnodeStage> {
  const clock = new FakeClock();
  const fake = createFakeHashnode(() => clock.now());
  const parts = { platformList: [platform], outbound: fake.door, media: createStageMedia(), clock };
  const ctx = await createTestContext(parts);
  const account = await connectOn(callOf(ctx), { provider: "hashnode", secrets: { accessToken: TOKEN } });
  const shown = () => {
    if (fake.wrong.length > 0) throw new Error(`Hashnode was asked wrongly: ${fake.wrong.join("; ")}`);
    return fake.shown();
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
  openStage: openHashnode,
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { title: "Horn", tags: ["brass"], thumbnailUrl: PHOTO_URL, ...PICTURES },
  },
  otherPosts: {
    "a text": { caption: "Two\n\nparagraphs", media_url: "", metadata: { title: "Horn", newsletter: true } },
  },
  troubles: {
    "is answered by a proxy": async () => answerOf(200, "<html>Welcome</html>"),
    "meets an error with HTTP 200": async () => refusal("INTERNAL_SERVER_ERROR", "Internal server error"),
  },
  refusesToken: async () => refusal("UNAUTHENTICATED", "Invalid token"),
  needed: { "the answer to what was asked": ["data.**"] },
} satisfies PlatformFixture;
