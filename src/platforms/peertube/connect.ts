import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { DAY, HOUR, SECOND } from "../../domain/time.ts";
import type {
  Connected,
  ConnectInput,
  ConnectIo,
  RenewalIo,
  Secrets,
  SecretsWay,
  Target,
  Tokens,
} from "../../ports/connect.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import type { FaultRule } from "../shared/faults.ts";
import { explaining, requireServer } from "../shared/servers.ts";
import { askServer, KIND, requestOf } from "./api.ts";
import { readUser, type Channel, type User } from "./channel.ts";

const HELP = "Enter the name and password that you sign in with on the server itself.";

export const PASSWORD: SecretsWay = {
  kind: "secrets",
  name: "password",
  label: "Sign in on your server",
  instructions:
    "Give your account's name and password on its own server. Posthorn signs in once, keeps only the tokens it gets, and finds all channels of the account. Accounts that sign in through another service need a password of their own on the server.",
  fields: [
    {
      name: "username",
      label: "User name",
      help: "Or the e-mail address.",
      isRequired: true,
      isSecret: false,
    },
    { name: "password", label: "Password", help: "It is not kept.", isRequired: true, isSecret: true },
    {
      name: "otp",
      label: "Two-factor code",
      help: "Only where two-factor authentication is on: the six digits that your app shows now.",
      isRequired: false,
      isSecret: true,
    },
  ],
  instance: "required",
  // A refresh token ends after two weeks, and each use gives a new one.
  renewal: { beforeMs: HOUR, everyMs: 3 * DAY, isSingleUse: true, renew },
  connect,
  revoke,
};

const LOGIN_RULES: readonly FaultRule[] = [
  {
    code: "missing_two_factor",
    kind: "rejected",
    field: "otp",
    message: "is missing: the account has two-factor authentication. Enter the code that your app shows now.",
  },
  {
    code: "invalid_two_factor",
    kind: "rejected",
    field: "otp",
    message: "the server refused the code. Enter the one that your app shows now.",
  },
  {
    code: ["account_waiting_for_approval", "account_approval_rejected"],
    kind: "rejected",
    field: "username",
    message: "the server's moderators have not let this account in yet. Settle that with them first.",
  },
  {
    code: "account_blocked",
    kind: "rejected",
    field: "username",
    message: "the server has blocked this account. Settle that with its administrator first.",
  },
  {
    code: "email_not_verified",
    kind: "rejected",
    field: "username",
    message: "the account's e-mail address is not confirmed. Open the link in the server's e-mail first.",
  },
];

const Client = z.looseObject({ client_id: z.string().min(1), client_secret: z.string().min(1) });

const Answer = z.looseObject({
  access_token: z.string().min(1),
  refresh_token: z.string().catch(""),
  expires_in: z.number().optional().catch(undefined),
  refresh_token_expires_in: z.number().optional().catch(undefined),
});

interface Grant {
  readonly form: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The server's own client is everybody's: https://docs.joinpeertube.org/api/rest-getting-started */
async function askTokens(io: ConnectIo, server: string, { form, headers = {} }: Grant): Promise<Tokens> {
  const call = { path: "oauth-clients/local" };
  const client = await askServer(io, { server }, { call, schema: Client });
  const { client_id, client_secret } = client;
  const granting = {
    method: "POST",
    path: "users/token",
    form: { client_id, client_secret, ...form },
    headers,
    rules: LOGIN_RULES,
  } as const;
  const told = await askServer(io, { server }, { call: granting, schema: Answer });
  const after = (seconds: number | undefined): number | null =>
    seconds === undefined ? null : io.now() + seconds * SECOND;
  return {
    secrets: { accessToken: told.access_token, refreshToken: told.refresh_token },
    expiresAt: after(told.expires_in),
    renewableUntil: after(told.refresh_token_expires_in),
    scopes: null,
    answer: {},
  };
}

async function connect({ instanceUrl, secrets }: ConnectInput, io: ConnectIo): Promise<Connected> {
  const server = requireServer(instanceUrl, io, KIND);
  const otp = (secrets["otp"] ?? "").replace(/\s/g, "");
  const grant = {
    form: {
      grant_type: "password",
      username: (secrets["username"] ?? "").trim(),
      password: secrets["password"] ?? "",
    },
    headers: otp === "" ? {} : { "x-peertube-otp": otp },
  };
  return explaining(server, { title: KIND.title, field: "password", help: HELP }, async () => {
    const tokens = await askTokens(io, server, grant).catch((cause: unknown) => {
      if (cause instanceof PlatformFault && cause.field !== null)
        throw new AppError("invalid", cause.message, { cause });
      throw cause;
    });
    const user = await readUser(io, { server, token: tokens.secrets["accessToken"] ?? "" });
    if (user.videoChannels.length === 0)
      throw new AppError(
        "invalid",
        "username: the account has no channel. Make one on the server, under My library, and connect again.",
      );
    return { tokens, targets: user.videoChannels.map((channel) => targetOf(server, user, channel)) };
  });
}

function targetOf(server: string, user: User, channel: Channel): Target {
  const { id, name, displayName, avatarUrl } = channel;
  return {
    platformAccountId: String(id),
    idServer: server,
    name: displayName === "" ? name : displayName,
    handle: `${name}@${new URL(server).host}`,
    profileUrl: `${server}/c/${name}`,
    avatarUrl,
    settings: { instanceUrl: server, accountName: user.username },
    secrets: {},
  };
}

function placeOf({ account, place, setting }: RenewalIo): string {
  const { instanceUrl } = account.settings;
  return requireServer(typeof instanceUrl === "string" ? instanceUrl : place.instanceUrl, { setting }, KIND);
}

function renew({ refreshToken = "" }: Secrets, io: RenewalIo): Promise<Tokens> {
  const form = { grant_type: "refresh_token", refresh_token: refreshToken };
  return askTokens(io, placeOf(io), { form });
}

async function revoke({ accessToken = "" }: Secrets, io: RenewalIo): Promise<void> {
  const headers = { authorization: `Bearer ${accessToken}` };
  const call = { method: "POST", path: "users/revoke-token", headers, isIdempotent: true } as const;
  await io.request(requestOf(placeOf(io), call));
}
