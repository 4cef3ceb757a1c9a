import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { ConnectIo, OAuthIo, OAuthWay, SetupGuide, Target, Tokens } from "../../ports/connect.ts";
import { listAll } from "../shared/meta/graph.ts";
import { Id } from "../../ports/platform-values.ts";
import {
  exchangeAt,
  exchangeAtFacebook,
  readShortLived,
  renewAtHost,
  type TokenHost,
} from "../shared/meta/tokens.ts";
import { facebookUrl, INSTAGRAM_HOST, instagramUrl } from "./api.ts";
import { classify } from "./faults.ts";

const LIMITS = [
  "Instagram takes posts of professional accounts alone (business or creator); an account is switched for free in the app under Settings, Account type.",
  "Accounts with a role in your Meta app (administrator, developer, Instagram tester) work at once. For those of other people Meta wants Advanced Access: App Review and the verification of your business.",
  "Instagram fetches media by their address: POSTHORN_PUBLIC_URL must be reachable from the internet.",
  "100 posts of an account in 24 hours, a carousel counting once; some accounts have fewer. The API costs nothing.",
];

const OWN_GUIDE: SetupGuide = {
  url: "https://developers.facebook.com/apps",
  steps: [
    "Create an app of the type Business and add the product Instagram.",
    "Open Instagram, API setup with Instagram login, and under Business login settings enter {redirectUrl} as an OAuth redirect URI.",
    "Add the permissions {scopes} under the app's use case.",
    "Under App roles, add each account as an Instagram tester and accept the invitation in Instagram under Settings, Website permissions.",
    "Put the Instagram app ID and the Instagram app secret of that page, which are not those of the Meta app, into POSTHORN_INSTAGRAM_CLIENT_ID and POSTHORN_INSTAGRAM_CLIENT_SECRET.",
  ],
  warnings: [
    ...LIMITS,
    "The access is renewed by itself every week; it ends 60 days after Posthorn was last running.",
  ],
};

const PAGE_GUIDE: SetupGuide = {
  url: "https://developers.facebook.com/apps",
  steps: [
    "Link the Instagram account to a Facebook Page that you manage: in the Page's settings, under Linked accounts.",
    "Create an app of the type Business and add Facebook Login, with {redirectUrl} as a valid OAuth redirect URI.",
    "Add the permissions of the way through Facebook, instagram_basic and instagram_content_publish among them, under the app's use case.",
    "Put App ID and App secret into POSTHORN_FACEBOOK_CLIENT_ID and POSTHORN_FACEBOOK_CLIENT_SECRET; the channels of facebook use the same.",
  ],
  warnings: LIMITS,
};

const HOST: TokenHost = {
  title: "Instagram",
  prefix: "ig",
  base: (io) => io.setting("BASE_URL") ?? INSTAGRAM_HOST,
};

const Me = z.looseObject({
  user_id: Id,
  username: z.string(),
  name: z.string().optional(),
  account_type: z.string().optional(),
  profile_picture_url: z.string().optional(),
});

/** https://developers.facebook.com/docs/instagram-platform/instagram-api-with-instagram-login/business-login */
export const instagramLogin: OAuthWay = {
  kind: "oauth",
  name: "instagram",
  label: "Sign in with Instagram",
  instructions: "Sign in to Instagram with the professional account and allow all that is asked for.",
  setup: OWN_GUIDE,
  endpoints: {
    authorize: "https://www.instagram.com/oauth/authorize",
    token: "https://api.instagram.com/oauth/access_token",
  },
  scopes: [
    "instagram_business_basic",
    "instagram_business_content_publish",
    "instagram_business_manage_insights",
    "instagram_business_manage_comments",
  ],
  neededScopes: ["instagram_business_basic", "instagram_business_content_publish"],
  scopeSeparator: ",",
  pkce: "none",
  clientAuth: "body",
  redirect: "https",
  instance: "no",
  readTokens: readShortLived,
  lengthen: exchangeAt(HOST),
  renewal: renewAtHost(HOST),
  async targets({ secrets }, io) {
    const query = { fields: "user_id,username,name,account_type,profile_picture_url" };
    const headers = { authorization: `Bearer ${secrets["accessToken"]}` };
    const url = `${instagramUrl(io)}/me`;
    const { user_id: id, ...me } = await io.ask({ method: "GET", url, query, headers, classify }, Me);
    const isPersonal = me.account_type === "PERSONAL";
    return [
      toTarget(
        { ...me, id },
        { settings: { login: "instagram" }, secrets: {}, problem: isPersonal ? PERSONAL : null },
      ),
    ];
  },
};

const PERSONAL =
  "This is a personal account, which Instagram lets no program post to. Switch it to a professional one in the app.";
