import devto from "../../../src/platforms/devto/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { JsonObject } from "../../../src/ports/platform-io.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import type { PlatformFixture, Stage } from "../../support/contract/stage.ts";
import { PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { addPost } from "../../support/publishing.ts";
import { createFetchedMedia } from "../instagram/stage-kit.ts";
import { answer, API_KEY, createFakeDevto, refusal, textOf, type FakeDevto } from "./fake.ts";

export interface DevtoStage extends Stage {
  readonly fake: FakeDevto;
  add(caption: string, metadata?: JsonObject, more?: object): ReturnType<typeof addPost>;
}

export async function openDevto(platform: AnyPlatform = devto): Promise<DevtoStage> {
  const clock = new FakeClock();
  const fake = createFakeDevto(() => clock.now());
  const parts = { platformList: [platform], outbound: fake.door, media: createFetchedMedia(), clock };
  const ctx = await createTestContext(parts);
  const account = await connectOn(callOf(ctx), { provider: "devto", secrets: { apiKey: API_KEY } });
  const shown = () => {
    if (fake.wrong.length > 0) throw new Error(`DEV was asked wrongly: ${fake.wrong.join("; ")}`);
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
  openStage: openDevto,
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { title: "Horn", tags: ["brass"], thumbnailUrl: PHOTO_URL, ...PICTURES },
  },
  otherPosts: {
    "a text": { caption: "Two\n\nparagraphs", media_url: "", metadata: { title: "Horn", series: "Horns" } },
  },
  troubles: {
    "meets a limit": async () =>
      answer(
        429,
        { error: "Rate limit reached, try again in 30 seconds", status: 429 },
        { "retry-after": "30" },
      ),
    "is answered by a proxy": async () => answer(200, "<html>Welcome</html>"),
  },
  refusesToken: async () => refusal(401, "unauthorized"),
  needed: { "names the article": ["id"], "names the account": ["username"] },
} satisfies PlatformFixture;
