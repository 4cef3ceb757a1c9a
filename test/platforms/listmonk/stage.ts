import listmonk from "../../../src/platforms/listmonk/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { JsonObject } from "../../../src/ports/platform-io.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { FakeClock } from "../../support/clock.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import type { PlatformFixture, Stage } from "../../support/contract/stage.ts";
import { createStageMedia, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import { answerOf } from "../../support/described.ts";
import { addPost } from "../../support/publishing.ts";
import { createFakeListmonk, refusal, SITE, textOf, TOKEN, USER, type FakeListmonk } from "./fake.ts";

export interface ListmonkStage extends Stage {
  readonly fake: FakeListmonk;
  add(caption: string, metadata?: JsonObject, more?: object): ReturnType<typeof addPost>;
}

export const SECRETS = { username: USER, token: TOKEN, lists: "3, 1" };

export async function openListmonk(platform: AnyPlatform = listmonk): Promise<ListmonkStage> {
  const fake = createFakeListmonk();
  const clock = new FakeClock();
  const parts = { platformList: [platform], outbound: fake.door, media: createStageMedia(), clock };
  const ctx = await createTestContext(parts);
  const target = { provider: "listmonk", instanceUrl: SITE, secrets: SECRETS };
  const account = await connectOn(callOf(ctx), target);
  const sent = () => {
    if (fake.wrong.length > 0) throw new Error(`Listmonk was asked wrongly: ${fake.wrong.join("; ")}`);
    return fake.sent();
  };
  return {
    ctx,
    account,
    fake,
    add: (caption, metadata = {}, more = {}) =>
      addPost(ctx, account, { caption, metadata: JSON.stringify({ title: "Horn", ...metadata }), ...more }),
    published: async () => sent().length,
    captions: async () => sent().map(textOf),
    [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose](),
  };
}

export default {
  openStage: openListmonk,
  post: {
    caption: "A horn",
    media_url: PHOTO_URL,
    metadata: { title: "Horn", tags: ["brass"], archive: true, ...PICTURES },
  },
  otherPosts: {
    "a text": { caption: "Two\n\nparagraphs", media_url: "", metadata: { title: "Horn", lists: ["3"] } },
  },
  troubles: {
    "is answered by a proxy": async () => answerOf(200, "<html>Welcome</html>"),
    "meets a broken database": async () => refusal(500, "Error fetching campaigns: connection refused"),
  },
  refusesToken: async () => refusal(403, "invalid API credentials"),
  needed: {
    "names the campaign, the list or the template": ["data.id", "data.results.id"],
    "whether it was started": ["data.status"],
    "where the file is": ["data.url"],
  },
} satisfies PlatformFixture;
