import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { OAuthIo, OAuthWay, SetupGuide, Target, Tokens } from "../../ports/connect.ts";
import { Id } from "../../ports/platform-values.ts";
import {
  exchangeAtFacebook,
  FACEBOOK_SIGN_IN,
  facebookUrl,
  findPages,
  noPages,
  PageEntry,
  PORTFOLIO_SCOPE,
  portfolioHint,
  readGranted,
  signInAt,
  type TokenHost,
} from "../shared/meta/accounts.ts";
import { askingMore, MORE } from "../shared/consent.ts";
import { askWith, classify, INSTAGRAM_HOST, instagramUrl } from "./api.ts";

const DELETE_SCOPE = "instagram_manage_contents";

const LIMITS = [
  "Instagram takes posts only from professional accounts (business or creator). Switching is free, in the app under Settings, Account type.",
  "Accounts with a role in your Meta app (administrator, developer, Instagram tester) work at once. For other people's accounts Meta asks for Advanced Access: App Review and the verification of your business.",
  "An account may make 100 posts in 24 hours. A carousel counts once. Some accounts may make fewer. The API costs nothing.",
];

const NEEDS = [
  "A professional account (business or creator). Any account can be switched to one, for free.",
  "About an hour at Meta, in this order: an app, the permissions of its use case, a role in the app for each account, and the invitation accepted. It costs nothing, and needs no review for accounts of your own.",
];

const OWN_GUIDE: SetupGuide = {
  url: "https://developers.facebook.com/apps",
  needs: NEEDS,
  steps: [
    "Open https://developers.facebook.com/apps and press Create app. A person who was never there first confirms their account as a developer.",
    "Give the app a name and your address, and press Next.",
    'As the use case, tick "Manage messaging & content on Instagram", and press Next. Where Meta asks for a type of app, choose Business.',
    'As the business portfolio, choose "I don\'t want to connect a business portfolio yet", and press Next.',
    "Press Create app.",
    "Open Use cases, press Customize beside the use case, and choose API setup with Instagram login.",
    "Under Permissions, press Add beside each of these: {scopes}",
    "Under Business login settings, enter {redirectUrl} as an OAuth redirect URI, and press Save.",
    "Under App roles, Roles, press Add people, choose Instagram Tester, and enter the account's user name.",
    "Accept the invitation as that account: at https://www.instagram.com/accounts/manage_access/ under Tester invites.",
    "From API setup with Instagram login, copy the Instagram app ID and the Instagram app secret (not those of the Meta app) into POSTHORN_INSTAGRAM_CLIENT_ID and POSTHORN_INSTAGRAM_CLIENT_SECRET.",
  ],
  warnings: [
    ...LIMITS,
    "Where Instagram says that a scope is not valid, the app lacks the permissions that it names. Add them to the app, or name the others in POSTHORN_INSTAGRAM_SCOPES.",
    "Posthorn renews the access every week. It ends 60 days after Posthorn last ran.",
  ],
};

