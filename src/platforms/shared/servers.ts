import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { parseUrl } from "../../domain/parse-url.ts";
import type { ConnectIo } from "../../ports/connect.ts";
import { OutboundFailure } from "../../ports/outbound.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";

type AccountIo = Pick<PlatformIo, "account" | "setting">;

/** The account's server, without a slash at its end, on a platform that has many. */
export function serverOf(io: AccountIo): string {
  const { instanceUrl } = io.account.settings;
  const server = typeof instanceUrl === "string" ? instanceUrl : io.setting("BASE_URL");
  if (server !== null) return server;
  throw new PlatformFault("auth", "The channel's server is not known. Reconnect the channel.");
}

/** The account's id on its server. */
export function idOnServer({ account }: Pick<AccountIo, "account">): string {
  const id = account.settings["accountId"] ?? account.platformAccountId;
  if (typeof id === "string") return id;
  throw new PlatformFault("auth", "The channel's account is not known. Reconnect the channel.");
}

/** As people name an account everywhere: alice@server.example. */
export function handleAt(server: string, name: string): string {
  return `${name}@${new URL(server).host}`;
}

/** What sentences about servers of this kind name. */
export interface ServerKind {
  readonly title: string;
  /** The address of a well-known one. */
  readonly example: string;
}

/** The server that a person named, or that is set. Throws `invalid`. */
export function requireServer(
  given: string | null,
  io: Pick<ConnectIo, "setting">,
  { title, example }: ServerKind,
): string {
  const server = given ?? io.setting("BASE_URL");
  if (server !== null) return server;
  throw new AppError(
    "invalid",
    `instanceUrl: is required, because ${title} has many servers. Give the address of the channel's own, for example ${example}.`,
  );
}

/**
 * What a person is told of a server that could not be asked, and why not: of its address only where they gave
 * one, and a network is there. Null where the reason is not known.
 */
export function explainUnreached(fault: PlatformFault, { isGiven = true } = {}): AppError | null {
  const { cause, message } = fault;
  if (!(cause instanceof OutboundFailure) || cause.reason === null) return null;
  const isOffline = cause.reason === "offline";
  const [field, mend] = isOffline
    ? ["", "Check its connection, then try again."]
    : isGiven
      ? ["instanceUrl: ", "Check the address, or try again later."]
      : ["", "Check the network of Posthorn's server, or try again later."];
  return new AppError("unavailable", `${field}${message} ${mend}`, { cause: fault });
}

/** What of the person's a server may refuse, and where another is to be had: a whole sentence. */
interface RefusalContext extends Pick<ServerKind, "title"> {
  readonly secret?: { readonly field: string; readonly help: string };
}

/** Throws `invalid` naming the field that the server objects to. */
export async function explaining<T>(
  server: string,
  { title, secret }: RefusalContext,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (!(cause instanceof PlatformFault) || cause.kind === "rate") throw cause;
    const unreached = explainUnreached(cause);
    if (unreached !== null) throw unreached;
    const { host } = new URL(server);
    if (cause.kind === "auth" && secret !== undefined)
      throw new AppError("invalid", `${secret.field}: ${host} refused it. ${secret.help}`, { cause });
    throw new AppError(
      cause.kind === "rejected" ? "invalid" : "unavailable",
      `instanceUrl: ${host} did not answer as a ${title} server does. Check the address or try again later.`,
      { cause },
    );
  }
}

type Network = Pick<ConnectIo, "ask">;

/** What a server of the fediverse runs: `name` in lower case, as nodeinfo has it. */
interface Software {
  readonly name: string;
  readonly version: string;
}

const Links = z.looseObject({ links: z.array(z.looseObject({ rel: z.string(), href: z.string() })) });
const NodeInfo = z.looseObject({
  software: z.looseObject({ name: z.string().max(100), version: z.string().max(200) }),
});

/** By nodeinfo (https://nodeinfo.diaspora.software); null where the server has none. */
export async function askSoftware(io: Network, server: string): Promise<Software | null> {
  const links = await askOrNull(io, `${server}/.well-known/nodeinfo`, Links);
  const link = links?.links.findLast(({ rel }) => rel.includes("nodeinfo.diaspora.software/ns/schema/"));
  const address = parseUrl(link?.href ?? "");
  // What another server says of it is no word of its own; behind a proxy, it may not know its own scheme.
  if (address?.host !== new URL(server).host) return null;
  const info = await askOrNull(io, `${new URL(server).origin}${address.pathname}`, NodeInfo);
  return info === null ? null : { name: info.software.name.toLowerCase(), version: info.software.version };
}

/** Of the version that servers tell to apps of Mastodon: "2.7.2 (compatible; Akkoma 3.10.2)". */
export function softwareOfVersion(version: string): Software {
  const other = /\(compatible; ([\w-]{1,100}) ([^()]{1,200})\)/.exec(version);
  return { name: (other?.[1] ?? "mastodon").toLowerCase(), version: other?.[2] ?? version };
}

/** The answer; null where the server has no such page, or answers something else there. */
export async function askOrNull<T>(io: Network, url: string, schema: z.ZodType<T>): Promise<T | null> {
  try {
    return await io.ask({ method: "GET", url, headers: { accept: "application/json" } }, schema);
  } catch (error) {
    const status = error instanceof PlatformFault ? error.httpStatus : null;
    if (status !== null && status < 500 && status !== 429) return null;
    throw error;
  }
}

/** "4.3.2+glitch" is at least 4.3: true for a version of another form. */
export function isAtLeast(version: string, major: number, minor: number): boolean {
  const match = /^v?(\d+)\.(\d+)/.exec(version);
  if (match === null) return true;
  const [own, part] = [Number(match[1]), Number(match[2])];
  return own > major || (own === major && part >= minor);
}
