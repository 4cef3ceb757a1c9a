import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { OAuthIo, OAuthWay, SetupGuide, Target, Tokens } from "../../ports/connect.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { definePlatform, type Inspection } from "../../ports/platform.ts";
import { GOOGLE_CONSENT } from "../shared/google.ts";
import { pages } from "../shared/pages.ts";
import { askAs, askWith, nameOf, placeOf, SETTINGS } from "./api.ts";
import { ACCOUNT_METRICS, analytics, edit, insights, remove } from "./live.ts";
import { BusinessMetadata, checkPost, EDITABLE, MAX_SUMMARY } from "./metadata.ts";
import { IMAGE, publish } from "./publish.ts";

const SCOPES = ["https://www.googleapis.com/auth/business.manage"];

const GUIDE: SetupGuide = {
  url: "https://support.google.com/business/contact/api_default",
  needs: [
    "Google's approval of the project. It takes days and costs nothing. Before it, the quota is 0, and connecting fails too.",
    "A verified Business Profile that is at least 60 days old and that you manage.",
  ],
  steps: [
    "Make a project at https://console.cloud.google.com/projectcreate, or use YouTube's.",
    "As the manager of that profile, apply with the project's number for the Business Profile APIs.",
    'Once it is approved, enable under "APIs & Services", "Library": Google My Business API, My Business Account Management API, My Business Business Information API, Business Profile Performance API.',
    'Under "Google Auth Platform", set up the consent screen ("External").',
    "Under Data access, add the scope {scopes}",
    'Under Audience, press "Publish app".',
    'Under "Clients", create an OAuth client ("Web application") with the redirect URI {redirectUrl}',
    "Copy its id and secret into POSTHORN_GOOGLE_BUSINESS_CLIENT_ID and POSTHORN_GOOGLE_BUSINESS_CLIENT_SECRET. Without them, YouTube's app is used.",
  ],
  warnings: [
    'Permissions given while the app is in "Testing" end after 7 days.',
    "Google reviews each post before it shows it, and rejects posts with a phone number in their text.",
    "Google takes no videos. A live post keeps its picture.",
  ],
};

const Account = z.looseObject({ name: nameOf("accounts") });
const Accounts = z.looseObject({
  accounts: z.array(Account).default([]),
  nextPageToken: z.string().optional(),
});

const Address = z.looseObject({
  addressLines: z.array(z.string()).catch([]),
  locality: z.string().catch(""),
});
const Location = z.looseObject({
  name: nameOf("locations"),
  title: z.string().catch(""),
  languageCode: z.string().optional().catch(undefined),
  storefrontAddress: Address.optional().catch(undefined),
  metadata: z
    .looseObject({
      mapsUri: z.url({ protocol: /^https$/ }).catch(""),
      hasVoiceOfMerchant: z.boolean().catch(true),
    })
    .prefault({ mapsUri: "", hasVoiceOfMerchant: true }),
});
type Location = z.infer<typeof Location>;
const Locations = z.looseObject({
  locations: z.array(Location).default([]),
  nextPageToken: z.string().optional(),
});

const READ_MASK = "name,title,languageCode,storefrontAddress,metadata";

const MAX_PAGES = 50;

/** Each location of each account that the person manages, once. */
async function targets({ secrets }: Tokens, io: OAuthIo): Promise<readonly Target[]> {
  const accounts = pages(MAX_PAGES, async (pageToken) => {
    const call = { path: "v1/accounts", query: { pageSize: 20, pageToken }, secrets };
    const answer = await askWith(io, { host: "ACCOUNTS_URL", ...call }, Accounts);
    const { accounts: items, nextPageToken: next } = answer;
    return { items, next };
  });
  const found = new Map<string, Target>();
  for await (const { name: account } of accounts) {
    const path = `v1/${account}/locations`;
    const locations = pages(MAX_PAGES, async (pageToken) => {
      const query = { readMask: READ_MASK, pageSize: 100, pageToken };
      const call = { host: "LOCATIONS_URL", path, query, secrets } as const;
      const { locations: items, nextPageToken: next } = await askWith(io, call, Locations);
      return { items, next };
    });
    for await (const location of locations)
      if (!found.has(location.name)) found.set(location.name, toTarget(account, location));
  }
  if (found.size > 0) return [...found.values()];
  throw new AppError(
    "invalid",
    "This Google account manages no location. Make a Business Profile at https://business.google.com/create, or choose another account, and ask for a new link.",
  );
}

