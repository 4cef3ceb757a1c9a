import * as z from "zod";
import { DAY } from "../../domain/time.ts";
import type { OAuthWay, SetupGuide } from "../../ports/connect.ts";
import { callWith } from "./api.ts";
import { USUAL_CONSENT } from "../shared/consent.ts";

export const Account = z.looseObject({
  id: z.string().min(1),
  username: z.string().min(1),
  business_name: z.string().nullish(),
  profile_image: z.url().nullish().catch(null),
  follower_count: z.int().min(0).nullish().catch(null),
});

export function nameOf({ business_name: business, username }: z.infer<typeof Account>): string {
  return business === null || business === undefined || business === "" ? username : business;
}

/** Making a pin wants boards:write too, by Pinterest's own description (`POST /pins`). */
const SCOPES = ["user_accounts:read", "boards:read", "boards:write", "pins:read", "pins:write"];

const SETUP: SetupGuide = {
  url: "https://developers.pinterest.com/apps/",
  needs: [
    "A business account, and Pinterest's review of the request. It takes a day or more and costs nothing.",
    "A review, for pins that others can see. Until then (trial access) pins are seen only by their creator, or refused.",
  ],
  steps: [
    "Open https://developers.pinterest.com/apps/ with a business account and choose Connect app. Pinterest reviews the request, which takes a day or more.",
    "In the app's settings, add the redirect URI {redirectUrl}.",
    "Copy App id and App secret key into POSTHORN_PINTEREST_CLIENT_ID and POSTHORN_PINTEREST_CLIENT_SECRET. The app asks for: {scopes}.",
    "Connect. To post for everybody to see, ask for standard access in the app's settings, with a recording of every step from signing in to the pin.",
  ],
  warnings: [
    "On trial access the app has 1,000 requests a day. Standard access is free and comes after a review.",
    "To try it out on trial access, set POSTHORN_PINTEREST_BASE_URL to https://api-sandbox.pinterest.com, with a token of the sandbox (POSTHORN_PINTEREST_TOKEN_URL https://api-sandbox.pinterest.com/v5/oauth/token). The sandbox takes no films.",
    "Live pins can be changed only by apps that Pinterest admitted to a beta.",
    "Posthorn renews the access. It ends when it was not renewed for 60 days, or when the person changes their password or name.",
    "Secret boards are not listed. They need further permissions, in POSTHORN_PINTEREST_SCOPES.",
  ],
};

export const consent: OAuthWay = {
  ...USUAL_CONSENT,
  name: "oauth",
  label: "Sign in with Pinterest",
  instructions: "Sign in to Pinterest and give Posthorn's app access.",
  setup: SETUP,
  endpoints: {
    authorize: "https://www.pinterest.com/oauth/",
    token: "https://api.pinterest.com/v5/oauth/token",
  },
  scopes: SCOPES,
  neededScopes: SCOPES,
  scopeSeparator: ",",
  clientAuth: "basic",
  // Apps from before September 2025 get refresh tokens that cannot be renewed otherwise.
  tokenParams: { continuous_refresh: "true" },
  renewal: { beforeMs: 5 * DAY, everyMs: 20 * DAY, isSingleUse: true },
  targets: async ({ secrets }, io) => {
    const account = await callWith(io, { secrets }, { path: "/user_account" }, Account);
    return [
      {
        platformAccountId: account.id,
        name: nameOf(account),
        handle: account.username,
        profileUrl: `https://www.pinterest.com/${encodeURIComponent(account.username)}/`,
        avatarUrl: account.profile_image ?? null,
        settings: {},
        secrets: {},
      },
    ];
  },
};
