import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import { HOUR } from "../../domain/time.ts";
import type { OAuthIo, OAuthWay, RenewalIo, Secrets, Target, Tokens } from "../../ports/connect.ts";
import { callTikTok } from "./api.ts";
import { profileUrl } from "./status.ts";

const REVOKE_URL = "https://open.tiktokapis.com/v2/oauth/revoke/";

/** What the Content Posting API takes, and who the account is. */
const SCOPES = ["user.info.basic", "video.publish", "video.upload"];

/**
 * With those of the Display API, which new apps do not get any more. One that an app lacks refuses the whole
 * consent: https://github.com/trypostit/trypost/pull/315
 */
const DISPLAY_SCOPES = [
  "user.info.basic",
  "user.info.profile",
  "user.info.stats",
  "video.publish",
  "video.upload",
  "video.list",
];

const User = z.looseObject({
  user: z.looseObject({
    open_id: z.string().min(1),
    display_name: z.string().catch(""),
    avatar_url: z.string().catch(""),
    username: z.string().catch(""),
  }),
});

/** The account of whoever agreed. Fields of a permission that was not given are not asked for: it refuses them. */
async function targets({ secrets, scopes }: Tokens, io: OAuthIo): Promise<readonly Target[]> {
  const hasProfile = (scopes ?? SCOPES).includes("user.info.profile");
  const fields = ["open_id", "avatar_url", "display_name", ...(hasProfile ? ["username"] : [])];
  const { user } = await callTikTok(
    io,
    {
      path: "/v2/user/info/",
      query: { fields: fields.join(",") },
      kind: "repeatable",
      token: secrets["accessToken"],
    },
    User,
  );
  const { open_id: id, username, display_name: name, avatar_url: avatarUrl } = user;
  const handle = username === "" ? null : username;
  return [
    {
      platformAccountId: id,
      name: name === "" ? (handle ?? "TikTok") : name,
      handle,
      profileUrl: handle === null ? null : profileUrl(handle),
      avatarUrl: parseUrl(avatarUrl) === null ? null : avatarUrl,
      settings: scopes === null ? {} : { scopes: [...scopes] },
      secrets: {},
    },
  ];
}

async function revoke(secrets: Secrets, io: RenewalIo): Promise<void> {
  const { clientId, clientSecret } = io.app;
  await io.request({
    method: "POST",
    url: io.setting("REVOKE_URL") ?? REVOKE_URL,
    form: { client_key: clientId, client_secret: clientSecret, token: secrets["accessToken"] },
  });
}

export const CONSENT: OAuthWay = {
  kind: "oauth",
  name: "oauth",
  label: "Sign in with TikTok",
  instructions: "Sign in to TikTok and leave all permissions ticked.",
  setup: {
    url: "https://developers.tiktok.com/apps/",
    needs: [
      "TikTok's audit of the app, for posts that others can see. TikTok grants it to no app for private use. Until then posts can only be SELF_ONLY, the account must be set to private, and at most 5 people may post in 24 hours.",
      "Without the audit, mode inbox works: the post waits as a draft, and a person finishes it in the TikTok app. At most 5 drafts may wait in 24 hours.",
    ],
    steps: [
      "Make an app in TikTok's developer portal, for the platform Web.",
      "Add the products Login Kit and Content Posting API to it, and turn Direct Post on.",
      "Enter {redirectUrl} as the redirect URI of Login Kit.",
      "Add the scopes {scopes}.",
      "For photos, verify the domain of POSTHORN_PUBLIC_URL under URL properties. A bucket cannot replace it.",
      "Copy client key and client secret into POSTHORN_TIKTOK_CLIENT_ID and POSTHORN_TIKTOK_CLIENT_SECRET.",
    ],
    warnings: [
      `Numbers of posts and of the account come from TikTok's Display API, which apps registered in 2026 do not get. Only where the app has the Display API, add its scopes, set POSTHORN_TIKTOK_SCOPES to "${DISPLAY_SCOPES.join(" ")}" and connect again. One scope that the app lacks makes TikTok refuse the whole sign-in.`,
      "An account may make some 15 posts a day, from all apps together, and 6 a minute.",
      "Posts cannot be changed or deleted through the API.",
    ],
  },
  endpoints: {
    authorize: "https://www.tiktok.com/v2/auth/authorize/",
    token: "https://open.tiktokapis.com/v2/oauth/token/",
    revoke: REVOKE_URL,
  },
  scopes: SCOPES,
  neededScopes: ["user.info.basic", "video.publish"],
  scopeSeparator: ",",
  pkce: "none",
  clientAuth: "body",
  clientIdName: "client_key",
  redirect: "https",
  instance: "no",
  // A token lasts 24 hours; what renews it, 365 days, and may be another each time.
  renewal: { beforeMs: HOUR, isSingleUse: true },
  revoke,
  targets,
};
