import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import type { ConnectIo } from "../../ports/connect.ts";
import { PlatformFault } from "../../ports/platform-io.ts";

type Network = Pick<ConnectIo, "ask">;

/** What a server of the fediverse runs: `name` in lower case, as nodeinfo has it. */
export interface Software {
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

/** "4.3.2+glitch" is at least 4.3: true where nobody knows. */
export function isAtLeast(version: string, major: number, minor: number): boolean {
  const match = /^v?(\d+)\.(\d+)/.exec(version);
  if (match === null) return true;
  const [own, part] = [Number(match[1]), Number(match[2])];
  return own > major || (own === major && part >= minor);
}
