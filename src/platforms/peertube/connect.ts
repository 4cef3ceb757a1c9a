import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { parseUrl } from "../../domain/parse-url.ts";
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
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { AnalyticsDay, Choice, Inspection, PlatformAnalytics } from "../../ports/platform.ts";
import { optional, secretField, textField } from "../shared/connect.ts";
import { type FaultRule, refusedField } from "../shared/faults.ts";
import { explaining, handleAt, requireServer, serverOf } from "../shared/servers.ts";
import { askOwn, askServer, KIND, requestWith } from "./api.ts";

const HELP = "Enter the name and password that you sign in with on the server itself.";

export const PASSWORD: SecretsWay = {
  kind: "secrets",
  name: "password",
  label: "Sign in on your server",
  instructions:
    "Give your account's name and password on its own server. Posthorn signs in once, keeps only the tokens it gets, and finds all channels of the account. Accounts that sign in through another service need a password of their own on the server.",
  fields: [
    textField("username", "User name", "Or the e-mail address."),
    secretField("password", "Password", "It is not kept."),
    optional(
      secretField(
        "otp",
        "Two-factor code",
        "Only where two-factor authentication is on: the six digits that your app shows now.",
      ),
    ),
  ],
  instance: "required",
  // A refresh token ends after two weeks, and each use gives a new one.
  renewal: { beforeMs: HOUR, everyMs: 3 * DAY, isSingleUse: true, renew },
  connect,
  revoke,
};

const LOGIN_RULES: readonly FaultRule[] = [
  ...refusedField("otp", {
    missing_two_factor:
      "is missing: the account has two-factor authentication. Enter the code that your app shows now.",
    invalid_two_factor: "the server refused the code. Enter the one that your app shows now.",
  }),
  ...refusedField("username", {
    "account_waiting_for_approval account_approval_rejected":
      "the server's moderators have not let this account in yet. Settle that with them first.",
    account_blocked: "the server has blocked this account. Settle that with its administrator first.",
    email_not_verified:
      "the account's e-mail address is not confirmed. Open the link in the server's e-mail first.",
  }),
];

const Client = z.looseObject({ client_id: z.string().min(1), client_secret: z.string().min(1) });

const Answer = z.looseObject({
  access_token: z.string().min(1),
  refresh_token: z.string().catch(""),
  expires_in: z.number().optional().catch(undefined),
  refresh_token_expires_in: z.number().optional().catch(undefined),
});

const LOCAL_CLIENT = { path: "oauth-clients/local" };

