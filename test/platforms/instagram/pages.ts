import { createHmac } from "node:crypto";
import { createMetaDoor, LISTED, refusal, type Answer, type Route } from "./meta-door.ts";
import { CLIENT } from "./meta-tokens.ts";

const HOST = "graph.facebook.com";
const text = { type: "string", required: true } as const;

const proofOf = (token: string): string => createHmac("sha256", CLIENT.secret).update(token).digest("hex");

/** What of Facebook's Graph API leads to the Instagram accounts of Pages. */
export function createPages({
  isLinked = true,
  isOfPortfolio = false,
  hasPages = true,
}: {
  readonly isLinked?: boolean;
  /** Told by its portfolio only. */
  readonly isOfPortfolio?: boolean;
  readonly hasPages?: boolean;
} = {}) {
  const all = [
    "instagram_basic",
    "instagram_content_publish",
    "instagram_manage_insights",
    "instagram_manage_comments",
    "instagram_manage_contents",
    "pages_show_list",
    "pages_read_engagement",
    "business_management",
  ];
  const state = { granted: all as readonly string[], consents: [] as URL[] };
  const tokensUsed: string[] = [];
  const ok = (body: object): Answer => ({ status: 200, body });
  const at = (
    path: string,
    { method = "GET", ...route }: Omit<Route, "method" | "host" | "path"> & Partial<Pick<Route, "method">>,
  ): Route => ({
    method,
    host: HOST,
    path: new RegExp(`^/v25\\.0/${path}$`),
    ...route,
    // The app demands the proof.
    params: route.isSigned ? { ...route.params, appsecret_proof: text } : route.params,
    handle: (call) =>
      route.isSigned && call.fields["appsecret_proof"] !== proofOf(call.token)
        ? refusal(100)
        : route.handle(call),
  });
  const account = { id: "17841400000000001", username: "linked", name: "Linked" };
  const page = {
    id: "2",
    access_token: "page-token-canary",
    ...(isLinked ? { instagram_business_account: account } : {}),
  };
  const mayWalk = (): boolean => state.granted.includes("business_management");
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
          data: !hasPages
            ? []
            : [
                { id: "1", access_token: "other-canary", tasks: ["CREATE_CONTENT"] },
                ...(isOfPortfolio ? [] : [{ ...page, tasks: ["CREATE_CONTENT", "MANAGE"] }]),
              ],
        }),
    }),
    at("me/businesses", {
      params: LISTED,
      isSigned: true,
      handle: () => (mayWalk() ? ok({ data: [{ id: "71" }] }) : refusal(200, null, 403)),
    }),
    at("71/(owned|client)_pages", {
      params: LISTED,
      isSigned: true,
      handle({ fields, ids }) {
        if (fields["fields"]?.includes("tasks") === true) return refusal(100);
        return ok({ data: isOfPortfolio && ids[0] === "owned" ? [page] : [] });
      },
    }),
    at("debug_token", {
      params: { input_token: text, access_token: text },
      isSigned: false,
      handle: ({ fields }) =>
        fields["access_token"] === `${CLIENT.id}|${CLIENT.secret}`
          ? ok({ data: { is_valid: true, granular_scopes: [{ scope: "pages_show_list" }] } })
          : refusal(190),
    }),
    at(account.id, {
      params: { fields: text },
      isSigned: true,
      handle({ token }) {
        tokensUsed.push(token);
        return ok(account);
      },
    }),
    at(`${account.id}/media`, {
      method: "POST",
      params: { image_url: text, caption: text },
      isSigned: true,
      handle: () => ok({ id: "900" }),
    }),
    at(`${account.id}/media_publish`, {
      method: "POST",
      params: { creation_id: text },
      isSigned: true,
      handle: ({ fields }) => (fields["creation_id"] === "900" ? ok({ id: "901" }) : refusal(100)),
    }),
    at("900", {
      params: { fields: text },
      isSigned: true,
      handle: () => ok({ id: "900", status_code: "FINISHED", status: "Finished" }),
    }),
    at("901", {
      params: { fields: text },
      isSigned: true,
      handle: () => ok({ id: "901", permalink: "https://www.instagram.com/p/901/" }),
    }),
    at(`${account.id}/content_publishing_limit`, {
      params: { fields: text },
      isSigned: true,
      handle: () => ok({ data: [{ quota_usage: 4, config: { quota_total: 50 } }] }),
    }),
  ];
  return {
    all,
    state,
    tokensUsed,
    door: createMetaDoor(routes, (token) => ["user-token-canary", "page-token-canary"].includes(token)),
    settings: { POSTHORN_FACEBOOK_CLIENT_ID: CLIENT.id, POSTHORN_FACEBOOK_CLIENT_SECRET: CLIENT.secret },
    consent:
      (granted: readonly string[]) =>
      (url: string): string => {
        const { origin, pathname, searchParams } = new URL(url);
        state.consents.push(new URL(url));
        if (`${origin}${pathname}` !== "https://www.facebook.com/v25.0/dialog/oauth") throw new Error(url);
        if (searchParams.get("client_id") !== CLIENT.id) throw new Error(url);
        state.granted = granted;
        return `${searchParams.get("redirect_uri")}?code=code-1&state=${searchParams.get("state")}#_=_`;
      },
  };
}
