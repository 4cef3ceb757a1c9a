import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { withoutTrailing } from "../../domain/parse-url.ts";
import { HOUR, SECOND } from "../../domain/time.ts";
import type {
  Connected,
  ConnectInput,
  ConnectIo,
  OAuthIo,
  OAuthWay,
  RenewalIo,
  Secrets,
  SecretsWay,
  SetupGuide,
  Target,
  Tokens,
} from "../../ports/connect.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import { oneChannel, secretField, textField } from "../shared/connect.ts";
import { askingMore, USUAL_CONSENT } from "../shared/consent.ts";
import { byCode, type FaultRule, faultsBy, refusedField } from "../shared/faults.ts";
import {
  AnyAnswer,
  API,
  ASKED_SCOPES,
  callWith,
  codesOf,
  INVITE,
  nameOf,
  NEEDED_SCOPES,
  Paging,
  PEOPLE_SCOPE,
  SCOPES,
  SLOW_DOWN,
  withToken,
} from "./api.ts";
import { definePlatform } from "../../ports/platform.ts";
import { ACCEPTED } from "../shared/media.ts";
import { collect, findFirst, pages } from "../shared/pages.ts";
import { channelChoices, edit, insights, inspect, mentionChoices, remove } from "./live.ts";
import { textSeen } from "../shared/markdown.ts";
import { check, MAX_FILES, MAX_TEXT_CHARS, SlackMetadata } from "./metadata.ts";
import { IMAGE_LIMITS, publish } from "./publish.ts";

