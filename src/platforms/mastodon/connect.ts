import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { MINUTE } from "../../domain/time.ts";
import type {
  App,
  Connected,
  ConnectInput,
  ConnectIo,
  Endpoints,
  OAuthWay,
  Place,
  RenewalIo,
  Secrets,
  SecretsWay,
  Target,
} from "../../ports/connect.ts";
import { askOrNull } from "../shared/fediverse.ts";
import { explaining, requireServer } from "../shared/servers.ts";
import { call, TITLE } from "./api.ts";
import { Account, handleOf } from "./entities.ts";

const SCOPES = ["read:accounts", "read:statuses", "write:statuses", "write:media"] as const;

const TOKEN_PLACE =
  "On the server, under Preferences, Development, make an application with the scopes " +
  `${SCOPES.join(", ")}; its page shows the access token.`;

const KIND = { title: TITLE, example: "https://mastodon.social" };
const REFUSED = { title: TITLE, field: "accessToken", help: TOKEN_PLACE };

const App = z.looseObject({ client_id: z.string().min(1), client_secret: z.string().min(1) });

/** Any client may register; the server asks the person whom it is for. */
async function register({ instanceUrl, redirectUrl }: Place, io: ConnectIo): Promise<App> {
  const server = requireServer(instanceUrl, io, KIND);
  const found = await explaining(server, REFUSED, () =>
    call(
      io,
      {
        server,
        method: "POST",
        path: "/api/v1/apps",
        // A list of addresses is taken from Mastodon 4.3 on, one address by all.
        json: {
          client_name: "Posthorn",
          redirect_uris: redirectUrl,
          scopes: io.setting("SCOPES") ?? SCOPES.join(" "),
        },
        // An app that nobody hears of harms nobody.
        isIdempotent: true,
      },
      App,
    ),
  );
  return { clientId: found.client_id, clientSecret: found.client_secret };
}

/** https://docs.joinmastodon.org/methods/oauth/#authorization-server-metadata; from Mastodon 4.3 on. */
const Metadata = z.looseObject({ code_challenge_methods_supported: z.array(z.string()).catch([]) });

/** The same everywhere; that a server knows PKCE, it says since it does. */
async function endpoints(io: ConnectIo, { instanceUrl }: Place): Promise<Endpoints> {
  const server = requireServer(instanceUrl, io, KIND);
  const metadata = await explaining(server, REFUSED, () =>
    askOrNull(io, `${server}/.well-known/oauth-authorization-server`, Metadata),
  );
  const knowsPkce = metadata?.code_challenge_methods_supported.includes("S256") === true;
  return {
    authorize: `${server}/oauth/authorize`,
    token: `${server}/oauth/token`,
    revoke: `${server}/oauth/revoke`,
    pkce: knowsPkce ? "S256" : "none",
  };
}

async function revoke({ accessToken = "" }: Secrets, { app, place, ...io }: RenewalIo): Promise<void> {
  const form = { client_id: app.clientId, client_secret: app.clientSecret, token: accessToken };
  const url = `${requireServer(place.instanceUrl, io, KIND)}/oauth/revoke`;
  await io.request({ method: "POST", url, form, isIdempotent: true, newConnection: true });
}

export const OAUTH: OAuthWay = {
  kind: "oauth",
  name: "oauth",
  label: "Sign in on your server",
  instructions:
    "Give the address of the account's server (https://mastodon.social, say), sign in there and allow Posthorn to read and post.",
  setup: null,
  endpoints,
  register,
  scopes: SCOPES,
  scopeSeparator: " ",
  pkce: "S256",
  clientAuth: "body",
  // So that a person with several accounts on the server can choose.
  authorizeParams: { force_login: "true" },
  redirect: "any",
  instance: "required",
  // Mastodon's tokens do not end; Pleroma's and Akkoma's do, and come with one that renews them once.
  renewal: { beforeMs: 5 * MINUTE, isSingleUse: true },
  revoke,
  targets: async ({ secrets }, io) => [
    await readTarget(io, requireServer(io.place.instanceUrl, io, KIND), secrets["accessToken"] ?? ""),
  ],
};

export const TOKEN: SecretsWay = {
  kind: "secrets",
  name: "token",
  label: "Access token",
  instructions: `${TOKEN_PLACE} Enter it here; it can be revoked there at any time.`,
  fields: [
    { name: "accessToken", label: "Access token", help: TOKEN_PLACE, isRequired: true, isSecret: true },
  ],
  renewal: null,
  connect: connectWithToken,
};

async function connectWithToken(input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const server = requireServer(input.instanceUrl, io, KIND);
  const accessToken = (input.secrets["accessToken"] ?? "").trim();
  const target = await explaining(server, REFUSED, () => readTarget(io, server, accessToken));
  await requireScopes(io, server, accessToken);
  return {
    tokens: null,
    targets: [{ ...target, name: input.name ?? target.name, secrets: { accessToken } }],
  };
}

const AppScopes = z.looseObject({ scopes: z.array(z.string()) });

/** Mastodon tells them since 4.3; the others take the token, and may refuse a post. */
async function requireScopes(io: ConnectIo, server: string, token: string): Promise<void> {
  const path = "/api/v1/apps/verify_credentials";
  const app = await call(io, { server, token, method: "GET", path }, AppScopes).catch(() => null);
  if (app === null) return;
  const missing = SCOPES.filter(
    (scope) => !app.scopes.includes(scope) && !app.scopes.includes(scope.split(":")[0] ?? ""),
  );
  // A narrower one than read:accounts lets it name the account too.
  const needed = missing.filter((scope) => scope !== "read:accounts");
  if (needed.length === 0) return;
  throw new AppError(
    "invalid",
    `accessToken: its application may not ${needed.join(", ")}. Tick these scopes there, make a new token, and enter that.`,
  );
}

async function readTarget(io: ConnectIo, server: string, token: string): Promise<Target> {
  const path = "/api/v1/accounts/verify_credentials";
  const account = await call(io, { server, token, method: "GET", path }, Account);
  return {
    platformAccountId: account.id,
    name: account.display_name === "" ? account.username : account.display_name,
    handle: handleOf(account, server),
    profileUrl: account.url,
    avatarUrl: account.avatar,
    idServer: server,
    settings: { instanceUrl: server, accountId: account.id },
    secrets: {},
  };
}