const UNVERIFIED =
  "Google has not verified this location, or has suspended it, and does not show its posts. Look at it in the Business Profile.";

function toTarget(account: string, location: Location): Target {
  const { name, languageCode, metadata } = location;
  return {
    platformAccountId: name,
    name: titleOf(location),
    handle: null,
    profileUrl: metadata.mapsUri === "" ? null : metadata.mapsUri,
    avatarUrl: null,
    settings: { account, location: name, ...(languageCode === undefined ? {} : { languageCode }) },
    secrets: {},
    ...(metadata.hasVoiceOfMerchant ? {} : { problem: UNVERIFIED }),
  };
}

/** With the street: the locations of a chain all have one title. */
function titleOf({ name, title, storefrontAddress }: Location): string {
  const { addressLines = [], locality = "" } = storefrontAddress ?? {};
  const where = [addressLines[0] ?? "", locality].filter((part) => part !== "").join(", ");
  const what = title === "" ? name : title;
  return where === "" ? what : `${what} (${where})`;
}

async function inspect(io: PlatformIo): Promise<Inspection> {
  const path = `v1/${placeOf(io).location}`;
  const location = await askAs(io, { host: "LOCATIONS_URL", path, query: { readMask: READ_MASK } }, Location);
  return { name: titleOf(location), problem: location.metadata.hasVoiceOfMerchant ? null : UNVERIFIED };
}

const OWN: OAuthWay = {
  ...GOOGLE_CONSENT,
  kind: "oauth",
  name: "oauth",
  label: "Sign in with Google",
  instructions: "Sign in to Google with an account that manages the locations, and allow it.",
  setup: GUIDE,
  scopes: SCOPES,
  neededScopes: SCOPES,
  targets,
};

/** The person's permissions are those of their YouTube channels too: they are not taken back with this one. */
const { revoke: _revoke, ...SHARED } = OWN;

const WAYS = [
  OWN,
  {
    ...SHARED,
    name: "youtube",
    label: "Sign in with Google, by YouTube's app",
    setup: null,
    appOf: "youtube",
    scopesPrefix: "YOUTUBE_",
  },
] as const satisfies readonly OAuthWay[];

export default definePlatform({
  name: "google_business",
  title: "Google Business Profile",
  aliases: ["google my business", "gmb"],
  docs: "https://developers.google.com/my-business/content/posts-data",
  capabilities: {
    media: { required: false, maxItems: 1, accepts: [IMAGE] },
    caption: { maxLength: MAX_SUMMARY, unit: "characters" },
    scheduling: "platform",
    // Google looks at posts when it gets them, and a refusal is told while there is time.
    leadMinutes: { min: 0, default: 60, max: 7 * 24 * 60 },
    editPublished: { fields: EDITABLE },
    analytics: { account: ACCOUNT_METRICS, post: [] },
    reconciles: "list",
    fetchesMedia: ["image"],
    quotas: [{ name: "changes", max: 10, perMinutes: 1, from: "rolling", scope: "account" }],
  },
  metadata: BusinessMetadata,
  settings: SETTINGS,
  connect: WAYS,
  check: checkPost,
  preview: ({ metadata }) => ({ link: metadata.redeemOnlineUrl ?? metadata.link ?? null }),
  inspect,
  publish,
  edit,
  insights,
  analytics,
  remove,
});
