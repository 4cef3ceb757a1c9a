import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import { CLIP_URL, createStageMedia, PHOTO_URL, PICTURES } from "../../support/contract/stage-media.ts";
import type { PlatformFixture } from "../../support/contract/stage.ts";
import { textOfHtml } from "../../../src/domain/html-text.ts";
import { createFakeMastodon, SERVER } from "../mastodon/fake.ts";
import { PROFILES, type Profile } from "../mastodon/profiles.ts";
import { answer } from "../mastodon/request.ts";
import type { MastodonStage } from "../mastodon/stage.ts";

/** A server whose administrators let films in, too. */
const PROFILE: Profile = {
  ...PROFILES.pixelfed,
  mimeTypes: [...PROFILES.pixelfed.mimeTypes, "video/mp4"],
};

/** An account on a Pixelfed server, connected with a token. */
export async function openPixelfed(
  platform: AnyPlatform,
  profile: Partial<Profile> = {},
): Promise<MastodonStage> {
  const clock = new FakeClock();
  const server = createFakeMastodon({ now: () => clock.now(), profile: { ...PROFILE, ...profile } });
  const parts = { platformList: [platform], outbound: server.outbound, media: createStageMedia(), clock };
  const ctx = await createTestContext(parts);
  const target = { provider: "pixelfed", way: "token", instanceUrl: SERVER };
  const secrets = { accessToken: server.makeToken() };
  const account = await connectOn(callOf(ctx), { ...target, secrets });
  const heads = () => {
    if (server.wrong.length > 0) throw new Error(`The server was asked wrongly: ${server.wrong.join("; ")}`);
    return server.posts.heads();
  };
  return {
    server,
    ctx,
    account,
    published: async () => heads().length,
    captions: async () => heads().map(({ id }) => textOfHtml(server.posts.contentOf(id))),
    [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose](),
  };
}

export default {
  openStage: (platform) => openPixelfed(platform),
  post: { caption: "A horn", media_url: PHOTO_URL, metadata: { ...PICTURES, visibility: "public" } },
  otherPosts: {
    "a picture": {
      caption: "",
      media_url: PHOTO_URL,
      metadata: { sensitive: true, spoilerText: "Loud", visibility: "private" },
    },
    "a film": { caption: "It plays", media_url: CLIP_URL, metadata: { altText: "A clip" } },
  },
  troubles: {
    // Of Laravel, which writes seconds.
    "meets a limit": async () =>
      answer(429, { error: "" }, { "x-ratelimit-limit": "60", "retry-after": "40" }),
    "is answered by a proxy": async () => answer(200, "<html>Welcome</html>"),
    "is answered by an account that never signed in": async () => answer(200, []),
  },
  refusesToken: async () => answer(500, { error: "Unauthenticated." }),
  needed: {
    "names the status, the file or the account": ["id"],
    "whether the file is done": ["url"],
    "the account's name": ["username"],
  },
  scopes: { oauth: ["read", "write"] },
  previews: {
    "shows no warning without sensitive": {
      post: { metadata: { spoilerText: "Loud" } },
      shown: { note: null },
    },
    "shows it with sensitive": {
      post: { metadata: { spoilerText: "Loud", sensitive: true } },
      shown: { note: "Shown after a click on the warning: Loud" },
    },
  },
} satisfies PlatformFixture;
