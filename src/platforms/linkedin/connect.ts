import * as z from "zod";
import { DAY } from "../../domain/time.ts";
import type { OAuthIo, OAuthWay, RenewalIo, Secrets, Target, Tokens } from "../../ports/connect.ts";
import { askLinkedIn, urn } from "./api.ts";
import { Acls, ACLS_PATH } from "./inspect.ts";
import { readMember, type Member } from "./member.ts";
import { PAGE_GUIDE, PROFILE_GUIDE } from "./guide.ts";
import { MEMBER_SCOPES, PAGE_SCOPES } from "./scopes.ts";

const REVOKE_URL = "https://www.linkedin.com/oauth/v2/revoke";
const PAGE = 100;
const MAX_PAGES = 500;

/** The member, and each Page that they administer, as far as the permissions go. */
const targetsOf =
  (asked: readonly string[]) =>
  async ({ secrets, scopes }: Tokens, io: OAuthIo): Promise<readonly Target[]> => {
    const given = scopes ?? asked;
    const token = secrets["accessToken"];
    const member = await readMember(io, { isAllowed: (scope) => given.includes(scope), token });
    const pages = given.includes("w_organization_social") ? await readPages(token, io) : [];
    return [...(member === null ? [] : [toTarget(member, given)]), ...pages].map((target) => ({
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

async function readPages(token: string | undefined, io: OAuthIo): Promise<Target[]> {
  const urns: string[] = [];
  for (let start = 0; start < MAX_PAGES; start += PAGE) {
    const path = `${ACLS_PATH}&count=${PAGE}&start=${start}`;
    const { elements } = await askLinkedIn(io, { path, kind: "read", token }, Acls);
    urns.push(...elements.map(({ organization }) => organization));
    if (elements.length < PAGE) break;
  }
  if (urns.length === 0) return [];
  const ids = urns.map((one) => one.split(":").at(-1) ?? "");
  const path = `/rest/organizations?ids=List(${ids.map(urn).join(",")})`;
  const { results } = await askLinkedIn(io, { path, kind: "read", token }, Organizations);
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
    };
  });
}

async function revoke(secrets: Secrets, io: RenewalIo): Promise<void> {
  const { clientId, clientSecret } = io.app;
  await io.request({
    method: "POST",
    url: io.setting("REVOKE_URL") ?? REVOKE_URL,
    form: { client_id: clientId, client_secret: clientSecret, token: secrets["accessToken"] },
  });
}

const SIGN_IN = {
  kind: "oauth",
  endpoints: {
    authorize: "https://www.linkedin.com/oauth/v2/authorization",
    token: "https://www.linkedin.com/oauth/v2/accessToken",
    revoke: REVOKE_URL,
  },
  scopeSeparator: " ",
  pkce: "none",
  clientAuth: "body",
  redirect: "any",
  instance: "no",
  renewal: { beforeMs: 7 * DAY, isSingleUse: false },
  revoke,
} as const satisfies Partial<OAuthWay>;

/** As the member, by an app that anybody can make. */
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
    "Sign in to LinkedIn with a profile that administers the Pages, allow everything that it asks for, and choose the Pages.",
  setup: PAGE_GUIDE,
  settingPrefix: "PAGE_",
  scopes: PAGE_SCOPES,
  neededScopes: ["w_organization_social", "rw_organization_admin"],
  targets: targetsOf(PAGE_SCOPES),
};

export const WAYS = [PROFILE, PAGES] as const;