interface Grant {
  readonly form: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** All programs use the server's own client: https://docs.joinpeertube.org/api/rest-getting-started */
async function askTokens(io: ConnectIo, server: string, { form, headers = {} }: Grant): Promise<Tokens> {
  const { client_id, client_secret } = await askServer(io, { server }, LOCAL_CLIENT, Client);
  const granting = {
    method: "POST",
    path: "users/token",
    form: { client_id, client_secret, ...form },
    headers,
    rules: LOGIN_RULES,
  } as const;
  const told = await askServer(io, { server }, granting, Answer);
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
  return explaining(server, { title: KIND.title, secret: { field: "password", help: HELP } }, async () => {
    const tokens = await askTokens(io, server, grant).catch((cause: unknown) => {
      if (cause instanceof PlatformFault && cause.field !== null)
        throw new AppError("invalid", cause.message, { cause });
      throw cause;
    });
    const user = toUser(server, await askServer(io, { server, secrets: tokens.secrets }, ME, RawUser));
    if (user.videoChannels.length === 0)
      throw new AppError(
        "invalid",
        "username: the account has no channel. Make one on the server, under My library, and connect again.",
      );
    return { tokens, targets: user.videoChannels.map((channel) => toTarget(server, user, channel)) };
  });
}

function toTarget(server: string, user: User, channel: Channel): Target {
  const { id, name, displayName, avatarUrl } = channel;
  return {
    platformAccountId: String(id),
    idServer: server,
    name: displayName || name,
    handle: handleAt(server, name),
    profileUrl: `${server}/c/${name}`,
    avatarUrl,
    settings: { instanceUrl: server, accountName: user.username },
    secrets: {},
  };
}

function ownServer({ account, place, setting }: RenewalIo): string {
  const { instanceUrl } = account.settings;
  return requireServer(typeof instanceUrl === "string" ? instanceUrl : place.instanceUrl, { setting }, KIND);
}

function renew({ refreshToken = "" }: Secrets, io: RenewalIo): Promise<Tokens> {
  const form = { grant_type: "refresh_token", refresh_token: refreshToken };
  return askTokens(io, ownServer(io), { form });
}

async function revoke({ accessToken = "" }: Secrets, io: RenewalIo): Promise<void> {
  const call = { method: "POST", path: "users/revoke-token", isIdempotent: true } as const;
  await io.request(requestWith(io, { server: ownServer(io), secrets: { accessToken } }, call));
}

/** Path of old servers, address of new ones. */
const Avatar = z.looseObject({ fileUrl: z.string().optional(), path: z.string().optional() });

const RawChannel = z.looseObject({
  id: z.int(),
  name: z.string().min(1),
  displayName: z.string().catch(""),
  avatars: z.array(Avatar).catch([]),
});

const RawUser = z.looseObject({
  username: z.string().min(1),
  videoQuota: z.number().catch(-1),
  videoQuotaDaily: z.number().catch(-1),
  videoChannels: z.array(RawChannel).catch([]),
});

type Channel = Pick<z.infer<typeof RawChannel>, "id" | "name" | "displayName"> & {
  readonly avatarUrl: string | null;
};
interface User {
  readonly username: string;
  readonly videoChannels: readonly Channel[];
  /** How many bytes one file may have at most; null: no limit. */
  readonly maxBytes: number | null;
}

const ME = { path: "users/me" } as const;

function toUser(server: string, raw: z.infer<typeof RawUser>): User {
  const quotas = [raw.videoQuota, raw.videoQuotaDaily].filter((bytes) => bytes >= 0);
  return {
    username: raw.username,
    maxBytes: quotas.length === 0 ? null : Math.min(...quotas),
    videoChannels: raw.videoChannels.map(({ id, name, displayName, avatars }) => {
      const { fileUrl, path } = avatars.at(-1) ?? {};
      const avatar = fileUrl ?? path;
      const avatarUrl = avatar === undefined ? null : (parseUrl(avatar, server)?.href ?? null);
      return { id, name, displayName, avatarUrl };
    }),
  };
}

const Config = z.looseObject({
  video: z.looseObject({ file: z.looseObject({ extensions: z.array(z.string()) }) }),
});

/** Who the channel is now, and which files its server takes. */
export async function inspect(io: PlatformIo): Promise<Inspection> {
  const server = serverOf(io);
  const { maxBytes, videoChannels } = toUser(server, await askOwn(io, ME, RawUser));
  const channel = videoChannels.find(({ id }) => String(id) === io.account.platformAccountId);
  if (channel === undefined)
    return { problem: "The account no longer has this channel. Connect again and choose another one." };
  const { video } = await askOwn(io, { path: "config" }, Config);
  const { name, displayName, avatarUrl } = channel;
  return {
    name: displayName || name,
    handle: handleAt(server, name),
    avatarUrl,
    limits: { extensions: video.file.extensions, maxBytes },
    problem:
      maxBytes === 0 ? "The server gives this account no space for videos. Ask its administrator." : null,
  };
}

/** Lists of a server are objects: names by their numbers. */
const Names = z.record(z.string(), z.string());

const choicesAt =
  (path: string) =>
  async (search: string, io: PlatformIo): Promise<Choice[]> => {
    const wanted = search.toLowerCase();
    return Object.entries(await askOwn(io, { path }, Names))
      .filter(([value, label]) => value === search || label.toLowerCase().includes(wanted))
      .map(([value, label]) => ({ value, label }));
  };

export const CHOICES = {
  categoryId: choicesAt("videos/categories"),
  licenseId: choicesAt("videos/licences"),
} as const;

const Stats = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.int(),
      followersCount: z.int().optional(),
      viewsPerDay: z.array(z.looseObject({ date: z.string(), views: z.number() })).optional(),
    }),
  ),
});

const LAST_DAYS = "PeerTube gives views only of the last 30 days.";

/** Followers as they are now, and views by day. */
export async function analytics(
  { from, to }: { readonly from: string; readonly to: string },
  io: PlatformIo,
): Promise<PlatformAnalytics> {
  const path = `accounts/${encodeURIComponent(String(io.account.settings["accountName"] ?? ""))}/video-channels`;
  const { data } = await askOwn(io, { path, query: { withStats: true, count: 100 } }, Stats);
  const channel = data.find(({ id }) => String(id) === io.account.platformAccountId);
  const days = (channel?.viewsPerDay ?? [])
    .map(({ date, views }): AnalyticsDay => ({ date: date.slice(0, 10), metrics: { views } }))
    .filter(({ date }) => date >= from && date <= to);
  const views = days.reduce((sum, { metrics }) => sum + (metrics["views"] ?? 0), 0);
  const followers = channel?.followersCount;
  return {
    totals: { ...(days.length === 0 ? {} : { views }), ...(followers === undefined ? {} : { followers }) },
    days,
    unavailable: [
      ...(days.length === 0 ? [{ metric: "views", reason: LAST_DAYS }] : []),
      ...(followers === undefined
        ? [{ metric: "followers", reason: "The server does not give this number." }]
        : []),
    ],
  };
}
