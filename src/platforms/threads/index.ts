import * as z from "zod";
import type { StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import { DAY, MINUTE } from "../../domain/time.ts";
import type { OAuthWay, SetupGuide } from "../../ports/connect.ts";
import { Id } from "../../ports/platform-values.ts";
import { definePlatform } from "../../ports/platform.ts";
import { signInAt, type TokenHost } from "../shared/meta/accounts.ts";
import { askWith, THREADS_HOST, threadsUrl } from "./api.ts";
import { ACCOUNT_METRICS, analytics, insights, inspect, places, remove } from "./live.ts";
import { askingMore, MORE } from "../shared/consent.ts";
import {
  checkPost,
  GATED,
  LOCATION_SCOPE,
  MAX_ITEMS,
  MAX_TEXT,
  measure,
  SHARE_SCOPE,
  ThreadsMetadata,
  WITH_MORE,
} from "./metadata.ts";
import { IMAGE, publish } from "./publish.ts";

const GUIDE: SetupGuide = {
  url: "https://developers.facebook.com/apps",
  needs: [
    "About half an hour at Meta, in this order: an app, the permissions of its use case, a role in the app for each account, and the invitation accepted. It costs nothing, and needs no review for accounts of your own.",
  ],
  steps: [
    "Open https://developers.facebook.com/apps and press Create app. A person who was never there first confirms their account as a developer.",
    "Give the app a name and your address, and press Next.",
    'As the use case, tick "Access the Threads API", and press Next.',
    'As the business portfolio, choose "I don\'t want to connect a business portfolio yet", and press Next.',
    "Press Create app.",
    "Open Use cases, and press Customize beside the use case.",
    "Under Permissions, press Add beside each of these: {scopes}",
    "Under Settings, enter {redirectUrl} as a redirect callback URL. Enter the same for uninstalling and deleting, and press Save.",
    "Under App roles, Roles, press Add people, choose Threads Tester, and enter the account's user name.",
    "Accept the invitation as that account: at https://www.threads.net/settings/account under Website permissions, Invites.",
    "Under Settings of the use case, copy the Threads app ID and the Threads app secret (not those of the Meta app) into POSTHORN_THREADS_CLIENT_ID and POSTHORN_THREADS_CLIENT_SECRET.",
  ],
  warnings: [
    "Threads testers of your app work at once. For other people's accounts Meta asks for App Review and the verification of your business.",
    "An account may make 250 posts, 1,000 replies and 100 deletions in 24 hours. The API costs nothing.",
    "Where Threads says that a scope is not valid, the app lacks the permissions that it names. Add them to the app, or name the others in POSTHORN_THREADS_SCOPES.",
    `For places, and stories of the Instagram account that is linked, connect by the way "${MORE}". Before App Review, Threads finds only places in Menlo Park.`,
    "Posthorn renews the access every week. It ends 60 days after Posthorn last ran.",
  ],
};

const HOST: TokenHost = {
  title: "Threads",
  prefix: "th",
  base: (io) => io.setting("BASE_URL") ?? THREADS_HOST,
};

const Me = z.looseObject({
  id: Id,
  username: z.string(),
  name: z.string().optional(),
  threads_profile_picture_url: z.string().optional(),
});

/** https://developers.facebook.com/docs/threads/get-started/get-access-tokens-and-permissions */
const threadsLogin: OAuthWay = {
  ...signInAt(HOST),
  // https://developers.facebook.com/docs/threads/get-started/get-access-tokens-and-permissions
  tryApp: { grant: "client_credentials", method: "GET" },
  name: "threads",
  label: "Sign in with Threads",
  instructions: "Sign in to Threads and allow everything that it asks for.",
  setup: GUIDE,
  endpoints: {
    authorize: "https://threads.net/oauth/authorize",
    token: `${THREADS_HOST}/oauth/access_token`,
  },
  scopes: [
    "threads_basic",
    "threads_content_publish",
    "threads_manage_insights",
    "threads_delete",
    "threads_manage_replies",
    "threads_read_replies",
  ],
  neededScopes: ["threads_basic", "threads_content_publish"],
  async targets({ secrets }, io) {
    const query = { fields: "id,username,name,threads_profile_picture_url" };
    const me = await askWith(io, { server: threadsUrl(io), secrets }, { path: "me", query }, Me);
    return [
      {
        platformAccountId: me.id,
        name: me.name === undefined || me.name === "" ? me.username : me.name,
        handle: me.username,
        profileUrl: `https://www.threads.net/@${encodeURIComponent(me.username)}`,
        avatarUrl: me.threads_profile_picture_url ?? null,
        settings: {},
        secrets: {},
      },
    ];
  },
};

const threadsLoginWithMore = askingMore(threadsLogin, {
  appOf: "threads",
  label: WITH_MORE,
  scopes: [LOCATION_SCOPE, SHARE_SCOPE],
});

const CAPABILITIES = {
  media: {
    required: false,
    maxItems: MAX_ITEMS,
    accepts: [
      IMAGE,
      {
        kind: "video",
        mimeTypes: ["video/mp4", "video/quicktime"],
        videoCodecs: ["avc", "hevc"],
        audioCodecs: ["aac"],
        maxWidth: 1_920,
        minFramesPerSecond: 23,
        maxFramesPerSecond: 60,
        maxBytes: 1_000_000_000,
        maxSeconds: 5 * 60,
        maxItems: MAX_ITEMS,
      },
    ],
  },
  caption: { maxLength: MAX_TEXT, unit: "weighted" },
  scheduling: "prepare",
  // A container is forgotten after 24 hours.
  leadMinutes: { min: 0, default: 10, max: 23 * 60 },
  analytics: { account: ACCOUNT_METRICS, post: ["views", "likes", "comments", "shares"] },
  reconciles: "container",
  fetchesMedia: ["image", "video"],
  quotas: [{ name: "posts", max: 250, perMinutes: DAY / MINUTE, from: "rolling", scope: "account" }],
} satisfies StatedCapabilities;

export default definePlatform({
  name: "threads",
  title: "Threads",
  aliases: ["meta"],
  docs: "https://developers.facebook.com/docs/threads/posts",
  baseUrl: THREADS_HOST,
  capabilities: CAPABILITIES,
  capabilitiesOf({ limits }) {
    const perDay = limits["postsPerDay"];
    if (typeof perDay !== "number") return CAPABILITIES;
    return { ...CAPABILITIES, quotas: CAPABILITIES.quotas.map((quota) => ({ ...quota, max: perDay })) };
  },
  metadata: ThreadsMetadata,
  gated: GATED,
  connect: [threadsLogin, threadsLoginWithMore],
  choices: { locationId: places },
  measure,
  check: checkPost,
  inspect,
  publish,
  insights,
  analytics,
  remove,
});
