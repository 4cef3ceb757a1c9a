import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { measureText } from "../../domain/posts/caption.ts";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import { MINUTE } from "../../domain/time.ts";
import type { PlatformSetting } from "../../domain/accounts/platform-settings.ts";
import type { Connected, ConnectInput, ConnectIo, SecretsWay, WindowSignIn } from "../../ports/connect.ts";
import { addressSetting } from "../../ports/platform-setup.ts";
import type { Choice, Inspection, PlatformPost, PostInsights, PublishOutcome } from "../../ports/platform.ts";
import { definePlatform } from "../../ports/platform.ts";
import type { JsonObject, PlatformIo } from "../../ports/platform-io.ts";
import type { LiveAt, PublishIo } from "../../ports/publish-io.ts";
import { oneChannel, secretField } from "../shared/connect.ts";
import { byStatus, type FaultTable, naming, refusedField } from "../shared/faults.ts";
import { idReader, onlyFollowers } from "../shared/live.ts";
import { checkFirst, inOrder, lastingAddress } from "../shared/media.ts";
import { reconcileByListing } from "../shared/reconcile.ts";
import { restApi } from "../shared/rest-api.ts";
import { comparable } from "../shared/text.ts";
import { type InThread, laterIds, type Part, partsOf, sendThread } from "../shared/thread.ts";

const TITLE = "Farcaster";
const API = "https://api.neynar.com/v2/farcaster";

const { ask, askOrGone, askWith } = restApi({
  base: API,
  sign: ({ apiKey = "", signerUuid = "" }, _io, { method = "GET", path }) => ({
    headers: { "x-api-key": apiKey },
    ...(path === "/signer/" ? { query: { signer_uuid: signerUuid } } : {}),
    ...(method === "GET" ? {} : { json: { signer_uuid: signerUuid } }),
  }),
  faults: () => FAULTS,
});

/** https://docs.neynar.com/reference/lookup-signer; without a `fid` it was never approved. */
const Signer = z.looseObject({ status: z.string(), fid: z.int().positive().nullish().catch(null) });

const Count = z.int().min(0).nullish().catch(null);

const User = z.looseObject({
  username: z.string().min(1),
  display_name: z.string().nullish().catch(null),
  pfp_url: z.url().nullish().catch(null),
  follower_count: Count,
});
const Users = z.looseObject({ users: z.tuple([User]) }).transform(({ users }) => users[0]);

/** Neynar's description allows it without the 0x that it is asked for with. */
const Hash = z
  .string()
  .regex(/^(?:0x)?[0-9a-f]{40}$/i)
  .transform((hash) => (hash.startsWith("0x") ? hash : `0x${hash}`));

/** In answers and lists alike. */
const Cast = z.looseObject({
  hash: Hash,
  author: z.looseObject({ fid: z.int() }).nullish().catch(null),
  text: z.string().catch(""),
  timestamp: z.string().catch(""),
  parent_hash: Hash.nullish().catch(null),
  embeds: z.array(z.looseObject({ url: z.string().optional().catch(undefined) })).catch([]),
  reactions: z.looseObject({ likes_count: Count, recasts_count: Count }).catch({}),
  replies: z.looseObject({ count: Count }).catch({}),
});
const One = z.looseObject({ cast: Cast });
const Done = z.looseObject({});
const Many = z.looseObject({ casts: z.array(Cast) });

const Refusal = z.looseObject({ property: z.string() }).catch({ property: "" });

const FAULTS: FaultTable = {
  title: TITLE,
  codesOf: ({ status, json }) => (status < 400 ? [] : [Refusal.parse(json).property]),
  rules: [
    ...refusedField("caption", { text: "Farcaster refused it. Change it, then send the post again." }),
    ...refusedField("metadata.channel", {
      channel_id: "Farcaster has no such channel, or the account may not cast there. Choose another one.",
    }),
    ...byStatus("setup", { "402": "The plan of the API key at Neynar has no credits left." }),
    ...byStatus("rejected", {
      "403": "Neynar does not let this signer do that. It must be approved, and belong to the API key.",
      "404": "It is not on Farcaster any more. It was deleted there.",
    }),
    // It knows the key of the request: what was sent before is looked for.
    ...byStatus("ambiguous", { "409": "Neynar had this cast before." }),
  ],
};

