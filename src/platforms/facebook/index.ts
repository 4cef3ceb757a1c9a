import * as z from "zod";
import type { StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import type { PlatformSetting } from "../../domain/accounts/platform-settings.ts";
import { DAY, HOUR, MINUTE, toIso } from "../../domain/time.ts";
import type {
  OAuthIo,
  OAuthWay,
  RenewalIo,
  Secrets,
  SetupGuide,
  Target,
  Tokens,
} from "../../ports/connect.ts";
import { PlatformFault, type PlatformIo, type PlatformResponse } from "../../ports/platform-io.ts";
import { type AnalyticsDay, definePlatform, type Inspection, type Platform } from "../../ports/platform.ts";
import {
  asPerson,
  exchangeAtFacebook,
  FACEBOOK_SIGN_IN,
  findPages,
  noPages,
  PageEntry,
  type Person,
  PORTFOLIO_SCOPE,
  readGranted,
} from "../shared/meta/accounts.ts";
import { RUPLOAD_HOST } from "../shared/meta/rupload.ts";
import { dayBefore, GRAPH_VERSION, VERSION_SETTING } from "../shared/meta/graph.ts";
import { askPage, facebookFaults, GRAPH_HOST, graphBase, pageOf } from "./api.ts";
import { edit, insights, readInsights, remove, setThumbnail, unreadable } from "./live.ts";
import {
  checkPost,
  COMMENT_SCOPE,
  FacebookMetadata,
  type FacebookPost,
  GATED,
  MAX_PHOTOS,
  MAX_TEXT,
} from "./metadata.ts";
import { publish } from "./publish.ts";
import { askingMore, MORE } from "../shared/consent.ts";
import { FILMS, IMAGES, STORY_FILMS, STORY_IMAGES } from "./upload.ts";
import { addressSetting } from "../../ports/platform-setup.ts";

const SETUP: SetupGuide = {
  url: "https://developers.facebook.com/apps",
  needs: [
    "A Page. Facebook lets no app post to personal profiles and groups.",
    "About half an hour at Meta, in this order: an app, the permissions of its use case, the redirect address, roles for other people, and the switch to Live. It costs nothing, and needs no review for Pages of your own.",
    "A new sign-in every 60 days. Facebook has no way to renew a person's consent.",
  ],
  steps: [
    "Open https://developers.facebook.com/apps and press Create app. A person who was never there first confirms their account as a developer.",
    "Give the app a name and your address, and press Next.",
    'As the use case, tick "Manage everything on your Page", and press Next.',
    'As the business portfolio, choose "I don\'t want to connect a business portfolio yet", and press Next. An agency that posts for clients chooses its own.',
    "Press Create app.",
    "Open Use cases, and press Customize beside the use case.",
    "Under Permissions, press Add beside each of these: {scopes}",
    'Open Facebook Login, Settings, enter {redirectUrl} under "Valid OAuth Redirect URIs", and press Save changes.',
    "Under App roles, Roles, press Add people for each other person who is to connect a Page. They accept at https://developers.facebook.com/requests. Your own account has a role already.",
    "Under App settings, Basic, copy App ID and App secret into POSTHORN_FACEBOOK_CLIENT_ID and POSTHORN_FACEBOOK_CLIENT_SECRET.",
    "Leave POSTHORN_FACEBOOK_LOGIN_CONFIG_ID empty. Only an app of the type Business needs it, which has Facebook Login for Business. There, make a configuration with the same permissions and a user access token, and enter its id.",
    "Press Publish, which switches the app to Live. Meta asks for the address of a privacy policy.",
  ],
  warnings: [
    "Without App Review, only people with a role in the app (admin, developer, tester) can connect. For your own Pages that is enough. Their posts are public once the app is live.",
    "While the app is in development, only people with a role in it see what it posts. Switch it to Live.",
    "A live app takes only https redirect addresses. http://localhost works while it is in development.",
    "After 60 days without a new sign-in, texts, pictures and reels go on for a while, and other videos stop. After 90 days Facebook closes the data.",
    "Where Facebook says Invalid Scopes, the app lacks the permissions that it names. Add them to the app, or name the others in POSTHORN_FACEBOOK_SCOPES.",
    `Pages of business portfolios, such as those of firms and agencies, are found by the way "${MORE}".`,
    "Facebook may keep vertical videos of more than 90 seconds as drafts. Posthorn checks whether they are public, and says where a person has to publish them.",
    "A Page takes 30 reels in 24 hours.",
  ],
};

const DIALOG_HOST = "https://www.facebook.com";
const NEEDED = ["pages_show_list", "pages_read_engagement", "pages_manage_posts"] as const;

const SETTINGS: readonly PlatformSetting[] = [
  addressSetting(
    "AUTH_URL",
    "Where people are asked for their consent",
    `${DIALOG_HOST}/${GRAPH_VERSION}/dialog/oauth`,
  ),
  addressSetting("TOKEN_URL", "Where tokens are got", `${GRAPH_HOST}/${GRAPH_VERSION}/oauth/access_token`),
  addressSetting("VIDEO_URL", "Where videos are published, without the version", GRAPH_HOST),
  addressSetting("UPLOAD_URL", "Where reels are sent, instead of this host", RUPLOAD_HOST),
  VERSION_SETTING,
  {
    name: "LOGIN_CONFIG_ID",
    meaning:
      "Configuration of Facebook Login for Business, which stands for the permissions (only for apps of the type Business)",
    kind: "text",
    default: null,
    isRequired: false,
  },
];

const oauth: OAuthWay = {
  ...FACEBOOK_SIGN_IN,
  name: "oauth",
  label: "Sign in with Facebook",
  instructions:
    "Sign in to Facebook with an account that may create content on the Page, choose the Pages, and leave all permissions ticked.",
  setup: SETUP,
  scopes: [...NEEDED, "read_insights", COMMENT_SCOPE],
  lengthen,
  // There is none: the person comes back, while the Pages' own tokens have no end.
  renewal: null,
  revoke,
  targets,
};

const withPortfolios = askingMore(oauth, {
  appOf: "facebook",
  label: "business portfolios",
  scopes: [PORTFOLIO_SCOPE],
});

/** A token of 60 days for that of an hour, and what was allowed. */
async function lengthen(tokens: Tokens, io: OAuthIo): Promise<Tokens> {
  const long = await exchangeAtFacebook(tokens, io);
  return {
    ...long,
    scopes: await readGranted(personOf(long.secrets, io), { title: "Facebook", needed: NEEDED }),
  };
}

function personOf({ accessToken = "" }: Secrets, io: OAuthIo): Person {
  return { io, accessToken, base: graphBase(io), classify: facebookFaults };
}

const Page = PageEntry.extend({
  name: z.string().catch(""),
  username: z.string().optional(),
  picture: z
    .looseObject({ data: z.looseObject({ url: z.url() }) })
    .optional()
    .catch(undefined),
});

const NO_TOKEN =
  "Facebook gives no access to this Page. Choose it when Facebook asks, and let one of its admins give you the right to create content.";
const NO_TASK = "You may not create content on this Page. Ask one of its admins for the right to do so.";

/** All Pages that the person chose, each with a token of its own. */
async function targets({ secrets, scopes }: Tokens, io: OAuthIo): Promise<readonly Target[]> {
  const granted = scopes ?? [];
  const fields = "name,username,picture{url}";
  const pages = await findPages(personOf(secrets, io), { entry: Page, fields, granted });
  if (pages.length === 0) throw noPages(granted);
  return pages.map((page) => {
    const { id, name, username, access_token: pageToken = "", tasks, picture } = page;
    const mayNot = tasks?.includes("CREATE_CONTENT") === false ? NO_TASK : null;
    const problem = mayNot ?? (pageToken === "" ? NO_TOKEN : null);
    return {
      platformAccountId: id,
      name,
      handle: username ?? null,
      profileUrl: `${DIALOG_HOST}/${encodeURIComponent(username ?? id)}`,
      avatarUrl: picture?.data.url ?? null,
      settings: {},
      secrets: problem === null ? { pageToken } : {},
      ...(problem === null ? {} : { problem }),
    };
  });
}

/** Not all permissions: Instagram's channels of the same person may need the others. */
const GIVEN_BACK = ["pages_manage_posts", "pages_manage_engagement", "read_insights"];

async function revoke(secrets: Secrets, io: RenewalIo): Promise<void> {
  for (const permission of GIVEN_BACK) {
    const request = asPerson(personOf(secrets, io), `me/permissions/${permission}`);
    await io.request({ ...request, method: "DELETE", isIdempotent: true });
  }
}

const PageAnswer = z.looseObject({
  name: z.string().optional(),
  username: z.string().optional(),
  followers_count: z.int().min(0).optional(),
  is_published: z.boolean().optional(),
  picture: Page.shape.picture,
});

/** Who the Page is now, and whether something is in the way of posting. */
async function inspect(io: PlatformIo): Promise<Inspection> {
  const query = { fields: "name,username,is_published,picture{url}" };
  const page = await askPage(io, { path: pageOf(io), query }, PageAnswer);
  const hidden =
    page.is_published === false
      ? "The Page is not published, so people cannot see its posts. Publish it on Facebook."
      : null;
  return {
    ...(page.name === undefined ? {} : { name: page.name }),
    ...(page.username === undefined ? {} : { handle: page.username }),
    ...(page.picture === undefined ? {} : { avatarUrl: page.picture.data.url }),
    problem: hidden ?? (await readDataAccess(io)),
  };
}

/** It is asked with the app's own token, whose refusal says nothing of the Page's. */
function undescribed({ status }: PlatformResponse): PlatformFault | null {
  return status < 400 ? null : new PlatformFault("rejected", "Facebook did not describe the token.");
}

const Debug = z.looseObject({ data: z.looseObject({ data_access_expires_at: z.number().optional() }) });

/**
 * A Page's token has no end, but 90 days after the person was on Facebook's page last, an app sees and does
 * nothing more with it. Null while that is not so, or cannot be asked.
 */
async function readDataAccess(io: PlatformIo): Promise<string | null> {
  const app = `${io.setting("CLIENT_ID") ?? ""}|${io.setting("CLIENT_SECRET") ?? ""}`;
  try {
    const { data } = await io.ask(
      {
        method: "GET",
        url: `${graphBase(io)}/debug_token`,
        query: { access_token: app },
        sign: ({ pageToken }) => ({ query: { input_token: pageToken } }),
        classify: undescribed,
      },
      Debug,
    );
    const endsAt = (data.data_access_expires_at ?? 0) * 1_000;
    if (endsAt <= 0 || endsAt > io.now()) return null;
    return `Facebook's permission for the Page's data ended on ${toIso(endsAt)}. Reconnect the Page.`;
  } catch (error) {
    if (!(error instanceof PlatformFault)) throw error;
    io.log.warn({ err: error }, "a token was not described");
    return null;
  }
}

const PAGE_METRICS = ["followers", "views", "reach", "engagements"] as const;

/** What Pages are counted by since the impressions were taken away (June 2026). */
const DAILY = {
  page_media_view: "views",
  page_total_media_view_unique: "reach",
  page_post_engagements: "engagements",
} as const satisfies Readonly<Record<string, (typeof PAGE_METRICS)[number]>>;

/** So much one request covers. */
const MAX_DAYS = 90;

type Range = Parameters<NonNullable<Platform["analytics"]>>[0];

/** Followers as they are now, and what Facebook counts by the day (its days begin at midnight in California). */
const analytics: NonNullable<Platform["analytics"]> = async (range, io) => {
  const query = { fields: "followers_count" };
  const page = await askPage(io, { path: pageOf(io), query }, PageAnswer);
  const days = new Map<string, Record<string, number>>();
  for (const { since, until } of spansOf(range)) {
    const asked = { period: "day", since: since / 1_000, until: until / 1_000 };
    const read = await readInsights(io, { path: pageOf(io), metrics: Object.keys(DAILY), query: asked });
    for (const [name, ours] of Object.entries(DAILY))
      for (const { value, end_time: end } of read.get(name) ?? []) {
        // A value is that of the day which ends then.
        const date = dayBefore(end) ?? "";
        if (date >= range.from && date <= range.to) days.set(date, { ...days.get(date), [ours]: value });
      }
  }
  const series: AnalyticsDay[] = [...days].sort().map(([date, metrics]) => ({ date, metrics }));
  const sumOf = (name: string): Record<string, number> => {
    const values = series.flatMap(({ metrics }) => metrics[name] ?? []);
    return values.length === 0 ? {} : { [name]: values.reduce((sum, value) => sum + value, 0) };
  };
  return {
    totals: {
      ...(page.followers_count === undefined ? {} : { followers: page.followers_count }),
      ...sumOf("views"),
      ...sumOf("engagements"),
    },
    days: series,
    unavailable: [
      ...unreadable(io, ["views", "engagements"]),
      {
        metric: "reach",
        reason: "Facebook counts people by day. People who came on two days would count twice.",
      },
    ],
  };
};

/** Facebook's days end up to ten hours after ours. */
function spansOf({ from, to }: Range): { since: number; until: number }[] {
  const end = Date.parse(to) + 2 * DAY;
  const spans: { since: number; until: number }[] = [];
  for (let since = Date.parse(from); since < end; since += MAX_DAYS * DAY)
    spans.push({ since, until: Math.min(since + MAX_DAYS * DAY, end) });
  return spans;
}

const CAPABILITIES: StatedCapabilities = {
  media: { required: false, maxItems: MAX_PHOTOS, accepts: [IMAGES, FILMS] },
  caption: { maxLength: MAX_TEXT, unit: "characters" },
  scheduling: "platform",
  // Its own schedule ends at 30 days, and at 29 for reels. Below ten minutes nothing is made public ahead.
  leadMinutes: { min: 0, default: 0, max: (28 * DAY) / MINUTE },
  thumbnail: { set: true, replaceAfterPublish: true },
  editPublished: { fields: ["caption", "title"] },
  analytics: {
    account: [...PAGE_METRICS],
    post: ["views", "reach", "likes", "comments", "shares", "clicks"],
  },
  reconciles: "list",
  quotas: [{ name: "reels", max: 30, perMinutes: (24 * HOUR) / MINUTE, from: "rolling", scope: "account" }],
};

const STORY_CAPABILITIES: StatedCapabilities = {
  ...CAPABILITIES,
  media: { required: true, maxItems: 1, accepts: [STORY_IMAGES, STORY_FILMS] },
  scheduling: "none",
  thumbnail: { set: false, replaceAfterPublish: false },
  editPublished: { fields: [] },
  quotas: [],
};

function capabilitiesOf(_account: unknown, post: FacebookPost | null): StatedCapabilities {
  if (post?.metadata.story === true) return STORY_CAPABILITIES;
  return post === null || mayBeReel(post) ? CAPABILITIES : { ...CAPABILITIES, quotas: [] };
}

const STORY = "A story: Facebook shows it without a text, for a day.";

/** As far as a post tells without its media being looked at. */
function mayBeReel({ mediaUrl, metadata }: FacebookPost): boolean {
  if (metadata.kind !== undefined) return metadata.kind === "reel";
  return /\.(mp4|mov)([?#]|$)/i.test(mediaUrl);
}

export default definePlatform({
  name: "facebook",
  title: "Facebook",
  aliases: ["fb", "meta"],
  docs: "https://developers.facebook.com/documentation/pages-api/posts",
  baseUrl: GRAPH_HOST,
  capabilities: CAPABILITIES,
  capabilitiesOf,
  metadata: FacebookMetadata,
  settings: SETTINGS,
  gated: GATED,
  connect: [oauth, withPortfolios],
  check: checkPost,
  preview: ({ metadata }) => (metadata.story === true ? { body: null, note: STORY } : {}),
  inspect,
  publish,
  edit,
  setThumbnail,
  insights,
  analytics,
  remove,
});
