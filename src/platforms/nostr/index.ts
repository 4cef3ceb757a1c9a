import { jsonIn } from "../../domain/text/read-text.ts";
import * as z from "zod";
import type { StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import { AppError } from "../../domain/errors.ts";
import type { Connected, ConnectInput, ConnectIo, SecretsWay } from "../../ports/connect.ts";
import { type JsonObject, PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { definePlatform, type Inspection } from "../../ports/platform.ts";
import { oneChannel, optional, secretField, textField } from "../shared/connect.ts";
import { ACCEPTED } from "../shared/media.ts";
import { askOrNull } from "../shared/servers.ts";
import { IMAGE_LIMITS } from "./drafts.ts";
import {
  encodeName,
  type Event,
  KEY_PLACE,
  KIND,
  publicKeyOf,
  secretIn,
  type Sign,
  signerOf,
} from "./event.ts";
import { check, formatOf, NostrMetadata } from "./metadata.ts";
import { edit, insights, publish, remove, webUrl } from "./publish.ts";
import { ownSign, readAll, relaysIn, relaysOf, usualRelays } from "./relays.ts";
import { addressSetting } from "../../ports/platform-setup.ts";

const NSEC: SecretsWay = {
  kind: "secrets",
  name: "nsec",
  label: "Private key",
  fields: [
    secretField("nsec", "Private key", `It begins with nsec1. ${KEY_PLACE}`),
    optional(
      textField(
        "relays",
        "Relays",
        "Addresses that begin with wss://, separated by spaces. Leave it empty to post to those of your own list.",
      ),
    ),
  ],
  instructions:
    `Enter the account's private key. ${KEY_PLACE} It is kept encrypted and signs only on this server. ` +
    "It can do everything with the account and cannot be revoked or changed. A key made only for this " +
    "purpose may be better. Nostr asks for no review and no fee.",
  renewal: null,
  connect,
};

async function connect(input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const secret = secretIn(input.secrets["nsec"] ?? "");
  const given = (input.secrets["relays"] ?? "").trim();
  const named = relaysIn(given);
  if (given !== "" && named.length === 0)
    throw new AppError(
      "invalid",
      "relays: has no address of a relay. Give some, for example wss://relay.example.com.",
    );
  const [pubkey, relays] = [publicKeyOf(secret), named.length > 0 ? named : usualRelays(io)];
  const profile = await readProfile(io, { relays, pubkey, sign: signerOf(secret) });
  if (profile.answered.length === 0) throw new AppError("unavailable", `relays: ${noneAnswers(relays)}`);
  return oneChannel({
    platformAccountId: pubkey,
    name: input.name ?? profile.name ?? profile.handle,
    handle: profile.handle,
    profileUrl: `${webUrl(io)}/${npubOf(pubkey)}`,
    avatarUrl: profile.avatarUrl,
    settings: { relays: named },
    secrets: { nsec: encodeName("nsec", Buffer.from(secret, "hex")), relays: named.join(" ") },
  });
}

function noneAnswers(relays: readonly string[]): string {
  return `none of ${relays.join(", ")} answers. Reconnect the channel with others, or try again later.`;
}

/** Who the account is now, and where its posts and files go. */
async function inspect(io: PlatformIo): Promise<Inspection> {
  const pubkey = io.account.platformAccountId ?? "";
  const relays = relaysOf(io);
  const { name, handle, avatarUrl, limits, answered } = await readProfile(io, {
    // Only the usual relays may know the list of relays.
    relays: [...new Set([...relays, ...usualRelays(io)])],
    pubkey,
    sign: ownSign(io),
  });
  if (answered.length === 0) return { problem: `Posthorn cannot post to any relay: ${noneAnswers(relays)}` };
  return { ...(name === null ? {} : { name }), handle, avatarUrl, limits, problem: null };
}

type Network = Pick<PlatformIo, "socket" | "ask" | "now" | "log">;

/** What an account's own events say of it. */
interface Profile {
  readonly name: string | null;
  readonly handle: string;
  readonly avatarUrl: string | null;
  readonly limits: JsonObject;
  /** The relays that answered. */
  readonly answered: readonly string[];
}

const Text = z.string().trim().min(1).optional().catch(undefined);

const Content = z.looseObject({
  display_name: Text,
  name: Text,
  picture: z
    .url({ protocol: /^https$/ })
    .optional()
    .catch(undefined),
  nip05: Text,
});

/** Reads profile (NIP-01), list of relays (NIP-65) and list of file servers (BUD-03), the newest of each. */
async function readProfile(
  io: Network,
  { relays, pubkey, sign }: { relays: readonly string[]; pubkey: string; sign: Sign },
): Promise<Profile> {
  const kinds = [KIND.profile, KIND.relays, KIND.fileServers];
  const { events, answered } = await readAll(io, relays, { kinds, authors: [pubkey], limit: 10 }, sign);
  const newest = (kind: number): Event | undefined =>
    events.find((event) => event.kind === kind && event.pubkey === pubkey);
  const profile = Content.safeParse(jsonIn(newest(KIND.profile)?.content ?? "")).data;
  const own = newest(KIND.relays)?.tags.filter(([name, , use]) => name === "r" && use !== "read") ?? [];
  const servers = newest(KIND.fileServers)?.tags.filter(([name]) => name === "server") ?? [];
  const list = relaysIn(own.map(([, url = ""]) => url));
  return {
    name: profile?.display_name ?? profile?.name ?? null,
    handle: (await checkedHandle(io, profile?.nip05 ?? "", pubkey)) ?? npubOf(pubkey),
    avatarUrl: profile?.picture ?? null,
    limits: {
      relays: list,
      fileServers: servers.map(([, url = ""]) => url).filter((url) => /^https?:\/\//.test(url)),
      maxLength: await readMaxLength(io, list.length > 0 ? list : relays),
    },
    answered,
  };
}

function npubOf(pubkey: string): string {
  return encodeName("npub", Buffer.from(pubkey, "hex"));
}

const Names = z.looseObject({ names: z.record(z.string(), z.unknown()) });

/** The address that a domain says is the key's (https://github.com/nostr-protocol/nips/blob/master/05.md). */
async function checkedHandle(io: Network, text: string, pubkey: string): Promise<string | null> {
  const [, name = "", domain = ""] = /^([a-z0-9._-]+)@([a-z0-9.-]+(?::\d+)?)$/i.exec(text) ?? [];
  if (domain === "") return null;
  const url = `https://${domain}/.well-known/nostr.json?name=${encodeURIComponent(name.toLowerCase())}`;
  const found = await orNull(() => askOrNull(io, url, Names));
  if (found?.names[name.toLowerCase()] !== pubkey) return null;
  return name === "_" ? domain : `${name}@${domain}`;
}

const Information = z.looseObject({
  limitation: z
    .looseObject({ max_content_length: z.int().positive().optional().catch(undefined) })
    .optional(),
});

/** The longest text that all relays take which tell (https://github.com/nostr-protocol/nips/blob/master/11.md). */
async function readMaxLength(io: Network, relays: readonly string[]): Promise<number | null> {
  const told = await Promise.all(
    relays.map((relay) => {
      const url = relay.replace(/^ws/i, "http");
      const headers = { accept: "application/nostr+json" };
      return orNull(() => io.ask({ method: "GET", url, headers }, Information));
    }),
  );
  const lengths = told.flatMap((one) => one?.limitation?.max_content_length ?? []);
  return lengths.length === 0 ? null : Math.min(...lengths);
}

/** Null where it is not to be had: nothing depends on it. */
async function orNull<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PlatformFault) return null;
    throw error;
  }
}

