import { createMetaDoor, LISTED, refusal, type Answer, type Route } from "./meta-door.ts";
import { CLIENT } from "./meta-tokens.ts";

const HOST = "graph.facebook.com";
const text = { type: "string", required: true } as const;

/** What of Facebook's Graph API leads to the Instagram accounts of Pages. */
export function createPages({ isLinked = true }: { readonly isLinked?: boolean } = {}) {
  const all = [
    "instagram_basic",
    "instagram_content_publish",
    "instagram_manage_insights",
    "instagram_manage_comments",
    "pages_show_list",
    "pages_read_engagement",
  ];
  const state = { granted: all as readonly string[] };
  const tokensUsed: string[] = [];
  const ok = (body: object): Answer => ({ status: 200, body });
  const at = (path: string, route: Omit<Route, "method" | "host" | "path">): Route => ({
    method: "GET",
    host: HOST,
    path: new RegExp(`^/v25\\.0/${path}$`),
    ...route,
  });
  const account = { id: "17841400000000001", username: "linked", name: "Linked" };
  const routes: Route[] = [
    at("oauth/access_token", {
      params: {
        client_id: text,
        client_secret: text,
        grant_type: text,
        redirect_uri: { type: "string" },
        code: { type: "string" },
        fb_exchange_token: { type: "string" },
      },
      isSigned: false,
      handle({ fields }) {
        if (fields["client_secret"] !== CLIENT.secret) return refusal(101);
        if (fields["grant_type"] === "authorization_code")
          return fields["code"] === "code-1"
            ? ok({ access_token: "short-canary", token_type: "bearer", expires_in: 5_000 })
            : refusal(100, 36_009);
        return fields["fb_exchange_token"] === "short-canary"
          ? ok({ access_token: "user-token-canary", token_type: "bearer", expires_in: 5_183_944 })
          : refusal(190);
      },
    }),
    at("me/permissions", {
      params: LISTED,
      isSigned: true,
      handle: () =>
        ok({
          data: all.map((permission) => ({
            permission,
            status: state.granted.includes(permission) ? "granted" : "declined",
          })),
        }),
    }),
    at("me/accounts", {
      params: LISTED,
      isSigned: true,
      handle: () =>
        ok({
          data: [
            { id: "1", access_token: "other-canary", tasks: ["CREATE_CONTENT"] },
            {
              id: "2",
              access_token: "page-token-canary",
              tasks: ["CREATE_CONTENT", "MANAGE"],
              ...(isLinked ? { instagram_business_account: account } : {}),
            },
          ],
        }),
    }),
    at(account.id, {
      params: { fields: text },
      isSigned: true,
      handle({ token }) {
        tokensUsed.push(token);
        return ok(account);
      },
    }),
    at(`${account.id}/content_publishing_limit`, {
      params: { fields: text },
      isSigned: true,
      handle: () => ok({ data: [{ quota_usage: 4, config: { quota_total: 50 } }] }),
    }),
  ];
  return {
    all,
    tokensUsed,
    door: createMetaDoor(routes, (token) => ["user-token-canary", "page-token-canary"].includes(token)),
    settings: { POSTHORN_FACEBOOK_CLIENT_ID: CLIENT.id, POSTHORN_FACEBOOK_CLIENT_SECRET: CLIENT.secret },
    consent:
      (granted: readonly string[]) =>
      (url: string): string => {
        const { origin, pathname, searchParams } = new URL(url);
        if (`${origin}${pathname}` !== "https://www.facebook.com/v25.0/dialog/oauth") throw new Error(url);
        if (searchParams.get("client_id") !== CLIENT.id) throw new Error(url);
        state.granted = granted;
        return `${searchParams.get("redirect_uri")}?code=code-1&state=${searchParams.get("state")}#_=_`;
      },
  };
}
