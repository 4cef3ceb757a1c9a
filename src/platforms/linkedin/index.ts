import * as z from "zod";
import type { StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import { DAY } from "../../domain/time.ts";
import type {
  OAuthIo,
  OAuthWay,
  RenewalIo,
  Secrets,
  SetupGuide,
  Target,
  Tokens,
} from "../../ports/connect.ts";
import { plainMentions } from "../../domain/posts/mentions.ts";
import { definePlatform } from "../../ports/platform.ts";
import { askLinkedIn, LINKEDIN_API, type Member, readMember, urn, VERSION_MONTHS_AGO } from "./api.ts";
import {
  analytics,
  edit,
  insights,
  inspect,
  PAGE_METRICS,
  postMetricsOf,
  readRoles,
  remove,
  organizations,
} from "./live.ts";
import { IMAGE_LIMITS, MAX_DOCUMENT_BYTES, PAGE_LIMITS } from "./media.ts";
import {
  checkPost,
  hasMedia,
  isPage,
  LinkedInMetadata,
  MAX_IMAGES,
  MAX_DOCUMENT_PAGES,
  MAX_TEXT,
  MEMBER_SCOPES,
  PAGE_SCOPES,
} from "./metadata.ts";
import { ACCEPTED } from "../shared/media.ts";
import { publish } from "./publish.ts";
import { USUAL_CONSENT } from "../shared/consent.ts";

const PORTAL = "https://www.linkedin.com/developers/apps";

const SIXTY_DAYS =
  "A new sign-in every 60 days: only apps that LinkedIn approved as a partner can renew a permission by themselves. The channel says so 7 days before.";

const SHARED_WARNINGS = [
  "Posthorn asks for a version of LinkedIn's API that is some months old and moves on with the date. POSTHORN_LINKEDIN_API_VERSION sets a fixed one. LinkedIn retires each version after about a year.",
];

const PROFILE_GUIDE: SetupGuide = {
  url: PORTAL,
  needs: ["It costs nothing, and needs no review.", SIXTY_DAYS],
  steps: [
    "Open https://www.linkedin.com/developers/apps and press Create app.",
    "As the app's LinkedIn Page, choose one of yours, or LinkedIn's default Page for individual developers. Then press Create app.",
    "Where it is a Page of yours, open Settings and press Verify beside its name. LinkedIn makes an address.",
    "Open that address as a super admin of the Page, or send it to one, and press Verify there.",
    "Under Products, press Request access beside Share on LinkedIn.",
    "Under Products, press Request access beside Sign In with LinkedIn using OpenID Connect. Both are given at once.",
    "Under Auth, enter {redirectUrl} as an authorized redirect URL, and press Update.",
    "Under Auth, copy client id and primary client secret into POSTHORN_LINKEDIN_CLIENT_ID and POSTHORN_LINKEDIN_CLIENT_SECRET.",
  ],
  warnings: [
    "Such an app posts as members at once, without a review. LinkedIn lets it write no comments, so firstComment is refused. It also shows such an app no numbers of members' posts.",
    "LinkedIn lets a member's app post some 150 times a day.",
    ...SHARED_WARNINGS,
  ],
};

/** https://learn.microsoft.com/en-us/linkedin/marketing/community-management-app-review */
const PAGE_GUIDE: SetupGuide = {
  url: PORTAL,
  needs: [
    "A registered legal organization, and LinkedIn's review of its app. LinkedIn gives the Community Management API only for commercial use, and not to private persons.",
    SIXTY_DAYS,
  ],
  steps: [
    "Open https://www.linkedin.com/developers/apps and press Create app, for an app that is only for this. LinkedIn allows the Community Management API only as an app's only product, so an app with other products cannot get it.",
    "As the app's LinkedIn Page, choose the Page of your organization, and press Create app.",
    "Open Settings and press Verify beside the Page's name. LinkedIn makes an address.",
    "Open that address as a super admin of the Page, or send it to one, and press Verify there.",
    "Under Products, press Request access beside the Community Management API.",
    "Fill in the form: the organization's legal name, registered address, website and privacy policy, and a business e-mail address. LinkedIn reviews it.",
    "Under Auth, enter {redirectUrl} as an authorized redirect URL, and press Update.",
    "Under Auth, copy client id and primary client secret into POSTHORN_LINKEDIN_PAGE_CLIENT_ID and POSTHORN_LINKEDIN_PAGE_CLIENT_SECRET.",
    "Compare the scopes listed under Auth with these: {scopes}. Where one is missing there, set POSTHORN_LINKEDIN_PAGE_SCOPES to those that are listed, because LinkedIn refuses the whole consent for one that the app does not have.",
  ],
  warnings: [
    "The same consent connects the member too, with comments and numbers that an app for profiles does not get. LinkedIn knows a member by another id in each app, so a profile that was connected by the other app becomes a second channel.",
    ...SHARED_WARNINGS,
  ],
};

const REVOKE_URL = "https://www.linkedin.com/oauth/v2/revoke";

/** The member, and each Page that they have a role on, as far as the permissions go. */
const targetsOf =
  (asked: readonly string[]) =>
  async ({ secrets, scopes }: Tokens, io: OAuthIo): Promise<readonly Target[]> => {
    const given = scopes ?? asked;
    const member = await readMember(io, { isAllowed: (scope) => given.includes(scope), secrets });
    const administered = given.includes("w_organization_social") ? await readPages(secrets, io) : [];
    return [...(member === null ? [] : [toTarget(member, given)]), ...administered].map((target) => ({
      ...target,
      settings: { ...target.settings, scopes: [...given] },
    }));
  };

function toTarget({ id, name, picture, profileUrl }: Member, given: readonly string[]): Target {
  return {
    platformAccountId: id,
    name: name ?? "LinkedIn",
    handle: null,
    profileUrl,
    avatarUrl: picture,
    settings: { urn: `urn:li:person:${id}` },
    secrets: {},
    ...(given.includes("w_member_social")
      ? {}
      : { problem: "The permission w_member_social is missing, so nothing can be posted as this member." }),
  };
}

const Organizations = z.looseObject({
  results: z
    .record(
      z.string(),
      z.looseObject({ localizedName: z.string().catch(""), vanityName: z.string().catch("") }),
    )
    .catch({}),
});

async function readPages(secrets: Secrets, io: OAuthIo): Promise<Target[]> {
  const roles = await readRoles(io, secrets);
  const urns = [...roles.keys()];
  if (urns.length === 0) return [];
  const ids = urns.map((one) => one.split(":").at(-1) ?? "");
  const path = `/rest/organizations?ids=List(${ids.map(urn).join(",")})`;
  const { results } = await askLinkedIn(io, { path, kind: "read" }, Organizations, secrets);
  return ids.map((id, at) => {
    const { localizedName = "", vanityName = "" } = results[id] ?? {};
    return {
      platformAccountId: urns[at] ?? id,
      name: localizedName === "" ? `Page ${id}` : localizedName,
      handle: vanityName === "" ? null : vanityName,
      profileUrl: `https://www.linkedin.com/company/${vanityName === "" ? id : vanityName}/`,
      avatarUrl: null,
      settings: { urn: urns[at] ?? `urn:li:organization:${id}` },
      secrets: {},
      ...(roles.get(urns[at] ?? "") === true ? {} : { problem: NO_ROLE }),
    };
  });
}

const NO_ROLE =
  "You may not post as this Page. Ask one of its super admins to make you a super admin or a content admin.";

async function revoke(secrets: Secrets, io: RenewalIo): Promise<void> {
  const { clientId, clientSecret } = io.app;
  await io.request({
    method: "POST",
    url: io.setting("REVOKE_URL") ?? REVOKE_URL,
    form: { client_id: clientId, client_secret: clientSecret, token: secrets["accessToken"] },
  });
}

const SIGN_IN = {
  ...USUAL_CONSENT,
  endpoints: {
    authorize: "https://www.linkedin.com/oauth/v2/authorization",
    token: "https://www.linkedin.com/oauth/v2/accessToken",
    revoke: REVOKE_URL,
  },
  // Most apps get no token for themselves, and are told so only with the right secret.
  tryApp: { grant: "client_credentials" },
  renewal: { beforeMs: 7 * DAY, isSingleUse: false },
  revoke,
} as const satisfies Partial<OAuthWay>;

/** As the member, by an app that needs no review. */
const PROFILE: OAuthWay = {
  ...SIGN_IN,
  name: "oauth",
  label: "Sign in (profile)",
  instructions: "Sign in to LinkedIn and allow Posthorn to post.",
  setup: PROFILE_GUIDE,
  scopes: MEMBER_SCOPES,
  neededScopes: ["openid", "w_member_social"],
  targets: targetsOf(MEMBER_SCOPES),
};

/** As Pages, and as the member, by an app of its own that LinkedIn reviewed. */
const PAGES: OAuthWay = {
  ...SIGN_IN,
  name: "pages",
  label: "Pages (app with Community Management)",
  instructions:
    "Sign in to LinkedIn with a profile that is a super admin or a content admin of the Pages, allow everything that it asks for, and choose the Pages.",
  setup: PAGE_GUIDE,
  settingPrefix: "PAGE_",
  scopes: PAGE_SCOPES,
  neededScopes: ["w_organization_social", "rw_organization_admin"],
  targets: targetsOf(PAGE_SCOPES),
};

const WAYS = [PROFILE, PAGES] as const;

/** LinkedIn works on a picture for some seconds, and on a film for a minute or more. */
const LEAD_MINUTES = 3;

const CAPABILITIES = {
  media: {
    required: false,
    maxItems: MAX_IMAGES,
    accepts: [
      { kind: "image", ...IMAGE_LIMITS, maxItems: MAX_IMAGES },
      {
        kind: "video",
        mimeTypes: ["video/mp4"],
        // What every reading of LinkedIn's pages takes.
        videoCodecs: ["avc"],
        audioCodecs: ["aac"],
        minAspectRatio: 1 / 2.4,
        maxAspectRatio: 2.4,
        maxBytes: 500_000_000,
        minSeconds: 3,
        maxSeconds: 1_800,
        maxItems: 1,
      },
      {
        kind: "document",
        mimeTypes: ACCEPTED.document,
        maxBytes: MAX_DOCUMENT_BYTES,
        maxPages: MAX_DOCUMENT_PAGES,
        maxItems: 1,
      },
    ],
  },
  caption: { maxLength: MAX_TEXT, unit: "characters" },
  // Media go ahead, unseen until a post names them.
  scheduling: "prepare",
  leadMinutes: { min: 0, default: 0, max: 60 },
  thumbnail: { set: true, replaceAfterPublish: false },
  editPublished: { fields: ["caption"] },
  analytics: {
    account: [...PAGE_METRICS],
    post: ["impressions", "reach", "clicks", "likes", "comments", "shares"],
  },
  reconciles: "list",
  quotas: [{ name: "posts a day", max: 150, perMinutes: 1_440, from: "UTC", scope: "account" }],
} satisfies StatedCapabilities;

/** Pictures that become pages. */
const AS_DOCUMENT: StatedCapabilities["media"] = {
  required: false,
  maxItems: MAX_DOCUMENT_PAGES,
  accepts: [{ kind: "image", ...PAGE_LIMITS, maxItems: MAX_DOCUMENT_PAGES, animated: false }],
};

function boundInWords(count: number, title: string | undefined): string {
  const pages =
    count === 1 ? "The picture becomes a PDF of 1 page" : `The pictures become a PDF of ${count} pages`;
  return title === undefined ? `${pages}.` : `${pages} with the title "${title}".`;
}

export default definePlatform({
  name: "linkedin",
  title: "LinkedIn",
  aliases: ["linked in"],
  docs: "https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/posts-api",
  baseUrl: LINKEDIN_API,
  showsLinkCards: true,
  capabilities: CAPABILITIES,
  capabilitiesOf: (account, post) => ({
    ...CAPABILITIES,
    // What a poll asks cannot be changed, and its text may be its question.
    ...(post?.metadata.asDocument === true ? { media: AS_DOCUMENT } : {}),
    ...(post?.metadata.poll === undefined ? {} : { editPublished: { fields: [] } }),
    leadMinutes: { ...CAPABILITIES.leadMinutes, default: post !== null && hasMedia(post) ? LEAD_MINUTES : 0 },
    analytics: {
      account: isPage(account) ? CAPABILITIES.analytics.account : [],
      post: [...postMetricsOf(account)],
    },
  }),
  metadata: LinkedInMetadata,
  settings: [
    {
      name: "API_VERSION",
      meaning: `Version of the API, as YYYYMM. Default: the one from ${VERSION_MONTHS_AGO[0]} months ago`,
      kind: "text",
      default: null,
      isRequired: false,
    },
  ],
  connect: WAYS,
  check: checkPost,
  choices: { mention: organizations },
  // Its title is that of the link, the video or the document; a poll shows it as its question.
  preview: ({ mediaUrl, metadata: { title, poll, asDocument, moreMedia = [] } }) => ({
    title: poll === undefined ? null : (title ?? null),
    write: plainMentions,
    ...(asDocument === true && mediaUrl !== "" ? { note: boundInWords(moreMedia.length + 1, title) } : {}),
  }),
  inspect,
  publish,
  edit,
  insights,
  // LinkedIn counts by the day, and shows each app its own limit.
  results: { perMinute: 5 },
  analytics,
  remove,
});
