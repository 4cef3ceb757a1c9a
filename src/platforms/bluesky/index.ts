import { jsonIn } from "../../domain/text/read-text.ts";
import * as z from "zod";
import type { StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import type { PlatformSetting } from "../../domain/accounts/platform-settings.ts";
import { AppError } from "../../domain/errors.ts";
import { parseUrl } from "../../domain/parse-url.ts";
import type { Connected, ConnectInput, ConnectIo } from "../../ports/connect.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import { definePlatform } from "../../ports/platform.ts";
import { addressSetting } from "../../ports/platform-setup.ts";
import { secretField, textField } from "../shared/connect.ts";
import { explainUnreached } from "../shared/servers.ts";
import {
  createSession,
  isXrpcError,
  refresh,
  resolveHandle,
  type Session,
  type SignIn,
  tokensOf,
  webUrl,
  xrpc,
} from "./api.ts";
import { ACCOUNT_METRICS, analytics, edit, insights, remove, people } from "./live.ts";
import { IMAGE_LIMITS, imageLimitsOf } from "./media.ts";
import { BlueskyMetadata, checkPost, MAX_IMAGES, MAX_TEXT_GRAPHEMES, asSeen } from "./metadata.ts";
import { publish } from "./publish.ts";

/** The server that knows every account hosted by Bluesky itself and passes each on to its own server. */
const BLUESKY = "https://bsky.social";

const PASSWORD_PLACE =
  "Make an app password at https://bsky.app/settings/app-passwords (Settings, Privacy and security, App passwords).";

const SECRET_FIELDS = [
  textField("handle", "Handle", "Your full handle, for example alice.bsky.social, or your DID."),
  secretField("appPassword", "App password", `${PASSWORD_PLACE} It looks like abcd-efgh-ijkl-mnop.`),
];

const INSTRUCTIONS = `${PASSWORD_PLACE} It can post and can be revoked there at any time. Your main password stays with you.`;

/** Signs in with the app password and finds the account's own server. */
async function connect(input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const instanceUrl = instanceOf(input.instanceUrl);
  const service = instanceUrl ?? io.setting("BASE_URL") ?? BLUESKY;
  const identifier = identifierOf(input, service);
  const password = (input.secrets["appPassword"] ?? "").trim();
  if (password === "") throw new AppError("invalid", `appPassword: is missing. ${PASSWORD_PLACE}`);

  const session = await signIn(io, { service, identifier, password }, instanceUrl !== null);
  const pdsUrl = pdsFrom(session, service);
  const base = instanceUrl === null ? (io.setting("BASE_URL") ?? pdsUrl) : pdsUrl;
  const profile = await readProfile(io, { base, session });
  return {
    tokens: tokensOf(session, password),
    targets: [
      {
        platformAccountId: session.did,
        name: input.name ?? profile.displayName ?? session.handle,
        handle: session.handle,
        profileUrl: webUrl(io, session),
        avatarUrl: profile.avatar ?? null,
        settings: { instanceUrl, pdsUrl },
        secrets: {},
        ...(isMainPassword(session.accessJwt) ? { notice: MAIN_PASSWORD_NOTICE } : {}),
      },
    ],
  };
}

const MAIN_PASSWORD_NOTICE =
  `That was the account's main password. It works, but it can do everything, and it cannot be revoked separately. ` +
  `${PASSWORD_PLACE} Then connect again with it.`;

/** The reference server writes into the token what it is good for. */
function isMainPassword(accessJwt: string): boolean {
  const claims = jsonIn(Buffer.from(accessJwt.split(".")[1] ?? "", "base64url").toString("utf8"));
  return z.object({ scope: z.literal("com.atproto.access") }).safeParse(claims).success;
}

function instanceOf(given: string | null): string | null {
  const text = (given ?? "").trim();
  if (text === "") return null;
  const url = parseUrl(/^https?:\/\//i.test(text) ? text : `https://${text}`);
  if (url === null) {
    throw new AppError(
      "invalid",
      "instanceUrl: is not an address. Give your server's, for example https://pds.example.com.",
    );
  }
  return url.origin === BLUESKY ? null : url.origin;
}

const DID_OR_MAIL = /^(did:[a-z]+:\S+|[^\s@]+@[^\s@]+)$/;

/** https://atproto.com/specs/handle; a first part without its domain is completed. */
const HANDLE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;

function identifierOf(input: ConnectInput, service: string): string {
  const { handle, platformAccountId } = input.reconnecting ?? {};
  const given = input.secrets["handle"] ?? input.handle ?? "";
  // The stored handle may be an old one of the account; its DID never changes.
  if (platformAccountId !== undefined && platformAccountId !== null && (given === "" || given === handle))
    return platformAccountId;
  // Handles copied from the app come with an at sign and invisible direction marks.
  const text = given
    .replace(/[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, "")
    .trim()
    .replace(/^[@＠]/, "");
  if (text === "")
    throw new AppError("invalid", "handle: is missing. Give the full handle, for example alice.bsky.social.");
  if (DID_OR_MAIL.test(text)) return text;
  if (!HANDLE.test(text))
    throw new AppError(
      "invalid",
      "handle: is not a handle, which has only letters, digits, hyphens and dots. Give the full handle, for example alice.bsky.social.",
    );
  if (text.includes(".")) return text.toLowerCase();
  if (service === BLUESKY) return `${text.toLowerCase()}.bsky.social`;
  throw new AppError(
    "invalid",
    "handle: is not a full handle. Give it with its domain, for example alice.example.com.",
  );
}

/** Throws `invalid` that names the field the server objects to. */
async function signIn(io: ConnectIo, attempt: SignIn, isGiven: boolean): Promise<Session> {
  try {
    const session = await createSession(io, attempt);
    if (session.active !== false) return session;
    throw new AppError(
      "invalid",
      "handle: this account is suspended or deactivated on Bluesky. Settle that with Bluesky first.",
    );
  } catch (error) {
    if (!(error instanceof PlatformFault)) throw error;
    throw explainUnreached(error, { isGiven }) ?? (await explainRefusal(io, { ...attempt, isGiven }, error));
  }
}

async function explainRefusal(
  io: ConnectIo,
  attempt: SignIn & { readonly isGiven: boolean },
  fault: PlatformFault,
): Promise<AppError> {
  const host = new URL(attempt.service).host;
  const invalid = (message: string) => new AppError("invalid", message, { cause: fault });
  const unavailable = (message: string) => new AppError("unavailable", message, { cause: fault });
  if (isXrpcError(fault, "AuthFactorTokenRequired"))
    return invalid(
      `appPassword: that is the main password of an account that asks for a code. ${PASSWORD_PLACE}`,
    );
  if (isXrpcError(fault, "AccountTakedown", "AccountDeactivated", "AccountSuspended"))
    return invalid(`handle: ${fault.message}`);
  if (fault.kind === "rate")
    return unavailable(
      "Bluesky takes no more sign-ins from this account for now. Try again in a few minutes.",
    );
  if (fault.cause instanceof AppError)
    return invalid(`${attempt.isGiven ? "instanceUrl: " : ""}${fault.cause.message}`);
  if (fault.kind !== "auth" && !(isXrpcError(fault, "InvalidRequest") && fault.httpStatus === 400))
    return unavailable(
      attempt.isGiven
        ? `instanceUrl: ${host} did not answer as a Bluesky server does. Check the address or try again later.`
        : `The server ${host} did not answer as a Bluesky server does. Try again later.`,
    );
  return (await isUnknownHandle(io, attempt))
    ? invalid(`handle: ${host} knows no account with this handle. Check its spelling.`)
    : invalid(`appPassword: ${host} refused it for this account. ${PASSWORD_PLACE}`);
}

async function isUnknownHandle(io: ConnectIo, { service, identifier }: SignIn): Promise<boolean> {
  if (identifier.startsWith("did:") || identifier.includes("@")) return false;
  try {
    return (await resolveHandle(io, service, identifier)) === null;
  } catch {
    return false;
  }
}

/** The server named in the DID document. One that would take the tokens out of TLS is not believed. */
function pdsFrom(session: Session, service: string): string {
  const entry = session.didDoc?.service?.find(
    ({ id }) => id === "#atproto_pds" || id === `${session.did}#atproto_pds`,
  );
  const given = entry?.serviceEndpoint;
  const endpoint = typeof given === "string" ? parseUrl(given) : null;
  if (endpoint === null) return service;
  const { protocol, origin } = endpoint;
  const isFit = protocol === "https:" || (protocol === "http:" && service.startsWith("http:"));
  return isFit ? origin : service;
}

const Profile = z.looseObject({ displayName: z.string().optional(), avatar: z.url().optional() }).catch({});

/** Name and picture, where the server can reach Bluesky's index; an account is connected without them too. */
async function readProfile(
  io: ConnectIo,
  at: { base: string; session: Session },
): Promise<{ displayName?: string; avatar?: string }> {
  const { did, accessJwt: token } = at.session;
  const call = { base: at.base, nsid: "app.bsky.actor.getProfile", params: { actor: did }, token };
  try {
    const { displayName = "", avatar } = await xrpc(io, call, Profile);
    return {
      ...(displayName.trim() === "" ? {} : { displayName: displayName.trim() }),
      ...(avatar === undefined ? {} : { avatar }),
    };
  } catch (error) {
    if (error instanceof PlatformFault) return {};
    throw error;
  }
}

const MB = 1_000_000;

const SETTINGS: readonly PlatformSetting[] = [
  addressSetting(
    "BASE_URL",
    "A gateway that stands for every server of the network",
    "the server of the account",
  ),
  addressSetting("APPVIEW_URL", "Where numbers of posts are asked for", "https://public.api.bsky.app"),
  addressSetting("VIDEO_URL", "Where videos are sent", "https://video.bsky.app"),
  addressSetting("WEB_URL", "Where people look at posts", "https://bsky.app"),
];

const CAPABILITIES: StatedCapabilities = {
  media: {
    required: false,
    maxItems: MAX_IMAGES,
    accepts: [
      // Its apps show only the first frame.
      { kind: "image", ...IMAGE_LIMITS, maxItems: MAX_IMAGES, animated: false },
      // https://github.com/bluesky-social/atproto/blob/main/lexicons/app/bsky/embed/video.json
      { kind: "video", mimeTypes: ["video/mp4"], maxBytes: 300 * MB, maxSeconds: 600, maxItems: 1 },
    ],
  },
  caption: { maxLength: MAX_TEXT_GRAPHEMES, unit: "graphemes" },
  // Media go ahead, as blobs that no record names.
  scheduling: "prepare",
  // Only media can be sent ahead, and servers keep what no record names for some minutes only.
  leadMinutes: { min: 0, default: 0, max: 15 },
  thumbnail: { set: true, replaceAfterPublish: false },
  editPublished: {
    fields: [
      "caption",
      "altText",
      "tags",
      "language",
      "langs",
      "sensitive",
      "contentLabel",
      "replyRules",
      "allowQuotes",
      "allowEdit",
    ],
  },
  analytics: { account: [...ACCOUNT_METRICS], post: ["likes", "comments", "shares", "saves"] },
  reconciles: "client_key",
};

export default definePlatform({
  name: "bluesky",
  title: "Bluesky",
  aliases: ["bsky", "bsky.app"],
  docs: "https://docs.bsky.app/docs/advanced-guides/posts",
  showsLinkCards: true,
  capabilities: CAPABILITIES,
  capabilitiesOf(account) {
    const { maxBytes } = imageLimitsOf(account);
    const accepts = CAPABILITIES.media.accepts.map((one) =>
      one.kind === "image" ? { ...one, maxBytes } : one,
    );
    return { ...CAPABILITIES, media: { ...CAPABILITIES.media, accepts } };
  },
  metadata: BlueskyMetadata,
  settings: SETTINGS,
  connect: [
    {
      kind: "secrets",
      name: "appPassword",
      label: "App password",
      fields: SECRET_FIELDS,
      instructions: INSTRUCTIONS,
      // A refresh token that is used up costs nothing: the app password begins another session.
      renewal: { beforeMs: 0, isSingleUse: false, renew: refresh },
      connect,
    },
  ],
  check: checkPost,
  choices: { mention: people },
  // Its title is that of the link card.
  preview: ({ metadata: { quote } }) => ({
    title: null,
    write: asSeen,
    ...(quote === undefined ? {} : { note: `Shows the post ${quote} below.` }),
  }),
  publish,
  edit,
  insights,
  analytics,
  remove,
});
