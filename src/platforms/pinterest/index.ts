import { DAY } from "../../domain/time.ts";
import type { OAuthWay, SetupGuide } from "../../ports/connect.ts";
import { definePlatform } from "../../ports/platform.ts";
import { USUAL_CONSENT } from "../shared/consent.ts";
import { Account, callWith, nameOf } from "./api.ts";
import { boards, sections } from "./boards.ts";
import { ACCOUNT_METRICS, analytics, edit, insights, inspect, remove } from "./live.ts";
import { check, MAX_DESCRIPTION_CHARS, MAX_PICTURES, PinterestMetadata } from "./metadata.ts";
import { IMAGE_LIMITS, publish } from "./publish.ts";

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
    "To try it out on trial access, set POSTHORN_PINTEREST_BASE_URL to https://api-sandbox.pinterest.com, with a token of the sandbox (POSTHORN_PINTEREST_TOKEN_URL https://api-sandbox.pinterest.com/v5/oauth/token). The sandbox takes no videos.",
    "Live pins can be changed only by apps that Pinterest admitted to a beta.",
    "Posthorn renews the access. It ends when it was not renewed for 60 days, or when the person changes their password or name.",
    "Secret boards are not listed. They need further permissions, in POSTHORN_PINTEREST_SCOPES.",
  ],
};

const consent: OAuthWay = {
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

const GB = 1_000_000_000;

export default definePlatform({
  name: "pinterest",
  title: "Pinterest",
  aliases: ["pins"],
  docs: "https://developers.pinterest.com/docs/api/v5/pins-create",
  baseUrl: "https://api.pinterest.com",
  capabilities: {
    media: {
      required: true,
      maxItems: MAX_PICTURES,
      accepts: [
        { kind: "image", ...IMAGE_LIMITS, maxItems: MAX_PICTURES },
        {
          kind: "video",
          mimeTypes: ["video/mp4", "video/quicktime"],
          maxBytes: 2 * GB,
          maxSeconds: 900,
          minSeconds: 4,
          maxItems: 1,
        },
      ],
    },
    caption: { maxLength: MAX_DESCRIPTION_CHARS, unit: "characters" },
    // Films are sent and processed ahead.
    scheduling: "prepare",
    leadMinutes: { min: 0, default: 10, max: 120 },
    thumbnail: { set: true, replaceAfterPublish: false },
    editPublished: { fields: ["caption", "title", "link", "altText", "boardId", "board", "boardSection"] },
    analytics: {
      account: [...ACCOUNT_METRICS],
      post: ["impressions", "clicks", "saves", "likes", "comments"],
    },
    reconciles: "list",
  },
  metadata: PinterestMetadata,
  connect: [consent],
  choices: { boardId: boards, boardSection: sections },
  check,
  inspect,
  publish,
  edit,
  insights,
  // Apps of the trial tier have 1,000 requests a day.
  results: { perMinute: 5 },
  analytics,
  remove,
});
