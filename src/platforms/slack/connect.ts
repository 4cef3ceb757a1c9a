import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type {
  Connected,
  ConnectInput,
  ConnectIo,
  OAuthIo,
  SecretField,
  Target,
  Tokens,
} from "../../ports/connect.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import type { FaultRule } from "../shared/faults.ts";
import { AnyAnswer, callWith, Paging, withToken } from "./api.ts";
import { nameOf } from "./channel.ts";
import { INVITE } from "./faults.ts";
import { NEEDED_SCOPES, SCOPES } from "./scopes.ts";
import { withoutTrailing } from "../../domain/parse-url.ts";

export const FIELDS: readonly SecretField[] = [
  {
    name: "botToken",
    label: "Bot token",
    help: "The Bot User OAuth Token of your Slack app, under OAuth & Permissions. It begins with xoxb-.",
    isRequired: true,
    isSecret: true,
  },
  {
    name: "channel",
    label: "Channel",
    help: "The channel's name, its link, or its id (at the bottom of the channel's details), for example #news or C0123456789.",
    isRequired: true,
    isSecret: false,
  },
];

export const INSTRUCTIONS =
  "An app of yours posts into the channel. It costs nothing and takes some five minutes. In some workspaces an administrator must approve it.";

export const STEPS: readonly string[] = [
  "Open https://api.slack.com/apps and choose Create New App, From a manifest, and the workspace.",
  "In the tab YAML, paste the manifest that follows these steps, and press Create. It holds the permissions that Posthorn needs.",
  "Under Install App, install it to the workspace and copy the Bot User OAuth Token.",
  "In Slack, invite the app to the channel: /invite @Posthorn",
  "Leave token rotation off, because a token that is entered by hand cannot be renewed.",
];

/** https://docs.slack.dev/reference/app-manifest */
export const MANIFEST = [
  "display_information:",
  "  name: Posthorn",
  "features:",
  "  bot_user:",
  "    display_name: Posthorn",
  "    always_online: true",
  "oauth_config:",
  "  scopes:",
  "    bot:",
  ...SCOPES.map((scope) => `      - ${scope}`),
  "settings:",
  "  token_rotation_enabled: false",
].join("\n");

const TOKEN_RULES: readonly FaultRule[] = [
  {
    code: ["invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive"],
    kind: "rejected",
    field: "botToken",
    message: "Slack does not accept it. Copy the Bot User OAuth Token again, under OAuth & Permissions.",
  },
  {
    code: ["missing_scope", "no_permission", "not_allowed_token_type"],
    kind: "rejected",
    field: "botToken",
    message: `the app lacks permissions. Add these Bot Token Scopes and install it again: ${SCOPES.join(", ")}.`,
  },
  {
    code: ["channel_not_found", "channel_is_limited_access"],
    kind: "rejected",
    field: "channel",
    message: `the bot cannot see such a channel. It sees a private one only as a member. ${INVITE}.`,
  },
];

const Team = AnyAnswer.extend({
  team: z.string(),
  team_id: z.string(),
  url: z.url({ protocol: /^https?$/ }),
});
type Team = z.infer<typeof Team>;

const Channel = z.looseObject({
  id: z.string().min(1),
  name: z.string(),
  is_archived: z.boolean().optional(),
  is_member: z.boolean().optional(),
});
type Channel = z.infer<typeof Channel>;

/** The channel that was named, with the bot's own token. */
export async function connect(input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const token = tokenOf(input.secrets["botToken"] ?? "");
  const team = await readTeam(io, token);
  requireScopes(team);
  const channel = await findChannel(io, token, (input.secrets["channel"] ?? "").trim());
  const target = targetOf(channel, team);
  if (target.problem !== undefined) throw new AppError("invalid", `channel: ${target.problem}`);
  return { tokens: null, targets: [{ ...target, secrets: { botToken: token, channel: channel.id } }] };
}

function tokenOf(given: string): string {
  const token = given.trim();
  const kinds: Readonly<Record<string, string>> = {
    "xoxp-": "a user's token",
    "xapp-": "an app-level token",
    "xoxe-": "a refresh token",
  };
  const kind = kinds[token.slice(0, 5)];
  if (kind === undefined) return token;
  throw new AppError(
    "invalid",
    `botToken: this is ${kind}. Give the Bot User OAuth Token, which begins with xoxb-.`,
  );
}

