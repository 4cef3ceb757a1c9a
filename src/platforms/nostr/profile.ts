import * as z from "zod";
import { PlatformFault, type JsonObject, type PlatformIo } from "../../ports/platform-io.ts";
import { askOrNull } from "../shared/fediverse.ts";
import { KIND, type Event, type Sign } from "./event.ts";
import { encodeName } from "./names.ts";
import { readAll, relaysIn } from "./relays.ts";

type Network = Pick<PlatformIo, "socket" | "ask" | "now" | "log">;

/** What an account's own events say of it. */
export interface Profile {
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
export async function readProfile(
  io: Network,
  { relays, pubkey, sign }: { relays: readonly string[]; pubkey: string; sign: Sign },
): Promise<Profile> {
  const kinds = [KIND.profile, KIND.relays, KIND.fileServers];
  const { events, answered } = await readAll(io, relays, { kinds, authors: [pubkey], limit: 10 }, sign);
  const newest = (kind: number): Event | undefined =>
    events.find((event) => event.kind === kind && event.pubkey === pubkey);
  const profile = Content.safeParse(parse(newest(KIND.profile)?.content ?? "")).data;
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

export function npubOf(pubkey: string): string {
  return encodeName("npub", Buffer.from(pubkey, "hex"));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
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
      const headers = { accept: "application/nostr+json" };
      return orNull(() =>
        io.ask({ method: "GET", url: relay.replace(/^ws/i, "http"), headers }, Information),
      );
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