/** https://docs.slack.dev/reference/app-manifest */
const MANIFEST = [
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

/** Opens Slack's form for a new app with all of it filled in. */
const NEW_APP = `https://api.slack.com/apps?new_app=1&manifest_yaml=${encodeURIComponent(MANIFEST)}`;

const BOT: SecretsWay = {
  kind: "secrets",
  name: "bot",
  label: "Bot token",
  fields: [
    secretField(
      "botToken",
      "Bot token",
      "The Bot User OAuth Token of your Slack app, under OAuth & Permissions. It begins with xoxb-.",
    ),
    textField(
      "channel",
      "Channel",
      "The channel's name, its link, or its id (at the bottom of the channel's details), for example #news or C0123456789.",
    ),
  ],
  instructions:
    "An app of yours posts into the channel. It costs nothing and takes some five minutes. In some workspaces an administrator must approve it.",
  steps: [
    `Open ${NEW_APP} and choose the workspace. The form holds the permissions that Posthorn needs.`,
    "Where that form is empty, choose From a manifest, and paste the manifest that follows these steps into the tab YAML.",
    "Press Next, then Create.",
    "Under Install App, press Install to the workspace, and Allow. Leave token rotation off, because a token that is entered by hand cannot be renewed.",
    "Copy the Bot User OAuth Token that is shown there.",
    "In Slack, invite the app to the channel: /invite @Posthorn",
  ],
  toCopy: MANIFEST,
  renewal: null,
  connect,
};

const TOKEN_RULES: readonly FaultRule[] = [
  ...refusedField("botToken", {
    "invalid_auth not_authed token_revoked token_expired account_inactive":
      "Slack does not accept it. Copy the Bot User OAuth Token again, under OAuth & Permissions.",
    "missing_scope no_permission not_allowed_token_type": `the app lacks permissions. Add these Bot Token Scopes and install it again: ${SCOPES.join(", ")}.`,
  }),
  ...refusedField("channel", {
    "channel_not_found channel_is_limited_access": `the bot cannot see such a channel. It sees a private one only as a member. ${INVITE}.`,
  }),
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
async function connect(input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const token = readToken(input.secrets["botToken"] ?? "");
  const team = await readTeam(io, token);
  requireScopes(team);
  const channel = await findChannel(io, token, (input.secrets["channel"] ?? "").trim());
  const target = toTarget(channel, team);
  if (target.problem !== undefined) throw new AppError("invalid", `channel: ${target.problem}`);
  return oneChannel({ ...target, secrets: { botToken: token, channel: channel.id } });
}

function readToken(given: string): string {
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
  const found = await findFirst(listChannels(io, token), (channel) => channel.name === name);
  if (found !== null) return found;
  throw new AppError(
    "invalid",
    `channel: the bot sees no channel with this name. Check the name. It sees a private one only as a member. ${INVITE}.`,
  );
}

const MAX_PAGES = 25;

const List = AnyAnswer.extend({ channels: z.array(Channel), response_metadata: Paging });

function listChannels(io: ConnectIo, token: string): AsyncGenerator<Channel> {
  return pages(MAX_PAGES, async (cursor) => {
    const query = { types: "public_channel,private_channel", exclude_archived: true, limit: 200, cursor };
    const asked = { method: "conversations.list", query, rules: TOKEN_RULES };
    const { channels: items, response_metadata: paging } = await callWith(io, token, asked, List);
    return { items, next: paging?.next_cursor };
  });
}

/** All channels that the consent is good for, those that the bot is in first. */
async function targets(tokens: Tokens, io: OAuthIo): Promise<readonly Target[]> {
  const token = tokens.secrets["accessToken"] ?? "";
  const team = await readTeam(io, token);
  const found = await collect(listChannels(io, token));
  const canPostAnywhere = tokens.scopes?.includes("chat:write.public") ?? true;
  return found
    .toSorted((a, b) => Number(b.is_member ?? false) - Number(a.is_member ?? false))
    .map((channel) => toTarget(channel, team, canPostAnywhere));
}

function toTarget(channel: Channel, team: Team, canPostAnywhere = true): Target {
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

const SETUP: SetupGuide = {
  url: "https://api.slack.com/apps",
  needs: [
    "Five minutes. It costs nothing, and needs no review within your own workspace. In some workspaces an administrator must approve an app.",
    "An https redirect address. Without one, connect with the bot token, which needs none.",
  ],
  steps: [
    `Open ${NEW_APP} and choose the workspace to develop it in. The form holds the permissions that Posthorn needs.`,
    "Press Next, then Create.",
    "Under OAuth & Permissions, press Add New Redirect URL, enter {redirectUrl}, and press Save URLs.",
    "On the same page, compare the Bot Token Scopes with these: {scopes}",
    "Under Basic Information, copy Client ID and Client Secret into POSTHORN_SLACK_CLIENT_ID and POSTHORN_SLACK_CLIENT_SECRET.",
    "For people of other workspaces, activate public distribution under Manage Distribution.",
    "Connect, and invite the app to each channel it posts to: /invite and its name.",
  ],
  warnings: [
    "A bot that is not in a channel can post texts to public ones, but no files. It also cannot check whether a post arrived when an answer was lost.",
    "Apps that are distributed outside of Slack's Marketplace may read a channel's messages once a minute, 15 at a time. This limit does not apply to apps of your own workspace.",
    "Slack takes about one message a second in each channel.",
  ],
};

const TOKEN_URL = `${API}/oauth.v2.access`;

const CONSENT: OAuthWay = {
  ...USUAL_CONSENT,
  name: "oauth",
  label: "Add to Slack",
  instructions: "Choose the workspace in Slack and allow Posthorn's app. Then choose the channels.",
  setup: SETUP,
  endpoints: { authorize: "https://slack.com/oauth/v2/authorize", token: TOKEN_URL },
  scopes: ASKED_SCOPES,
  neededScopes: NEEDED_SCOPES,
  scopeSeparator: ",",
  redirect: "https",
  // Tokens end, after 12 hours, where the app has token rotation switched on.
  renewal: { beforeMs: 2 * HOUR, isSingleUse: true, renew },
  revoke: async ({ accessToken = "" }, io) => {
    await callWith(io, accessToken, { method: "auth.revoke", isIdempotent: true }, AnyAnswer);
  },
  targets,
};

const CONSENT_WITH_PEOPLE = askingMore(CONSENT, {
  appOf: "slack",
  label: "people to mention",
  scopes: [PEOPLE_SCOPE],
});

const Renewed = AnyAnswer.extend({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1),
  expires_in: z.coerce.number().positive(),
  scope: z.string().optional(),
});

/**
 * A token without rotation has nothing to be renewed with. It may still be good where Slack refused a call
 * because of one channel. Then the consent's other channels go on.
 */
async function renew(secrets: Secrets, io: RenewalIo): Promise<Tokens> {
  const { accessToken = "", refreshToken = "" } = secrets;
  if (refreshToken === "") {
    await callWith(io, accessToken, { method: "auth.test", form: {}, isIdempotent: true }, AnyAnswer);
    return { secrets, expiresAt: null, renewableUntil: null, scopes: null, answer: {} };
  }
  const { clientId, clientSecret } = io.app;
  const answer = await io.ask(
    {
      method: "POST",
      url: io.setting("TOKEN_URL") ?? TOKEN_URL,
      form: {
        grant_type: "refresh_token",
        refresh_token: refreshToken,
        client_id: clientId,
        client_secret: clientSecret,
      },
      classify: refusedRenewal,
    },
    Renewed,
  );
  return {
    secrets: { accessToken: answer.access_token, refreshToken: answer.refresh_token },
    expiresAt: io.now() + answer.expires_in * SECOND,
    renewableUntil: null,
    scopes: answer.scope === undefined ? null : answer.scope.split(","),
    answer: {},
  };
}

const refusedRenewal = faultsBy({
  title: "Slack",
  codesOf,
  rules: [
    ...SLOW_DOWN,
    ...byCode("setup", {
      "invalid_client_id bad_client_secret":
        "POSTHORN_SLACK_CLIENT_ID and POSTHORN_SLACK_CLIENT_SECRET: Slack does not accept them. Copy both again from the app's Basic Information.",
    }),
    ...byCode("ambiguous", {
      "internal_error fatal_error service_unavailable request_timeout": "Slack has a problem of its own.",
    }),
    ...byCode("auth", {
      "invalid_refresh_token token_revoked invalid_auth account_inactive invalid_grant":
        "Slack does not renew the bot's access any more. Add the app to the workspace again.",
    }),
  ],
});

const GB = 1_000_000_000;

export default definePlatform({
  name: "slack",
  title: "Slack",
  docs: "https://docs.slack.dev/reference/methods/chat.postMessage",
  baseUrl: "https://slack.com/api",
  capabilities: {
    media: {
      required: false,
      maxItems: MAX_FILES,
      accepts: [
        { kind: "image", ...IMAGE_LIMITS, maxItems: MAX_FILES },
        { kind: "video", mimeTypes: ACCEPTED.video, maxBytes: GB, maxItems: MAX_FILES },
        { kind: "audio", mimeTypes: ACCEPTED.audio, maxBytes: GB, maxItems: MAX_FILES },
        { kind: "document", mimeTypes: ACCEPTED.document, maxBytes: GB, maxItems: MAX_FILES },
      ],
    },
    caption: { maxLength: MAX_TEXT_CHARS, unit: "characters" },
    // Slack's own schedule takes no files, and loses what a message is found again by.
    editPublished: { fields: ["caption", "format"] },
    analytics: { account: [], post: ["likes", "comments"] },
    reconciles: "list",
  },
  metadata: SlackMetadata,
  connect: [BOT, CONSENT, CONSENT_WITH_PEOPLE],
  check,
  choices: { channel: channelChoices, mention: mentionChoices },
  // Its title is that of the first file.
  preview: ({ metadata }) => ({ title: null, write: (text) => textSeen(text, metadata.format) }),
  inspect,
  publish,
  edit,
  insights,
  remove,
});
