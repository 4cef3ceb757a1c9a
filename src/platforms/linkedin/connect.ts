import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import { DAY } from "../../domain/time.ts";
import type { OAuthIo, OAuthWay, RenewalIo, Secrets, Target, Tokens } from "../../ports/connect.ts";
import { askLinkedIn, urn } from "./api.ts";
import { Acls, ACLS_PATH } from "./live.ts";

const REVOKE_URL = "https://www.linkedin.com/oauth/v2/revoke";
const MEMBER_SCOPES = ["openid", "profile", "w_member_social"];
const PAGE_SCOPE = "w_organization_social";
const PAGE = 100;
const MAX_PAGES = 500;

const Person = z.looseObject({
  sub: z.string().min(1),
  name: z.string().catch(""),
  picture: z.string().catch(""),
});

/** The member, and each Page that they administer, as far as the permissions go. */
async function targets({ secrets, scopes }: Tokens, io: OAuthIo): Promise<readonly Target[]> {
  const token = secrets["accessToken"];
  const given = scopes ?? MEMBER_SCOPES;
  const person = given.includes("openid") ? [await readMember(token, given, io)] : [];
  return given.includes(PAGE_SCOPE) ? [...person, ...(await readPages(token, io))] : person;
}

async function readMember(token: string | undefined, given: readonly string[], io: OAuthIo): Promise<Target> {
  const { sub, name, picture } = await askLinkedIn(io, { path: "/v2/userinfo", kind: "read", token }, Person);
  return {
    platformAccountId: sub,
    name: name === "" ? "LinkedIn" : name,
    handle: null,
    profileUrl: null,
    avatarUrl: parseUrl(picture) === null ? null : picture,
    settings: { urn: `urn:li:person:${sub}` },
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

export const CONSENT: OAuthWay = {
  kind: "oauth",
  name: "oauth",
  label: "Sign in with LinkedIn",
  instructions: "Sign in to LinkedIn and allow Posthorn to post.",
  setup: {
    url: "https://www.linkedin.com/developers/apps",
    steps: [
      "Create an app in LinkedIn's developer portal; it must belong to a Page of yours.",
      "Under Products, add Share on LinkedIn and Sign In with LinkedIn using OpenID Connect.",
      "Under Auth, enter {redirectUrl} as an authorized redirect URL.",
      "Copy client id and primary client secret into POSTHORN_LINKEDIN_CLIENT_ID and POSTHORN_LINKEDIN_CLIENT_SECRET.",
      "For Pages, apply for the Community Management API, and set POSTHORN_LINKEDIN_SCOPES to openid profile w_member_social w_organization_social r_organization_social rw_organization_admin.",
    ],
    warnings: [
      "Posting as a member works at once. Pages need LinkedIn's approval of the Community Management API; their permissions asked for without it, LinkedIn refuses the whole consent.",
      "A permission lasts 60 days. Only apps that LinkedIn approved as a partner can renew it by themselves; all others must be reconnected, which the channel tells 7 days before.",
      "LinkedIn retires versions of its API after about a year: then set POSTHORN_LINKEDIN_API_VERSION to a newer one.",
      "LinkedIn lets a member's app post some 150 times a day, and shows it no numbers of members' posts but reactions and comments.",
    ],
  },
  endpoints: {
    authorize: "https://www.linkedin.com/oauth/v2/authorization",
    token: "https://www.linkedin.com/oauth/v2/accessToken",
    revoke: REVOKE_URL,
  },
  scopes: MEMBER_SCOPES,
  neededScopes: ["openid", "w_member_social"],
  scopeSeparator: " ",
  pkce: "none",
  clientAuth: "body",
  redirect: "any",
  instance: "no",
  renewal: { beforeMs: 7 * DAY, isSingleUse: false },
  revoke,
  targets,
};
