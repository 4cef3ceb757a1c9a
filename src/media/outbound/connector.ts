import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { callbackify } from "node:util";
import { buildConnector } from "undici";
import type { HostRule } from "../../domain/settings/http-address.ts";
import { SECOND } from "../../domain/time.ts";
import { isPublicAddress } from "./addresses.ts";
import { refusedAsPrivate } from "./address-policy.ts";
import { networkInterfaces } from "node:os";
import { codeOf } from "../../domain/errors.ts";
import type { Unreachable } from "../../ports/outbound.ts";

const CONNECT_TIMEOUT_MS = 10 * SECOND;

export type Lookup = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface OutboundOptions {
  /** May be private, for every address. */
  readonly allowedHosts: readonly HostRule[];
  readonly userAgent?: string;
  /** Tests resolve names their own way; default: the system. */
  readonly lookup?: Lookup;
}

/** Single flight: a thousand posts to one platform wait for one look-up, and Node has two threads for all. */
export function onceAtATime(lookup: Lookup): Lookup {
  const underWay = new Map<string, ReturnType<Lookup>>();
  return (hostname) => {
    const known = underWay.get(hostname);
    if (known !== undefined) return known;
    const found = lookup(hostname).finally(() => underWay.delete(hostname));
    underWay.set(hostname, found);
    return found;
  };
}

/** Connects wherever it is told: for hosts that the administrator named. */
export function createOpenConnector(lookup: Lookup): buildConnector.connector {
  return buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: toNodeLookup(lookup, () => null) });
}

/** Connects to public addresses only, and checks the far end too: a name may change (DNS rebinding). */
export function createGuardedConnector(lookup: Lookup): buildConnector.connector {
  const refuse = (answers: readonly LookupAddress[], hostname: string): Error | null =>
    answers.every(({ address }) => isPublicAddress(address)) ? null : refusedAsPrivate(hostname);
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: toNodeLookup(lookup, refuse) });
  return (target, callback) =>
    connect(target, (...result) => {
      const [error, socket] = result;
      if (error !== null || isPublicAddress(socket.remoteAddress ?? "")) return callback(...result);
      socket.destroy();
      callback(refusedAsPrivate(target.hostname), null);
    });
}

function toNodeLookup(
  lookup: Lookup,
  refuse: (answers: readonly LookupAddress[], hostname: string) => Error | null,
): LookupFunction {
  const resolve = callbackify(
    async (hostname: string): Promise<readonly [LookupAddress, ...LookupAddress[]]> => {
      const [first, ...others] = await lookup(hostname);
      if (first === undefined) throw new Error(`The name ${hostname} has no address.`);
      const refusal = refuse([first, ...others], hostname);
      if (refusal !== null) throw refusal;
      return [first, ...others];
    },
  );
  return (hostname, options, callback) =>
    resolve(hostname, (error, answers) => {
      if (error !== null) return callback(error, "", 0);
      if (options.all === true) return callback(null, [...answers]);
      callback(null, answers[0].address, answers[0].family);
    });
}

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
