import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { CLIENT } from "./fake-oauth.ts";
import { installWorkspace } from "./workspace.ts";
import { listen } from "./listen.ts";

/** What is used of oidc-provider, which has no types of its own. */
interface Provider {
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
  interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
  interactionFinished(
    request: IncomingMessage,
    response: ServerResponse,
    result: object,
    options: { mergeWithLastSubmission: boolean },
  ): Promise<void>;
  readonly Grant: new (of: object) => {
    addOIDCScope(scopes: string): void;
    rejectOIDCScope(scopes: string): void;
    save(): Promise<string>;
  };
}

interface Interaction {
  readonly prompt: { readonly name: string };
  readonly params: { readonly scope: string };
}

const SCOPES = ["openid", "read", "write"];

const ACCESS_TOKEN_SECONDS = 2;

/**
 * A real provider that asks a person, who agrees to all, to some of it, or to nothing. Its access tokens really
 * end after two seconds.
 */
export async function startOidcProvider(redirectUrl: string) {
  const folder = await installWorkspace("oidc");
  const server = createServer();
  const listening = await listen(server);
  const base = listening.origin;
  const { default: OidcProvider } = (await import(`${folder}node_modules/oidc-provider/lib/index.js`)) as {
    default: new (issuer: string, options: object) => Provider;
  };
  const provider = new OidcProvider(base, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUrl],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "client_secret_basic",
      },
    ],
    cookies: { keys: ["one key for tests"] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_ctx: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    issueRefreshToken: () => true,
    pkce: { required: () => true },
    rotateRefreshToken: true,
    scopes: SCOPES,
    clockTolerance: 0,
    ttl: { AccessToken: ACCESS_TOKEN_SECONDS },
  });
  let granted: readonly string[] | null = null;
  const decide = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { prompt } = await provider.interactionDetails(request, response);
    const finish = (result: object): Promise<void> =>
      provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
    if (granted?.length === 0) return finish({ error: "access_denied" });
    if (prompt.name === "login") return finish({ login: { accountId: "alice" } });
    const grant = new provider.Grant({ accountId: "alice", clientId: CLIENT.id });
    const allowed = granted ?? SCOPES;
    grant.addOIDCScope(allowed.join(" "));
    const refused = SCOPES.filter((scope) => !allowed.includes(scope));
    if (refused.length > 0) grant.rejectOIDCScope(refused.join(" "));
    return finish({ consent: { grantId: await grant.save() } });
  };
  const answer = provider.callback();
  server.on("request", (request, response) => {
    if (request.url?.startsWith("/interaction/") !== true) return answer(request, response);
    decide(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  return {
    base,
    endpoints: { authorize: `${base}/auth`, token: `${base}/token` },
    /** Takes what is sent with an access token that is good and has `openid`, and says who it is. */
    protectedUrl: `${base}/me`,
    /** The person opens the address; where they are sent back to, its parameters. */
    async consent(url: string, scopes: readonly string[] | null = null): Promise<Record<string, string>> {
      granted = scopes;
      const cookies = new Map<string, string>();
      for (let at = url, steps = 0; steps < 10; steps++) {
        const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
        const response = await fetch(at, { redirect: "manual", headers: { cookie } });
        for (const line of response.headers.getSetCookie()) {
          const [pair = ""] = line.split(";");
          cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
        }
        const next = response.headers.get("location");
        if (next === null) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
        at = new URL(next, at).href;
        if (at.startsWith(redirectUrl)) return Object.fromEntries(new URL(at).searchParams);
      }
      throw new Error("The person was never sent back.");
    },
    [Symbol.asyncDispose]: listening[Symbol.asyncDispose],
  };
}
