import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

type V6 = InstanceType<typeof ipaddr.IPv6>;

/** Global unicast: everything else in IPv6 is local, special, or not given out (RFC 4291, RFC 4007). */
const GLOBAL_UNICAST = { block: ipaddr.IPv6.parse("2000::"), bits: 3 };

/** Blocks that carry an IPv4 address from this 16-bit group on, which is what counts. */
const CARRIERS: readonly { readonly block: V6; readonly bits: number; readonly at: number }[] = [
  { block: ipaddr.IPv6.parse("::ffff:0:0"), bits: 96, at: 6 },
  { block: ipaddr.IPv6.parse("64:ff9b::"), bits: 96, at: 6 },
  { block: ipaddr.IPv6.parse("2002::"), bits: 16, at: 1 },
];

/**
 * Public by their numbers, and yet reached only from inside a cloud: Azure's wire server, with settings and
 * keys of the machine (https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16),
 * and IBM Cloud's service networks (https://cloud.ibm.com/docs/vpc?topic=vpc-service-endpoints-for-vpc). What
 * other clouds use lies in blocks that are special anyway.
 */
const INSIDE_CLOUDS = ["168.63.129.16/32", "161.26.0.0/16", "166.8.0.0/14"].map((block) =>
  ipaddr.IPv4.parseCIDR(block),
);

/** True for a literal that is reached over the public internet; false for text that is no IP address. */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4)
    return address.range() === "unicast" && !INSIDE_CLOUDS.some((block) => address.match(block));
  const carrier = CARRIERS.find(({ block, bits }) => address.match(block, bits));
  if (carrier !== undefined) return isPublicAddress(embedded(address, carrier.at));
  return address.range() === "unicast" && address.match(GLOBAL_UNICAST.block, GLOBAL_UNICAST.bits);
}

function embedded(address: V6, at: number): string {
  const [high = 0, low = 0] = address.parts.slice(at, at + 2);
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

/** The literal inside `URL.hostname` (brackets taken off), or null for a name. */
export function literalOf(hostname: string): string | null {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? null : bare;
}

/** Names of this machine (RFC 6761) or its network: clouds tell keys at metadata.google.internal. */
export function isLocalName(hostname: string): boolean {
  return /(^|\.)(?:localhost|internal)\.?$/i.test(hostname);
}

/** Whether others on the internet may reach it, judged by the address only. */
export function isPublicUrl(url: string): boolean {
  const { hostname } = new URL(url);
  const literal = literalOf(hostname);
  return !isLocalName(hostname) && (literal === null || isPublicAddress(literal));
}
