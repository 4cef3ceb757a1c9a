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
import { oneChannel, secretField } from "../connect.ts";
import { askOrNull, explaining, handleAt, requireServer, type ServerKind } from "../servers.ts";
import { Account, askWith, ME } from "./api.ts";

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
  return { title, secret: { field: "accessToken", help: tokenPlace } };
}

const Registered = z.looseObject({ client_id: z.string().min(1), client_secret: z.string().min(1) });

/** Any client may register; the server asks the person whom it is for. */
async function register(servers: Servers, { instanceUrl, redirectUrl }: Place, io: ConnectIo): Promise<App> {
  const server = requireServer(instanceUrl, io, servers);
  const found = await explaining(server, refusedBy(servers), () =>
    askWith(
      io,
      { server },
      {
        method: "POST",
        path: "/api/v1/apps",
        // A list of addresses is taken from Mastodon 4.3 on, one address by all.
        json: {
          client_name: "Posthorn",
          redirect_uris: redirectUrl,
          scopes: io.setting("SCOPES") ?? servers.scopes.join(" "),
        },
        // An app that is not used does no harm.
        isIdempotent: true,
      },
      Registered,
    ),
  );
  return { clientId: found.client_id, clientSecret: found.client_secret };
}

/** https://docs.joinmastodon.org/methods/oauth/#authorization-server-metadata; from Mastodon 4.3 on. */
const Metadata = z.looseObject({ code_challenge_methods_supported: z.array(z.string()).catch([]) });

/** A server that knows PKCE says so. */
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
        secrets,
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
    fields: [secretField("accessToken", "Access token", help)],
    renewal: null,
    connect: (input, io) => connectWithToken(servers, input, io),
  };
}

async function connectWithToken(servers: Servers, input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const server = requireServer(input.instanceUrl, io, servers);
  const secrets = { accessToken: (input.secrets["accessToken"] ?? "").trim() };
  const at = { server, secrets };
  const target = await explaining(server, refusedBy(servers), () => readTarget(servers, io, at));
  await requireScopes(servers, io, at);
  return oneChannel({ ...target, name: input.name ?? target.name, secrets });
}

/** A server, and whose token it is asked with. */
interface ServerAccess {
  readonly server: string;
  readonly secrets: Secrets;
}

const AppScopes = z.looseObject({ scopes: z.array(z.string()) });

/** Mastodon tells them since 4.3; the others take the token, and may refuse a post. */
async function requireScopes(servers: Servers, io: ConnectIo, at: ServerAccess): Promise<void> {
  const path = "/api/v1/apps/verify_credentials";
  const app = await askWith(io, at, { path }, AppScopes).catch(() => null);
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

async function readTarget({ software }: Servers, io: ConnectIo, at: ServerAccess): Promise<Target> {
  const { server } = at;
  const account = await askWith(io, at, ME, Account);
  return {
    platformAccountId: account.id,
    name: account.display_name || account.username,
    handle: handleAt(server, account.username),
    profileUrl: account.url,
    avatarUrl: account.avatar,
    idServer: server,
    settings: { instanceUrl: server, accountId: account.id, ...(software === null ? {} : { software }) },
    secrets: {},
  };
}
