import * as z from "zod";
import type { OAuthIo, OAuthWay, RenewalIo, Secrets, Target, Tokens } from "../../ports/connect.ts";
import type { PlatformSetting } from "../../domain/accounts/platform-settings.ts";
import { GRAPH_VERSION, VERSION_SETTING } from "../shared/meta/graph.ts";
import {
  asPerson,
  findPages,
  noPages,
  PageEntry,
  PORTFOLIO_SCOPE,
  readGranted,
  type Person,
} from "../shared/meta/pages.ts";
import { exchangeAtFacebook } from "../shared/meta/tokens.ts";
import { facebookFaults } from "./faults.ts";
import { GRAPH_HOST, graphBase } from "./graph.ts";
import { SETUP } from "./guide.ts";

const DIALOG_HOST = "https://www.facebook.com";
const NEEDED = ["pages_show_list", "pages_read_engagement", "pages_manage_posts"] as const;

const address = { kind: "address", isRequired: false } as const;

export const SETTINGS: readonly PlatformSetting[] = [
  {
    ...address,
    name: "AUTH_URL",
    meaning: "Where people are asked for their consent",
    default: `${DIALOG_HOST}/${GRAPH_VERSION}/dialog/oauth`,
  },
  {
    ...address,
    name: "TOKEN_URL",
    meaning: "Where tokens are got",
    default: `${GRAPH_HOST}/${GRAPH_VERSION}/oauth/access_token`,
  },
  {
    ...address,
    name: "BASE_URL",
    meaning: "Where the Graph API is, without its version",
    default: GRAPH_HOST,
  },
  {
    ...address,
    name: "VIDEO_URL",
    meaning: "Where films are published, without the version",
    default: GRAPH_HOST,
  },
  {
    ...address,
    name: "UPLOAD_URL",
    meaning: "Where reels are sent, instead of this host",
    default: "https://rupload.facebook.com",
  },
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

export const oauth: OAuthWay = {
  kind: "oauth",
  name: "oauth",
  label: "Sign in with Facebook",
  instructions:
    "Sign in to Facebook with an account that may create content on the Page, choose the Pages, and leave all permissions ticked.",
  setup: SETUP,
  // Functions of a setting: its version stands in all of Meta's addresses.
  endpoints: (io) => ({
    authorize: `${DIALOG_HOST}/${versionOf(io)}/dialog/oauth`,
    token: `${GRAPH_HOST}/${versionOf(io)}/oauth/access_token`,
  }),
  scopes: [...NEEDED, "read_insights", "pages_manage_engagement", PORTFOLIO_SCOPE],
  scopeSeparator: ",",
  pkce: "none",
  clientAuth: "body",
  tokenMethod: "GET",
  authorizeParams: (io) => {
    const config = io.setting("LOGIN_CONFIG_ID");
    return config === null ? {} : { scope: null, config_id: config };
  },
  redirect: "any",
  instance: "no",
  lengthen,
  // There is none: the person comes back, while the Pages' own tokens have no end.
  renewal: null,
  revoke,
  targets,
};

function versionOf(io: Parameters<typeof graphBase>[0]): string {
  return io.setting("API_VERSION") ?? GRAPH_VERSION;
}

/** A token of 60 days for that of an hour, and what was allowed. */
async function lengthen(tokens: Tokens, io: OAuthIo): Promise<Tokens> {
  const long = await exchangeAtFacebook(tokens, io, graphBase(io));
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
