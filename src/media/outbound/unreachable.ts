import { networkInterfaces } from "node:os";
import { codeOf } from "../../domain/errors.ts";
import type { Unreachable } from "../../ports/outbound.ts";

const REASONS: Readonly<Record<string, Unreachable>> = {
  // The resolver itself cannot be asked.
  EAI_AGAIN: "offline",
  ENETUNREACH: "offline",
  ENETDOWN: "offline",
  ENOTFOUND: "unknown_name",
  ECONNREFUSED: "refused",
  EHOSTUNREACH: "silent",
  ETIMEDOUT: "silent",
  UND_ERR_CONNECT_TIMEOUT: "silent",
  CERT_HAS_EXPIRED: "certificate",
  DEPTH_ZERO_SELF_SIGNED_CERT: "certificate",
  SELF_SIGNED_CERT_IN_CHAIN: "certificate",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "certificate",
  ERR_TLS_CERT_ALTNAME_INVALID: "certificate",
};

/** Why a connection did not come about; null for what says nothing about that. */
export function reasonUnreachable(error: unknown): Unreachable | null {
  if (!(error instanceof Error)) return null;
  const reason = REASONS[codeOf(error)];
  // Some systems know no name at all while they have no network.
  if (reason === "unknown_name" && !hasNetwork()) return "offline";
  const [first]: unknown[] = error instanceof AggregateError ? error.errors : [];
  return reason ?? reasonUnreachable(first ?? error.cause);
}

function hasNetwork(): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some(({ internal }) => !internal) === true);
}
