import type { Role } from "../../../../src/domain/permissions.ts";

/** A program that asks for access, as the server shows it. */
export interface Client {
  /** What it says of itself. */
  readonly name: string;
  /** Of its document. Null: it registered itself. */
  readonly host: string | null;
  /** Where the answer goes: a host, or a scheme such as `cursor:`. */
  readonly callbackHost: string;
  readonly isVerified: boolean;
  readonly uri: string | null;
}

export interface Consent {
  readonly id: string;
  readonly client: Client;
  /** What the person may give. */
  readonly roles: readonly { readonly name: Role; readonly isPreselected: boolean }[];
  readonly resource: string;
  readonly expiresAt: string;
}

const LOOPBACK: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** Where the answer goes, for people. */
export function placeInWords({ callbackHost }: Pick<Client, "callbackHost">): string {
  if (!callbackHost.endsWith(":") && !LOOPBACK.includes(callbackHost)) return callbackHost;
  return `A program on this device (${callbackHost})`;
}

/** Why it is not certain who asks; null: it is. */
export function doubtAbout({ host, isVerified }: Pick<Client, "host" | "isVerified">): string | null {
  if (isVerified) return null;
  return host === null
    ? "The name is what the program says of itself. Allow it only if you started this just now."
    : `${host} vouches for the name, but any program on this device could ask like this. Allow it only if you started this just now.`;
}
