import { createHmac } from "node:crypto";
import { describedBy } from "../../support/described.ts";
import { createMetaDoor, refusal, type Answer, type Call, type Part } from "./meta-door.ts";
import { CLIENT } from "./meta-tokens.ts";

const HOST = "https://graph.facebook.com/v25.0";
const ACCOUNT = { id: "17841400000000001", username: "linked", name: "Linked" };

const text = { type: "string" };
/** The app demands the proof. */
const PROOF = { appsecret_proof: text };
const list = {
  query: { fields: text, limit: { type: "integer" }, after: text, ...PROOF },
  required: ["appsecret_proof"],
};
const node = { ...list, required: ["appsecret_proof", "fields"] };
const form = (properties: object) => ({
  fields: {
    ...{ type: "object", properties: { ...properties, ...PROOF }, additionalProperties: false },
    required: Object.keys({ ...properties, ...PROOF }),
  },
});
const login = {
  ...{ client_id: text, client_secret: text, grant_type: text },
  ...{ redirect_uri: text, code: text, fb_exchange_token: text },
};

const read = describedBy({
  source: "https://developers.facebook.com/docs/instagram-platform, Facebook's login",
  ids: { account: ACCOUNT.id, kind: "owned|client" },
  operations: {
    "GET /oauth/access_token": { query: login, required: ["client_id", "client_secret", "grant_type"] },
    "GET /debug_token": {
      query: { input_token: text, access_token: text },
      required: ["input_token", "access_token"],
    },
    "GET /me/permissions": list,
    "GET /me/accounts": list,
    "GET /me/businesses": list,
    "GET /71/{kind}_pages": list,
    "POST /{account}/media": form({ image_url: text, caption: text }),
    "POST /{account}/media_publish": form({ creation_id: text }),
    "GET /{account}/content_publishing_limit": node,
    "GET /{account}": node,
    "GET /900": node,
    "GET /901": node,
  },
});

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
  const page = {
    id: "2",
    access_token: "page-token-canary",
    ...(isLinked ? { instagram_business_account: ACCOUNT } : {}),
  };
  const mayWalk = (): boolean => state.granted.includes("business_management");
  /** What is told without a token. */
  const open: Part["handlers"] = {
    "GET /oauth/access_token": ({ fields }) => {
      if (fields["client_secret"] !== CLIENT.secret) return refusal(101);
      if (fields["grant_type"] === "authorization_code")
        return fields["code"] === "code-1"
          ? ok({ access_token: "short-canary", token_type: "bearer", expires_in: 5_000 })
          : refusal(100, 36_009);
      return fields["fb_exchange_token"] === "short-canary"
        ? ok({ access_token: "user-token-canary", token_type: "bearer", expires_in: 5_183_944 })
        : refusal(190);
    },
    "GET /debug_token": ({ fields }) =>
      fields["access_token"] === `${CLIENT.id}|${CLIENT.secret}`
        ? ok({ data: { is_valid: true, granular_scopes: [{ scope: "pages_show_list" }] } })
        : refusal(190),
  };
  const signed: Readonly<Record<string, (call: Call) => Answer>> = {
    "GET /me/permissions": () => {
      const statusOf = (one: string) => (state.granted.includes(one) ? "granted" : "declined");
      return ok({ data: all.map((permission) => ({ permission, status: statusOf(permission) })) });
    },
    "GET /me/accounts": () => {
      const other = { id: "1", access_token: "other-canary", tasks: ["CREATE_CONTENT"] };
      const mine = isOfPortfolio ? [] : [{ ...page, tasks: ["CREATE_CONTENT", "MANAGE"] }];
      return ok({ data: hasPages ? [other, ...mine] : [] });
    },
    "GET /me/businesses": () => (mayWalk() ? ok({ data: [{ id: "71" }] }) : refusal(200, null, 403)),
    "GET /71/{kind}_pages": ({ fields, ids }) => {
      if (fields["fields"]?.includes("tasks") === true) return refusal(100);
      return ok({ data: isOfPortfolio && ids[0] === "owned" ? [page] : [] });
    },
    "GET /{account}": ({ token }) => {
      tokensUsed.push(token);
      return ok(ACCOUNT);
    },
    "POST /{account}/media": () => ok({ id: "900" }),
    "POST /{account}/media_publish": ({ fields }) =>
      fields["creation_id"] === "900" ? ok({ id: "901" }) : refusal(100),
    "GET /{account}/content_publishing_limit": () =>
      ok({ data: [{ quota_usage: 4, config: { quota_total: 50 } }] }),
    "GET /900": () => ok({ id: "900", status_code: "FINISHED", status: "Finished" }),
    "GET /901": () => ok({ id: "901", permalink: "https://www.instagram.com/p/901/" }),
  };
  const isAlive = (token: string) => ["user-token-canary", "page-token-canary"].includes(token);
  const proven = Object.entries(signed).map(([name, handle]) => [
    name,
    (call: Call) =>
      isAlive(call.token) && call.fields["appsecret_proof"] === proofOf(call.token)
        ? handle(call)
        : refusal(100),
  ]);
  const handlers: Part["handlers"] = { ...open, ...Object.fromEntries(proven) };
  return {
    all,
    state,
    tokensUsed,
    door: createMetaDoor([{ base: HOST, read, isSigned: false, handlers }], isAlive),
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