const MAX_ITEMS = 21;

const CAPABILITIES = {
  media: {
    required: false,
    maxItems: MAX_ITEMS,
    accepts: [
      { kind: "image", ...IMAGE_LIMITS, maxItems: MAX_ITEMS },
      // How much each file server takes, it tells when it is asked to.
      { kind: "video", mimeTypes: ACCEPTED.video, maxItems: MAX_ITEMS },
      { kind: "audio", mimeTypes: ACCEPTED.audio, maxItems: MAX_ITEMS },
    ],
  },
  caption: { maxLength: null, unit: "characters" },
  // Files go ahead; relays refuse what comes before its time, or show it.
  scheduling: "prepare",
  leadMinutes: { min: 0, default: 0, max: 60 },
  thumbnail: { set: true, replaceAfterPublish: false },
  // Of articles; nothing else can be changed.
  editPublished: {
    fields: ["caption", "title", "description", "tags", "language", "sensitive", "spoilerText"],
  },
  analytics: { account: [], post: ["likes", "comments", "shares"] },
  reconciles: "client_key",
} satisfies StatedCapabilities;

export default definePlatform({
  name: "nostr",
  title: "Nostr",
  docs: "https://github.com/nostr-protocol/nips",
  capabilities: CAPABILITIES,
  capabilitiesOf({ limits }, post) {
    const { caption, editPublished } = CAPABILITIES;
    const { maxLength } = limits;
    return {
      ...CAPABILITIES,
      caption: { ...caption, maxLength: typeof maxLength === "number" ? maxLength : null },
      editPublished: post === null || formatOf(post) === "article" ? editPublished : { fields: [] },
    };
  },
  metadata: NostrMetadata,
  settings: [
    {
      name: "RELAYS",
      meaning: "Relays for accounts that name none, separated by spaces",
      kind: "text",
      default: "wss://relay.damus.io wss://nos.lol wss://relay.primal.net",
      isRequired: false,
    },
    addressSetting(
      "BLOSSOM_URL",
      "File server for media, where none of the account's own takes them",
      "https://blossom.primal.net",
    ),
    addressSetting("WEB_URL", "Where people look at posts", "https://njump.me"),
  ],
  connect: [NSEC],
  check,
  inspect,
  publish,
  edit,
  insights,
  remove,
});
