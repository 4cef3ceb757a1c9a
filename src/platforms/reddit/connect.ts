import * as z from "zod";
import { DAY } from "../../domain/time.ts";
import type { OAuthWay, SetupGuide } from "../../ports/connect.ts";
import { askWith, REDDIT, userAgent } from "./api.ts";

export const ME = "/api/v1/me";

const Count = z.int().optional().catch(undefined);

export const Me = z.looseObject({
  id: z.string().min(1),
  name: z.string().min(1),
  icon_img: z.url().nullish().catch(null),
  is_suspended: z.boolean().catch(false),
  total_karma: Count,
  subreddit: z.looseObject({ subscribers: Count }).nullish().catch(null),
});

const SCOPES = ["identity", "read", "submit", "edit", "flair", "history"];

const SETUP: SetupGuide = {
  url: "https://www.reddit.com/prefs/apps",
  needs: [
    "Reddit's approval of the app: its API has been closed to new apps since November 2025. Many requests are refused or not answered, and some older apps were revoked too.",
  ],
  steps: [
    "Reddit's API has been closed to new apps since November 2025. Ask Reddit to approve yours first (https://support.reddithelp.com/hc/en-us/articles/42728983564564). Older apps go on working.",
    "At https://www.reddit.com/prefs/apps, create an app of the type web app, with {redirectUrl} as its redirect uri.",
    "Copy the id under its name into POSTHORN_REDDIT_CLIENT_ID and the secret into POSTHORN_REDDIT_CLIENT_SECRET. The app asks for: {scopes}.",
    "Set POSTHORN_REDDIT_USER_AGENT to node:<your domain>:1 (by /u/<your name>), as Reddit asks for.",
  ],
  warnings: [
    "Reddit takes 100 requests a minute from an app. How often an account may post depends on its age and karma, and bots of communities remove posts without notice.",
  ],
};

export const consent: OAuthWay = {
  kind: "oauth",
  name: "oauth",
  label: "Sign in with Reddit",
  instructions: "Sign in to Reddit and allow the app to post.",
  setup: SETUP,
  endpoints: {
    authorize: `${REDDIT}/api/v1/authorize`,
    token: `${REDDIT}/api/v1/access_token`,
  },
  scopes: SCOPES,
  neededScopes: ["identity", "read", "submit", "history"],
  scopeSeparator: " ",
  pkce: "none",
  clientAuth: "basic",
  // Else there is no refresh token, and access ends within a day.
  authorizeParams: { duration: "permanent" },
  tokenHeaders: (io) => ({ "user-agent": userAgent(io) }),
  redirect: "any",
  instance: "no",
  renewal: { beforeMs: 0, everyMs: 30 * DAY, isSingleUse: false },
  async targets({ secrets }, io) {
    const me = await askWith(io, secrets["accessToken"] ?? "", { path: ME }, Me);
    return [
      {
        platformAccountId: `t2_${me.id}`,
        name: me.name,
        handle: me.name,
        profileUrl: `${REDDIT}/user/${encodeURIComponent(me.name)}`,
        avatarUrl: me.icon_img ?? null,
        settings: {},
        secrets: {},
        ...(me.is_suspended ? { problem: SUSPENDED } : {}),
      },
    ];
  },
};

export const SUSPENDED = "Reddit has suspended this account, so it cannot post.";