const PAGE_GUIDE: SetupGuide = {
  url: "https://developers.facebook.com/apps",
  needs: NEEDS,
  steps: [
    "Link the Instagram account to a Facebook Page that you manage: in the Page's settings, under Linked accounts.",
    "Open https://developers.facebook.com/apps and press Create app. A person who was never there first confirms their account as a developer.",
    'As the use case, tick "Manage everything on your Page". An app that Facebook channels use has it already.',
    'Open Use cases, press Add use cases, and add "Manage messaging & content on Instagram", with API setup with Facebook login.',
    "Under Permissions of the two use cases, press Add beside each of these: {scopes}",
    'Open Facebook Login, Settings, enter {redirectUrl} under "Valid OAuth Redirect URIs", and press Save changes.',
    "Under App roles, Roles, press Add people for each other person who is to connect an account. They accept at https://developers.facebook.com/requests.",
    "Under App settings, Basic, copy App ID and App secret into POSTHORN_FACEBOOK_CLIENT_ID and POSTHORN_FACEBOOK_CLIENT_SECRET. Facebook channels use the same.",
    "Only where the app has Facebook Login for Business instead of Facebook Login, make a configuration there with these permissions and a user access token, and enter its id in POSTHORN_FACEBOOK_LOGIN_CONFIG_ID. Where Facebook channels use it too, it needs their permissions as well.",
  ],
  warnings: [
    ...LIMITS,
    "Where Facebook says Invalid Scopes, the app lacks the permissions that it names. Add them to the app, or name the others in POSTHORN_INSTAGRAM_PAGE_SCOPES.",
    "Through a Page, videos need no public address: Posthorn sends those that Instagram cannot fetch. Through Instagram itself that is not offered.",
    `To delete live posts, and to find Pages of business portfolios (such as those of firms and agencies), connect by the way "${MORE}".`,
  ],
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
  ...signInAt(HOST),
  name: "instagram",
  label: "Sign in with Instagram",
  instructions: "Sign in to Instagram with the professional account and allow everything that it asks for.",
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
  async targets({ secrets }, io) {
    const query = { fields: "user_id,username,name,account_type,profile_picture_url" };
    const { user_id: id, ...me } = await askWith(
      io,
      { server: instagramUrl(io), secrets },
      { path: "me", query },
      Me,
    );
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
  "This is a personal account. Instagram lets no program post to it. Switch it to a professional account in the app.";
const NO_TASK =
  "You may not create content on the account's Page. Choose the Page when Facebook asks, and let one of its admins give you the right to do so.";

const PageAccount = z.looseObject({
  id: Id,
  username: z.string(),
  name: z.string().optional(),
  profile_picture_url: z.string().optional(),
});

const Page = PageEntry.extend({ instagram_business_account: PageAccount.optional() });

/** https://developers.facebook.com/docs/instagram-platform/instagram-api-with-facebook-login */
export const facebookLogin: OAuthWay = {
  ...FACEBOOK_SIGN_IN,
  name: "facebook",
  label: "Through a Facebook Page",
  instructions:
    "Sign in to Facebook and allow everything that it asks for, for the Pages that the accounts are linked to.",
  setup: PAGE_GUIDE,
  appOf: "facebook",
  scopes: [
    "instagram_basic",
    "instagram_content_publish",
    "instagram_manage_insights",
    "instagram_manage_comments",
    "pages_show_list",
    "pages_read_engagement",
  ],
  scopesPrefix: "PAGE_",
  // A Page's token, made from a long-lived one, has no end.
  lengthen: async (tokens, io) => {
    const long = await exchangeAtFacebook(tokens, io);
    const scopes = await readGranted(personOf(long, io), { title: "Instagram", needed: NEEDED });
    return { ...long, expiresAt: null, scopes };
  },
  // The person's permissions are those of their Facebook channels too: they are not taken back with this one.
  renewal: null,
  targets: findLinked,
};

/** Live posts are deleted, and Pages of business portfolios are looked through, only where a person wants that. */
export const facebookLoginWithMore = askingMore(facebookLogin, {
  appOf: "facebook",
  label: "deleting and business portfolios",
  scopes: [DELETE_SCOPE, PORTFOLIO_SCOPE],
});

const NEEDED = ["instagram_basic", "instagram_content_publish", "pages_show_list"];

function personOf({ secrets }: Pick<Tokens, "secrets">, io: OAuthIo) {
  return { io, accessToken: secrets["accessToken"] ?? "", base: facebookUrl(io), classify };
}

async function findLinked(tokens: Tokens, io: OAuthIo): Promise<Target[]> {
  const granted = tokens.scopes ?? [];
  const pages = await findPages(personOf(tokens, io), {
    entry: Page,
    fields: "instagram_business_account{id,username,name,profile_picture_url}",
    granted,
  });
  if (pages.length === 0) throw noPages(granted);
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
    "None of the Pages that Facebook listed shows a professional Instagram account. Link one in the Page's settings, or connect it through Instagram itself." +
      portfolioHint(granted),
  );
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