async function readTeam(io: ConnectIo, token: string): Promise<Team & { granted: string | undefined }> {
  const asked = { method: "auth.test", form: {}, isIdempotent: true, rules: TOKEN_RULES };
  const { json, headers } = await io.request(withToken(io, token, asked));
  const team = Team.safeParse(json);
  if (!team.success) throw new PlatformFault("transient", "Slack did not answer properly.");
  // Slack names in a header of each answer what the token is allowed.
  return { ...team.data, granted: headers["x-oauth-scopes"] };
}

function requireScopes({ granted }: { granted: string | undefined }): void {
  const missing = NEEDED_SCOPES.filter(
    (scope) => granted !== undefined && !granted.split(/[\s,]+/).includes(scope),
  );
  if (missing.length === 0) return;
  throw new AppError(
    "invalid",
    `botToken: the app lacks ${missing.join(", ")}. Add the Bot Token Scopes ${SCOPES.join(", ")} and install it again.`,
  );
}

const CHANNEL_ID = /^[CG][A-Z0-9]{2,}$/;

async function findChannel(io: ConnectIo, token: string, given: string): Promise<Channel> {
  const linked = /\/archives\/([A-Z0-9]+)/.exec(given)?.[1];
  const id = linked ?? (CHANNEL_ID.test(given) ? given : null);
  if (id !== null) {
    const one = { method: "conversations.info", query: { channel: id }, rules: TOKEN_RULES };
    return (await callWith(io, token, one, AnyAnswer.extend({ channel: Channel }))).channel;
  }
  const name = given.replace(/^#/, "").toLowerCase();
  for await (const channel of channelsOf(io, token)) if (channel.name === name) return channel;
  throw new AppError(
    "invalid",
    `channel: the bot sees no channel with this name. Check the name. It sees a private one only as a member. ${INVITE}.`,
  );
}

const MAX_PAGES = 25;

async function* channelsOf(io: ConnectIo, token: string): AsyncGenerator<Channel> {
  const List = AnyAnswer.extend({ channels: z.array(Channel), response_metadata: Paging });
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && cursor !== ""; page += 1) {
    const query = {
      types: "public_channel,private_channel",
      exclude_archived: true,
      limit: 200,
      cursor,
    };
    const asked = { method: "conversations.list", query, rules: TOKEN_RULES };
    const answer = await callWith(io, token, asked, List);
    yield* answer.channels;
    cursor = answer.response_metadata?.next_cursor ?? "";
  }
}

/** All channels that the consent is good for, those that the bot is in first. */
export async function targets(tokens: Tokens, io: OAuthIo): Promise<readonly Target[]> {
  const token = tokens.secrets["accessToken"] ?? "";
  const team = await readTeam(io, token);
  const found: Channel[] = [];
  for await (const channel of channelsOf(io, token)) found.push(channel);
  const canPostAnywhere = tokens.scopes?.includes("chat:write.public") ?? true;
  return found
    .toSorted((a, b) => Number(b.is_member ?? false) - Number(a.is_member ?? false))
    .map((channel) => targetOf(channel, team, canPostAnywhere));
}

function targetOf(channel: Channel, team: Team, canPostAnywhere = true): Target {
  const teamUrl = withoutTrailing(team.url, "/");
  const { id, name, is_archived: isArchived, is_member: isMember } = channel;
  const problem =
    isArchived === true
      ? "This channel is archived. Unarchive it in Slack, or take another one."
      : isMember === false && !canPostAnywhere
        ? `The bot is not in this channel. ${INVITE}.`
        : null;
  return {
    platformAccountId: `${team.team_id}:${id}`,
    name: nameOf(name, team.team),
    handle: `#${name}`,
    profileUrl: `${teamUrl}/archives/${id}`,
    avatarUrl: null,
    settings: { teamId: team.team_id, teamName: team.team, teamUrl, channelId: id },
    secrets: {},
    ...(problem === null ? {} : { problem }),
    ...(isMember === false && problem === null
      ? {
          notice: `The bot is not in #${name}. ${INVITE}: otherwise it cannot post files, nor check whether a post arrived when an answer is lost.`,
        }
      : {}),
  };
}