/** https://github.com/farcasterxyz/snapchain, core/validations/cast.rs: of accounts without Farcaster Pro. */
const MAX = { text: 1_024, address: 256, embeds: 2 };

const IMAGES = {
  kind: "image",
  mimeTypes: ["image/jpeg", "image/png", "image/gif", "image/webp"],
  maxBytes: 10_000_000,
  maxItems: MAX.embeds,
} as const;

const QUOTED = /^(?:https:\/\/farcaster\.xyz\/[\w.~/-]{3,300}|0x[0-9a-f]{40})$/i;
const Quote = z.string().regex(QUOTED, "must be the address of a cast on farcaster.xyz, or its hash");
const Channel = z.string().regex(/^[a-z0-9-]{1,60}$/, "must be the id of a channel, such as founders");

const { moreMedia, link, thread } = commonMetadata;

/** What a cast takes beside its text and its picture. */
const FarcasterMetadata = z.strictObject({
  moreMedia: moreMedia.describe("A second picture."),
  link: link.describe("Address shown as a card below the text."),
  quote: Quote.optional().describe("A cast to show below the text: its address, or its hash."),
  channel: Channel.optional().describe("Id of the channel that it is cast in (list_choices)."),
  thread: thread.describe("Casts that follow, each a reply to the one before."),
});
type FarcasterPost = PlatformPost<z.infer<typeof FarcasterMetadata>>;

function check(post: FarcasterPost) {
  const { link, quote } = post.metadata;
  const [first, ...later] = partsOf(post);
  const embeds = first.media.length + [link, quote].filter((one) => one !== undefined).length;
  const errors = [
    ...checkFirst(post, "picture"),
    ...later.flatMap(({ text }, at) => tooLong(`metadata.thread[${at}].caption`, text, MAX.text)),
    ...tooLong("metadata.link", link ?? "", MAX.address),
  ];
  if (embeds > MAX.embeds)
    errors.push("metadata.moreMedia: a cast shows two of pictures, link and quote. Leave some out.");
  if (embeds === 0 && first.text.trim() === "")
    errors.push("caption: is empty. Write some text, or give a picture, a link or a quote.");
  return { errors, warnings: [] };
}

function tooLong(field: string, text: string, max: number): string[] {
  const bytes = measureText(text, "bytes");
  return bytes > max ? [`${field}: has ${bytes} bytes, and Farcaster takes ${max}. Shorten it.`] : [];
}

const KEY_PLACE = "On https://dev.neynar.com, the page of your app shows its API key.";
const SIGNER_PLACE =
  "Sign in with Neynar fills it in. Of a bot that you made at Neynar, the page of that bot shows it.";
const NOT_APPROVED =
  "The signer is not approved. Sign in with Neynar again, and allow the app to write. Then reconnect.";

/** https://docs.neynar.com/docs/how-to-let-users-connect-farcaster-accounts-with-write-access-for-free-using-sign-in-with-neynar-siwn */
const SIGN_IN_URL = "https://app.neynar.com/login";

const SIGN_IN: WindowSignIn = {
  label: "Sign in with Neynar",
  field: "signerUuid",
  messageKey: "signer_uuid",
  url({ setting }) {
    const clientId = setting("CLIENT_ID");
    if (clientId === null) return null;
    const url = new URL(setting("AUTH_URL") ?? SIGN_IN_URL);
    url.searchParams.set("client_id", clientId);
    return url.href;
  },
};

const SETTINGS: readonly PlatformSetting[] = [
  {
    name: "CLIENT_ID",
    meaning: "Client id of your app at Neynar, with which people sign in with Neynar",
    kind: "text",
    default: null,
    isRequired: false,
  },
  addressSetting("AUTH_URL", "Where people sign in with Neynar", SIGN_IN_URL),
];

