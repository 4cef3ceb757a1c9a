import { randomBytes } from "node:crypto";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { Connected, ConnectInput, ConnectIo, SecretsWay, Target } from "../../ports/connect.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import { optional, secretField, textField } from "../shared/connect.ts";
import { naming } from "../shared/faults.ts";
import { inOrder } from "../shared/media.ts";
import { explaining, requireServer } from "../shared/servers.ts";
import { type Ask, askWith, LOGIN_FAULTS, inspect, linkTo, readRoom } from "./api.ts";
import { withoutTrailing } from "../../domain/parse-url.ts";
import { definePlatform } from "../../ports/platform.ts";
import { analytics, edit, insights, mentionChoices, remove } from "./live.ts";
import { CAPABILITIES, capabilitiesOf, check, MatrixMetadata, textFor } from "./metadata.ts";
import { publish } from "./publish.ts";
import { textOfHtml } from "../../domain/text/html-text.ts";
import { textSeen } from "../shared/markdown.ts";

/** More are not looked through for a list to choose from. */
const MAX_ROOMS = 50;

const KIND = { title: "Matrix", example: "https://matrix.org" };

const ROOM = optional(
  textField(
    "room",
    "Room",
    "Its address (for example #news:example.org), its link or its id. The account then joins it. Empty: choose among the rooms that the account is in.",
  ),
);

const BOT =
  "Make a separate account for Posthorn, and invite it to the room. The room must not be encrypted.";

const TOKEN_PLACE = "In Element: All settings, Help & About, Advanced, Access Token.";

const TOKEN: SecretsWay = {
  kind: "secrets",
  name: "token",
  label: "Access token",
  instructions: `${BOT} Sign in as it and copy its access token. ${TOKEN_PLACE} Close the window without signing out, because that would end the token.`,
  fields: [secretField("accessToken", "Access token", TOKEN_PLACE), ROOM],
  instance: "required",
  renewal: null,
  connect: async (input, io) => {
    const accessToken = input.secrets["accessToken"] ?? "";
    const server = await findServer(io, input.instanceUrl);
    const ask = askWith(io, server.baseUrl, accessToken);
    const who = await naming("accessToken", () => ask({ path: WHO_AM_I }, Who));
    const session = { ...server, userId: who.user_id, deviceId: who.device_id ?? null, accessToken };
    return toConnected(session, input, io);
  },
};

const PASSWORD: SecretsWay = {
  kind: "secrets",
  name: "password",
  label: "User name and password",
  instructions: `${BOT} Posthorn signs in once and keeps an access token, not the password. Servers with their own sign-in pages, such as matrix.org, take no passwords from apps.`,
  fields: [
    textField("user", "User", "The account's name or full id, for example @horn:example.org."),
    secretField("password", "Password", "The account's password. It is not stored."),
    ROOM,
  ],
  instance: "required",
  renewal: null,
  connect: async (input, io) => {
    const user = input.secrets["user"] ?? "";
    const own = /^@[^:]*:(.+)$/.exec(user)?.[1];
    const server = await findServer(io, input.instanceUrl ?? (own === undefined ? null : `https://${own}`));
    const known = input.reconnecting?.settings["deviceId"];
    // A message that is sent again is known by its device; that of a token may be the person's own app.
    const isOurs = typeof known === "string" && known.startsWith(DEVICE);
    const deviceId = isOurs ? known : `${DEVICE}${randomBytes(5).toString("hex").toUpperCase()}`;
    const json = {
      type: "m.login.password",
      identifier: { type: "m.id.user", user },
      password: input.secrets["password"] ?? "",
      device_id: deviceId,
      initial_device_display_name: "Posthorn",
    };
    const call = { method: "POST", path: "/client/v3/login", json, faults: LOGIN_FAULTS } as const;
    const signedIn = await naming("password", () => askWith(io, server.baseUrl)(call, SignedIn));
    const { user_id: userId, access_token: accessToken } = signedIn;
    return toConnected({ ...server, userId, deviceId: signedIn.device_id, accessToken }, input, io);
  },
  revoke: async ({ accessToken = "" }, io) => {
    const { baseUrl } = io.account.settings;
    if (typeof baseUrl !== "string") return;
    const call = { method: "POST", path: "/client/v3/logout", isIdempotent: true } as const;
    await askWith(io, baseUrl, accessToken)(call, z.looseObject({}));
  },
};

/** How the names of devices that we made begin: a new sign-in ends what another one of them had. */
const DEVICE = "POSTHORN";

const WHO_AM_I = "/client/v3/account/whoami";
const Who = z.looseObject({ user_id: z.string().startsWith("@"), device_id: z.string().optional() });
const SignedIn = z.looseObject({
  user_id: z.string().startsWith("@"),
  access_token: z.string().min(1),
  device_id: z.string(),
});

