import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { OAuthIo, OAuthWay, RenewalIo, Secrets, Target, Tokens } from "../../ports/connect.ts";
import type { PlatformSetting } from "../../domain/accounts/platform-settings.ts";
import { GRAPH_VERSION, listAll, VERSION_SETTING } from "../shared/meta/graph.ts";
import { Id } from "../../ports/platform-values.ts";
import { exchangeAtFacebook } from "../shared/meta/tokens.ts";
import { facebookFaults } from "./faults.ts";
import { GRAPH_HOST, graphBase, proofOf, VIDEO_HOST } from "./graph.ts";
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
  { ...address, name: "VIDEO_URL", meaning: "Where films are published", default: VIDEO_HOST },
  {
    ...address,
    name: "UPLOAD_URL",
    meaning: "Where reels are sent, in the place of this host",
    default: "https://rupload.facebook.com",
  },
  VERSION_SETTING,
  {
    name: "LOGIN_CONFIG_ID",
    meaning: "Configuration of Facebook Login for Business, which stands for the permissions",
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
  scopes: [...NEEDED, "read_insights", "pages_manage_engagement"],
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

const Permission = z.looseObject({ permission: z.string(), status: z.string() });

/** A token of 60 days for that of an hour; the answer of the code does not tell what was allowed. */
async function lengthen(tokens: Tokens, io: OAuthIo): Promise<Tokens> {
  const long = await exchangeAtFacebook(tokens, io, graphBase(io));
  const all = await listAll(io, asPerson(io, long.secrets, "me/permissions"), Permission, { perPage: 100 });
  const scopes = all.filter(({ status }) => status === "granted").map(({ permission }) => permission);
  const missing = NEEDED.filter((scope) => !scopes.includes(scope));
  if (missing.length === 0) return { ...long, scopes };
  throw new AppError(
    "invalid",
    `Facebook was not connected: these permissions are missing: ${missing.join(", ")}. ` +
      "Start again with connect_channel and leave all of them ticked.",
  );
}

function asPerson(io: Pick<OAuthIo, "setting">, { accessToken = "" }: Secrets, path: string) {
  return {
    method: "GET",
    url: `${graphBase(io)}/${path}`,
    headers: { authorization: `Bearer ${accessToken}` },
    query: { ...proofOf(io, accessToken) },
    classify: facebookFaults,
  } as const;
}

const Page = z.looseObject({
  id: Id,
  name: z.string().catch(""),
  username: z.string().optional(),
  access_token: z.string().optional(),
  tasks: z.array(z.string()).optional(),
  picture: z
    .looseObject({ data: z.looseObject({ url: z.url() }) })
    .optional()
    .catch(undefined),
});

/** All Pages that the person chose, each with a token of its own. */
async function targets({ secrets }: Tokens, io: OAuthIo): Promise<readonly Target[]> {
  const request = asPerson(io, secrets, "me/accounts");
  const query = { ...request.query, fields: "id,name,username,access_token,tasks,picture{url}" };
  const pages = await listAll(io, { ...request, query }, Page, { perPage: 100 });
  return pages.map((page) => {
    const { id, name, username, access_token: pageToken = "", tasks, picture } = page;
    const isBarred = pageToken === "" || tasks?.includes("CREATE_CONTENT") === false;
    return {
      platformAccountId: id,
      name,
      handle: username ?? null,
      profileUrl: `${DIALOG_HOST}/${encodeURIComponent(username ?? id)}`,
      avatarUrl: picture?.data.url ?? null,
      settings: {},
      secrets: isBarred ? {} : { pageToken },
      ...(isBarred
        ? {
            problem: "You may not create content on this Page. Ask one of its admins for the right to do so.",
          }
        : {}),
    };
  });
}

/** Not all permissions: Instagram's channels of the same person may need the others. */
const GIVEN_BACK = ["pages_manage_posts", "pages_manage_engagement", "read_insights"];

async function revoke(secrets: Secrets, io: RenewalIo): Promise<void> {
  for (const permission of GIVEN_BACK) {
    const request = asPerson(io, secrets, `me/permissions/${permission}`);
    await io.request({ ...request, method: "DELETE", isIdempotent: true });
  }
}
