import ipaddr from "ipaddr.js";

/** What one connection to the internet gets over IPv6, in bytes. */
const NETWORK_BYTES = 7;

/** Whom limits by address count: an address of IPv4, or the network of 56 bits that one of IPv6 belongs to. */
export function networkOf(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return address ?? "";
  const plain = ipaddr.process(address);
  return plain.kind() === "ipv4" ? plain.toString() : plain.toByteArray().slice(0, NETWORK_BYTES).join(":");
}