interface Server {
  /** As the person named it. */
  readonly instanceUrl: string;
  readonly baseUrl: string;
}

interface Session extends Server {
  readonly userId: string;
  readonly deviceId: string | null;
  readonly accessToken: string;
}

const WellKnown = z.looseObject({
  "m.homeserver": z.looseObject({ base_url: z.url({ protocol: /^https?$/ }) }),
});
const Versions = z.looseObject({ versions: z.array(z.string()).min(1) });

/** https://spec.matrix.org/latest/client-server-api/#well-known-uris */
async function findServer(io: ConnectIo, given: string | null): Promise<Server> {
  const instanceUrl = requireServer(given, io, KIND);
  const wellKnown = {
    method: "GET",
    url: `${instanceUrl}/.well-known/matrix/client`,
    maxRedirects: 3,
  } as const;
  const told = await io.ask(wellKnown, WellKnown).catch((error: unknown) => {
    if (error instanceof PlatformFault) return null;
    throw error;
  });
  const named = withoutTrailing(told?.["m.homeserver"].base_url ?? instanceUrl, "/");
  // One that would take the token out of TLS is not believed.
  const baseUrl = instanceUrl.startsWith("https:") && !named.startsWith("https:") ? instanceUrl : named;
  const versions = { path: "/client/versions", faults: { title: KIND.title, codesOf: () => [], rules: [] } };
  await explaining(baseUrl, KIND, () => askWith(io, baseUrl)(versions, Versions));
  return { instanceUrl, baseUrl };
}

const Joined = z.looseObject({ room_id: z.string().startsWith("!") });
const AllJoined = z.looseObject({ joined_rooms: z.array(z.string()) });

async function toConnected(session: Session, input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const { baseUrl, accessToken } = session;
  const ask = askWith(io, baseUrl, accessToken);
  const given = input.secrets["room"] ?? "";
  const named = given === "" ? null : await joinRoom(ask, given);
  // A channel that is reconnected brings the others of its token along, which may have ended with this one.
  const isOne = named !== null && input.reconnecting === null;
  const others = isOne ? [] : (await ask({ path: "/client/v3/joined_rooms" }, AllJoined)).joined_rooms;
  const ids = [...new Set(named === null ? others : [named, ...others])].slice(0, MAX_ROOMS);
  const targets = await inOrder(ids, (id) => toTarget(id, session, ask));
  const [only] = targets;
  if (isOne && only?.problem !== undefined) throw new AppError("invalid", `room: ${only.problem}`);
  const user = input.secrets["user"];
  const secrets = { accessToken, ...(user === undefined ? {} : { user }) };
  return {
    tokens: { secrets, expiresAt: null, renewableUntil: null, scopes: null, answer: {} },
    targets: isOne && only !== undefined ? [{ ...only, name: input.name ?? only.name }] : targets,
  };
}

/** To be in it already is no error. */
async function joinRoom(ask: Ask, given: string): Promise<string> {
  const linked = /^https:\/\/matrix\.to\/#\/((?:[^/?%]|%[2-7][0-9A-F])+)/i.exec(given)?.[1];
  const room = linked === undefined ? given : decodeURIComponent(linked);
  if (!/^[#!]./.test(room))
    throw new AppError(
      "invalid",
      "room: is not a room's address, link or id. Give one such as #news:example.org.",
    );
  const path = `/client/v3/join/${encodeURIComponent(room)}`;
  const joining = { method: "POST", path, json: {}, isIdempotent: true } as const;
  return (await naming("room", () => ask(joining, Joined))).room_id;
}

async function toTarget(roomId: string, session: Session, ask: Ask): Promise<Target> {
  const { instanceUrl, baseUrl, userId, deviceId } = session;
  const { name, alias, problem } = await readRoom(ask, roomId, userId);
  return {
    platformAccountId: `${userId}/${roomId}`,
    name,
    handle: alias,
    profileUrl: linkTo(alias ?? roomId),
    avatarUrl: null,
    settings: { instanceUrl, baseUrl, userId, roomId, ...(deviceId === null ? {} : { deviceId }) },
    secrets: { room: roomId },
    ...(problem === null ? {} : { problem }),
  };
}

/** Rooms without encryption, on any server. */
export default definePlatform({
  name: "matrix",
  title: "Matrix",
  aliases: ["element"],
  docs: "https://spec.matrix.org/latest/client-server-api",
  capabilities: CAPABILITIES,
  capabilitiesOf,
  metadata: MatrixMetadata,
  connect: [TOKEN, PASSWORD],
  check,
  choices: { mention: mentionChoices },
  preview: (post) => ({
    body: post.metadata.html === undefined ? textFor(post).body : textOfHtml(post.metadata.html),
    write: (text) => textSeen(text, post.metadata.format),
  }),
  inspect,
  publish,
  edit,
  insights,
  analytics,
  remove,
});
