import * as z from "zod";
import { AppError } from "../../../domain/errors.ts";
import { MINUTE } from "../../../domain/time.ts";
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
} from "../../../ports/connect.ts";
import { askOrNull, explaining, requireServer, type ServerKind } from "../servers.ts";
import { Account, call, handleOf } from "./api.ts";

/** What is one platform's own in connecting to a server of Mastodon's API. */
export interface Servers extends ServerKind {
  readonly scopes: readonly string[];
  /** Where a person makes a token by hand: a whole sentence. */
  readonly tokenPlace: string;
  /** Its path on the server. */
  readonly tokenPath: `/${string}`;
  /** The software that is meant, until the server was asked; null: any. */
  readonly software: string | null;
  /** What OAuth does there otherwise. */
  readonly oauth: Partial<Pick<OAuthWay, "revoke" | "authorizeParams">>;
}

function refusedBy({ title, tokenPlace }: Servers): Parameters<typeof explaining>[1] {
  return { title, field: "accessToken", help: tokenPlace };
}

const Registered = z.looseObject({ client_id: z.string().min(1), client_secret: z.string().min(1) });

/** Any client may register; the server asks the person whom it is for. */
async function register(servers: Servers, { instanceUrl, redirectUrl }: Place, io: ConnectIo): Promise<App> {
  const server = requireServer(instanceUrl, io, servers);
  const found = await explaining(server, refusedBy(servers), () =>
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
          scopes: io.setting("SCOPES") ?? servers.scopes.join(" "),
        },
        // An app that nobody hears of harms nobody.
        isIdempotent: true,
      },
      Registered,
    ),
  );
  return { clientId: found.client_id, clientSecret: found.client_secret };
}

/** https://docs.joinmastodon.org/methods/oauth/#authorization-server-metadata; from Mastodon 4.3 on. */
const Metadata = z.looseObject({ code_challenge_methods_supported: z.array(z.string()).catch([]) });

/** The same everywhere; that a server knows PKCE, it says since it does. */
async function endpoints(servers: Servers, io: ConnectIo, { instanceUrl }: Place): Promise<Endpoints> {
  const server = requireServer(instanceUrl, io, servers);
  const metadata = await explaining(server, refusedBy(servers), () =>
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

/** For servers that take tokens back. */
export async function revoke({ accessToken = "" }: Secrets, { app, place, ...io }: RenewalIo): Promise<void> {
  const form = { client_id: app.clientId, client_secret: app.clientSecret, token: accessToken };
  await io.request({
    method: "POST",
    url: `${place.instanceUrl ?? io.setting("BASE_URL")}/oauth/revoke`,
    form,
    isIdempotent: true,
    newConnection: true,
  });
}

export function oauthWay(servers: Servers): OAuthWay {
  return {
    kind: "oauth",
    name: "oauth",
    label: "Sign in on your server",
    instructions: `Sign in on the account's own server (for example ${servers.example}) and allow Posthorn to read and post.`,
    setup: null,
    endpoints: (io, place) => endpoints(servers, io, place),
    register: (place, io) => register(servers, place, io),
    scopes: servers.scopes,
    scopeSeparator: " ",
    pkce: "S256",
    clientAuth: "body",
    redirect: "any",
    instance: "required",
    // Mastodon's tokens do not end; those of Pleroma, Akkoma and Pixelfed do, and come with one that renews them
    // once.
    renewal: { beforeMs: 5 * MINUTE, isSingleUse: true },
    targets: async ({ secrets }, io) => [
      await readTarget(servers, io, {
        server: requireServer(io.place.instanceUrl, io, servers),
        token: secrets["accessToken"] ?? "",
      }),
    ],
    ...servers.oauth,
  };
}

export function tokenWay(servers: Servers): SecretsWay {
  const help = servers.tokenPlace;
  return {
    kind: "secrets",
    name: "token",
    label: "Access token",
    instructions: `${help} It can be revoked there at any time.`,
    instance: "required",
    place: servers.tokenPath,
    fields: [{ name: "accessToken", label: "Access token", help, isRequired: true, isSecret: true }],
    renewal: null,
    connect: (input, io) => connectWithToken(servers, input, io),
  };
}

async function connectWithToken(servers: Servers, input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const server = requireServer(input.instanceUrl, io, servers);
  const accessToken = (input.secrets["accessToken"] ?? "").trim();
  const target = await explaining(server, refusedBy(servers), () =>
    readTarget(servers, io, { server, token: accessToken }),
  );
  await requireScopes(servers, io, { server, token: accessToken });
  return {
    tokens: null,
    targets: [{ ...target, name: input.name ?? target.name, secrets: { accessToken } }],
  };
}

/** A server, and a token of it. */
interface At {
  readonly server: string;
  readonly token: string;
}

const AppScopes = z.looseObject({ scopes: z.array(z.string()) });

/** Mastodon tells them since 4.3; the others take the token, and may refuse a post. */
async function requireScopes(servers: Servers, io: ConnectIo, at: At): Promise<void> {
  const path = "/api/v1/apps/verify_credentials";
  const app = await call(io, { ...at, method: "GET", path }, AppScopes).catch(() => null);
  if (app === null) return;
  const missing = servers.scopes.filter(
    (scope) => !app.scopes.includes(scope) && !app.scopes.includes(scope.split(":")[0] ?? ""),
  );
  // A narrower one than read:accounts lets it name the account too.
  const needed = missing.filter((scope) => scope !== "read:accounts");
  if (needed.length === 0) return;
  throw new AppError(
    "invalid",
    `accessToken: its application may not ${needed.join(", ")}. Tick these scopes there, make a new token, and enter it.`,
  );
}

async function readTarget({ software }: Servers, io: ConnectIo, at: At): Promise<Target> {
  const { server } = at;
  const path = "/api/v1/accounts/verify_credentials";
  const account = await call(io, { ...at, method: "GET", path }, Account);
  return {
    platformAccountId: account.id,
    name: account.display_name === "" ? account.username : account.display_name,
    handle: handleOf(account, server),
    profileUrl: account.url,
    avatarUrl: account.avatar,
    idServer: server,
    settings: {
      instanceUrl: server,
      accountId: account.id,
      ...(software === null ? {} : { software }),
    },
    secrets: {},
  };
}