const SIGNER: SecretsWay = {
  kind: "secrets",
  name: "signer",
  label: "Sign in with Neynar",
  steps: [
    "Sign up at https://dev.neynar.com, and open your app there, or make one.",
    "In the app's settings, give it a name and the address of a logo, which people see when they sign in.",
    "Under Authorized origins, enter the address of this Posthorn without a path, such as https://posthorn.example. Neynar takes no IP address there.",
    "Under Permissions, choose Read and write.",
    "Once for everybody: set POSTHORN_FARCASTER_CLIENT_ID to the app's client id, and start Posthorn again.",
    "Enter the app's API key, press Sign in with Neynar on the page that asks for it, and agree as the Farcaster account. Neynar pays for the signer.",
    "Only for a bot that you made at Neynar (Create Agent): enter its signer instead.",
  ],
  signIn: SIGN_IN,
  instructions: `Farcaster is reached through Neynar. Farcaster stores no pictures. It shows them from their own addresses, which must be public and stay: under POSTHORN_PUBLIC_URL, or in a bucket.`,
  fields: [secretField("apiKey", "API key", KEY_PLACE), secretField("signerUuid", "Signer", SIGNER_PLACE)],
  renewal: null,
  connect,
};

async function connect({ name, secrets }: ConnectInput, io: ConnectIo): Promise<Connected> {
  const as = { secrets };
  await naming("apiKey", () => askWith(io, as, { path: "/user/bulk/", query: { fids: 1 } }, Done));
  const { fid, status } = await naming("signerUuid", () => askWith(io, as, { path: "/signer/" }, Signer));
  if (status !== "approved" || typeof fid !== "number")
    throw new AppError("invalid", `signerUuid: ${NOT_APPROVED}`);
  const user = await askWith(io, as, { path: "/user/bulk/", query: { fids: fid } }, Users);
  return oneChannel({
    platformAccountId: String(fid),
    name: name ?? (user.display_name || user.username),
    handle: user.username,
    profileUrl: `https://farcaster.xyz/${encodeURIComponent(user.username)}`,
    avatarUrl: user.pfp_url ?? null,
    secrets,
  });
}

async function publish(post: FarcasterPost, io: PublishIo): Promise<PublishOutcome> {
  const parts = partsOf(post);
  // The addresses of our own files are others each time.
  const embeds = await io.once("embeds", () =>
    inOrder(parts, async ({ media }, at) => [
      ...(await inOrder(media, ({ url }) => pictureAt(url, at, io))),
      ...(at === 0 ? await cardsOf(post, io) : []),
    ]),
  );
  const send = ({ text }: Part, { at, replyTo }: InThread): Promise<SentCast> => {
    const channel = post.metadata.channel === undefined ? {} : { channel_id: post.metadata.channel };
    const place = replyTo === null ? channel : { parent: replyTo };
    return sendCast({ text, embeds: embeds[at] ?? [], ...place }, at, io);
  };
  return { state: "live", ...liveAt(await sendThread(parts, send, io)) };
}

/** Farcaster keeps no pictures: they lie at their own addresses. */
async function pictureAt(given: string, at: number, io: PublishIo): Promise<JsonObject> {
  const field = at === 0 ? "mediaUrl" : `metadata.thread[${at - 1}].mediaUrl`;
  const url = await lastingAddress(given, { field, title: TITLE, limits: IMAGES }, io);
  const [error] = tooLong(field, url, MAX.address);
  if (error !== undefined) throw new AppError("invalid", error);
  return { url };
}

async function cardsOf({ metadata: { link, quote } }: FarcasterPost, io: PlatformIo): Promise<JsonObject[]> {
  const cards: JsonObject[] = link === undefined ? [] : [{ url: link }];
  if (quote === undefined) return cards;
  const query = { identifier: quote, type: quote.startsWith("0x") ? "hash" : "url" };
  const { hash, author } = (await askOrGone(io, { path: "/cast/", query }, One))?.cast ?? {};
  if (hash === undefined || !author)
    throw new AppError("invalid", "metadata.quote: Farcaster has no such cast. Give one that is there.");
  return [...cards, { cast_id: { hash, fid: author.fid } }];
}

type SentCast = { readonly id: string };

/** Names the step that brings a part of the thread, from 0. */
const stepOf = (at: number): string => `cast ${at + 1}`;

function sendCast(json: JsonObject, at: number, io: PublishIo): Promise<SentCast> {
  const find = (since: number) => findCast(json, since, io);
  return io.effect<SentCast>({
    step: stepOf(at),
    request: json,
    send: async ({ key }) => {
      // Neynar asks for 16 characters, and takes no second cast with the same ones.
      const call = { method: "POST", path: "/cast/", json: { ...json, idem: key.slice(0, 16) } } as const;
      return { id: (await ask(io, call, One)).cast.hash };
    },
    // For how long Neynar knows them it does not tell: the cast is looked for first.
    reconcile: (context) => reconcileByListing(context, { io, listedAfterMs: 2 * MINUTE, find }),
    ...(at === 0 ? { live: liveAt } : {}),
  });
}