const NO_TASK = "You may not create content on the account's Page.";

const PageAccount = z.looseObject({
  id: Id,
  username: z.string(),
  name: z.string().optional(),
  profile_picture_url: z.string().optional(),
});

const Page = z.looseObject({
  id: Id,
  access_token: z.string().optional(),
  tasks: z.array(z.string()).optional(),
  instagram_business_account: PageAccount.optional(),
});

/** https://developers.facebook.com/docs/instagram-platform/instagram-api-with-facebook-login */
export const facebookLogin: OAuthWay = {
  kind: "oauth",
  name: "facebook",
  label: "Through a Facebook Page",
  instructions:
    "Sign in to Facebook and allow all that is asked for, for the Pages that the accounts are linked to.",
  setup: PAGE_GUIDE,
  appOf: "facebook",
  endpoints: (io) => {
    const config = io.setting("LOGIN_CONFIG_ID", "facebook");
    const version = facebookUrl(io).split("/").at(-1);
    const dialog = `https://www.facebook.com/${version}/dialog/oauth`;
    return {
      authorize: config === null ? dialog : `${dialog}?config_id=${encodeURIComponent(config)}`,
      token: `${facebookUrl(io)}/oauth/access_token`,
    };
  },
  scopes: [
    "instagram_basic",
    "instagram_content_publish",
    "instagram_manage_insights",
    "instagram_manage_comments",
    "pages_show_list",
    "pages_read_engagement",
  ],
  scopeSeparator: ",",
  pkce: "none",
  clientAuth: "body",
  tokenMethod: "GET",
  redirect: "any",
  instance: "no",
  // A Page's token, made from a long-lived one, has no end.
  lengthen: async (tokens, io) => ({
    ...(await exchangeAtFacebook(tokens, io, facebookUrl(io))),
    expiresAt: null,
  }),
  // The person's permissions are those of their Facebook channels too: they are not taken back with this one.
  renewal: null,
  targets: findPages,
};

async function findPages({ secrets }: Tokens, io: OAuthIo): Promise<Target[]> {
  await assertAllowed(secrets, io);
  const fields = "id,access_token,tasks,instagram_business_account{id,username,name,profile_picture_url}";
  const pages = await listAll(io, facebookGet(io, secrets, "me/accounts", fields), Page);
  const targets = pages.flatMap(
    ({ id, access_token: pageToken, tasks, instagram_business_account: account }) => {
      if (account === undefined) return [];
      const mayPost = pageToken !== undefined && (tasks === undefined || tasks.includes("CREATE_CONTENT"));
      return toTarget(account, {
        settings: { login: "facebook", pageId: id },
        secrets: { pageToken: pageToken ?? "" },
        problem: mayPost ? null : NO_TASK,
      });
    },
  );
  if (targets.length > 0) return targets;
  throw new AppError(
    "invalid",
    "None of the Pages that were allowed has a professional Instagram account. Link one in the Page's settings, or connect it by Instagram itself.",
  );
}

const Permission = z.looseObject({ permission: z.string(), status: z.string() });
const NEEDED = ["instagram_basic", "instagram_content_publish", "pages_show_list"];

/** People may untick permissions, and the answer with the token does not say which. */
async function assertAllowed(secrets: Tokens["secrets"], io: OAuthIo): Promise<void> {
  const all = await listAll(io, facebookGet(io, secrets, "me/permissions"), Permission, { perPage: 100 });
  const granted = all.filter(({ status }) => status === "granted").map(({ permission }) => permission);
  const missing = NEEDED.filter((scope) => !granted.includes(scope));
  if (missing.length === 0) return;
  throw new AppError(
    "invalid",
    `Instagram was not connected: these permissions are missing: ${missing.join(", ")}. ` +
      `Start again with connect_channel and leave all of them ticked.`,
  );
}

function facebookGet(io: ConnectIo, secrets: Tokens["secrets"], path: string, fields?: string) {
  const headers = { authorization: `Bearer ${secrets["accessToken"]}` };
  const query = fields === undefined ? {} : { fields };
  return { method: "GET", url: `${facebookUrl(io)}/${path}`, query, headers, classify } as const;
}

function toTarget(
  { id, username, name, profile_picture_url: avatar }: z.infer<typeof PageAccount>,
  { problem, ...rest }: Pick<Target, "settings" | "secrets"> & { readonly problem: string | null },
): Target {
  return {
    platformAccountId: id,
    name: name === undefined || name === "" ? username : name,
    handle: username,
    profileUrl: `https://www.instagram.com/${encodeURIComponent(username)}/`,
    avatarUrl: avatar ?? null,
    ...rest,
    ...(problem === null ? {} : { problem }),
  };
}
