import * as z from "zod";
import { DAY } from "../../domain/time.ts";
import type { OAuthWay, SetupGuide } from "../../ports/connect.ts";
import { askWith } from "./api.ts";
import { USUAL_CONSENT } from "../shared/consent.ts";

const Avatars = z.array(z.looseObject({ url: z.url() }));

const Blog = z.looseObject({
  name: z.string().min(1),
  uuid: z.string().min(1),
  title: z.string().catch(""),
  avatar: Avatars.catch([]),
  followers: z.int().min(0).optional().catch(undefined),
});
type Blog = z.infer<typeof Blog>;

/** https://github.com/tumblr/docs/blob/master/api.md#userinfo--get-a-users-information */
export const UserInfo = z.looseObject({ user: z.looseObject({ blogs: z.array(Blog) }) });

export const USER_INFO = "/user/info";

/** As it is shown with the channel. */
export function shownBlog({ name, title, avatar }: Blog) {
  return { name: title === "" ? name : title, handle: name, avatarUrl: avatar[0]?.url ?? null };
}

export function addressOf(blogName: string): string {
  return `https://www.tumblr.com/${encodeURIComponent(blogName)}`;
}

const SCOPES = ["basic", "write", "offline_access"];

const SETUP: SetupGuide = {
  url: "https://www.tumblr.com/oauth/apps",
  needs: ["Five minutes. It is free, without a review."],
  steps: [
    "Open https://www.tumblr.com/oauth/apps, sign in, and choose Register application.",
    "Enter {redirectUrl} both as Default callback URL and under OAuth2 redirect URLs.",
    "Copy the OAuth consumer key into POSTHORN_TUMBLR_CLIENT_ID and the secret into POSTHORN_TUMBLR_CLIENT_SECRET. The app asks for: {scopes}.",
  ],
  warnings: [
    "One consent connects all blogs that the person may post to.",
    "A person may post 250 posts, 250 pictures and 20 videos (60 minutes) a day. An app has 1,000 calls an hour and 5,000 a day.",
    "Posts with leadMinutes wait in the blog's own queue (1,000 at most): Tumblr publishes them even while Posthorn is down, and then gives them another id.",
  ],
};

export const consent: OAuthWay = {
  ...USUAL_CONSENT,
  name: "oauth",
  label: "Sign in with Tumblr",
  instructions: "Sign in to Tumblr and allow Posthorn's app to post to your blogs.",
  setup: SETUP,
  endpoints: {
    authorize: "https://www.tumblr.com/oauth2/authorize",
    token: "https://api.tumblr.com/v2/oauth2/token",
  },
  scopes: SCOPES,
  // Without the last one, access ends after 42 minutes.
  neededScopes: SCOPES,
  // Tumblr does not say how long an unused refresh token lasts.
  renewal: { beforeMs: 0, everyMs: 7 * DAY, isSingleUse: true },
  async targets({ secrets }, io) {
    const { user } = await askWith(io, secrets, { path: USER_INFO }, UserInfo);
    return user.blogs.map((blog) => ({
      ...shownBlog(blog),
      platformAccountId: blog.uuid,
      profileUrl: addressOf(blog.name),
      settings: {},
      secrets: {},
    }));
  },
};