/** The newest one since then with this text, these embeds and this parent. */
async function findCast(sent: JsonObject, since: number, io: PlatformIo): Promise<SentCast | null> {
  const query = { fid: io.account.platformAccountId, limit: 50 };
  const { casts } = await ask(io, { path: "/feed/user/casts/", query }, Many);
  const wanted = fingerprint({ ...sent, parent_hash: sent["parent"] });
  const found = casts.find((one) => !(Date.parse(one.timestamp) < since) && fingerprint(one) === wanted);
  return found === undefined ? null : { id: found.hash };
}

function fingerprint(cast: unknown): string {
  const { text, embeds, parent_hash: parent } = Cast.omit({ hash: true }).parse(cast);
  return [text, ...embeds.map(({ url = "" }) => url), parent ?? ""].map(comparable).join("\n");
}

function liveAt({ id }: SentCast): LiveAt {
  return { platformPostId: id, platformUrl: `https://farcaster.xyz/~/conversations/${id}` };
}
const userOf = (io: PlatformIo) =>
  ask(io, { path: "/user/bulk/", query: { fids: io.account.platformAccountId } }, Users);

async function inspect(io: PlatformIo): Promise<Inspection> {
  const { status } = await ask(io, { path: "/signer/" }, Signer);
  const { username, display_name: name, pfp_url: avatarUrl = null } = await userOf(io);
  const problem = status === "approved" ? null : NOT_APPROVED;
  return { name: name || username, handle: username, avatarUrl, problem };
}

const idOf = idReader("is not the hash of a cast, so it cannot be found on Farcaster.", /^0x[0-9a-f]{40}$/i);

async function insights(post: FarcasterPost, io: PlatformIo): Promise<PostInsights> {
  const found = await askOrGone(io, { path: "/cast/", query: { identifier: idOf(post), type: "hash" } }, One);
  if (found === null) return { state: "removed", visibility: null, metrics: {} };
  const { likes_count: likes = null, recasts_count: shares = null } = found.cast.reactions;
  const metrics = { likes, shares, comments: found.cast.replies.count ?? null };
  return { state: "live", visibility: "public", metrics };
}

/** Deletes the whole thread, last part first. What is gone already is no error. */
async function remove(post: FarcasterPost, io: PlatformIo): Promise<void> {
  for (const hash of [...laterIds(post, io, stepOf), idOf(post)]) {
    const json = { target_hash: hash };
    await askOrGone(io, { method: "DELETE", path: "/cast/", json, isIdempotent: true }, Done);
  }
}

const Named = z.looseObject({ id: z.string().min(1), name: z.string().catch("") });

/** Those that are found, or those that the account follows. */
async function channels(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  const call =
    search === ""
      ? { path: "/user/channels/", query: { fid: io.account.platformAccountId, limit: 100 } }
      : { path: "/channel/search/", query: { q: search, limit: 100 } };
  const found = await ask(io, call, z.looseObject({ channels: z.array(Named) }));
  return found.channels.map(({ id, name }) => ({ value: id, label: name || id }));
}

/** Casts of one account, through Neynar's API. */
export default definePlatform({
  name: "farcaster",
  title: TITLE,
  docs: "https://docs.neynar.com/reference/publish-cast",
  baseUrl: API,
  capabilities: {
    media: { required: false, maxItems: MAX.embeds, accepts: [IMAGES] },
    caption: { maxLength: MAX.text, unit: "bytes" },
    analytics: { account: ["followers"], post: ["likes", "shares", "comments"] },
    reconciles: "list",
    fetchesMedia: ["image"],
    showsOriginals: true,
  },
  metadata: FarcasterMetadata,
  settings: SETTINGS,
  connect: [SIGNER],
  choices: { channel: channels },
  check,
  inspect,
  publish,
  insights,
  analytics: async (_range, io) => onlyFollowers(TITLE, (await userOf(io)).follower_count ?? undefined),
  remove,
});
