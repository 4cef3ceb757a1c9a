import { AppError } from "../../domain/errors.ts";
import { type HostRule, matchesHostRule } from "../../domain/settings/http-address.ts";
import { explainNoAddress, parseUrl } from "../../domain/parse-url.ts";
import { quote } from "../../domain/text/plain-text.ts";
import { isLocalName, isPublicAddress, literalOf } from "./addresses.ts";

const MAX_URL_CHARS = 4_096;

const FIRST_UNPRIVILEGED_PORT = 1_024;
const WEB_PORTS: readonly number[] = [80, 443];

/**
 * Unprivileged ports where something else than HTTP listens: the "bad ports" of
 * https://fetch.spec.whatwg.org/#port-blocking and the usual databases and caches. Other ports stay open,
 * because self-hosted instances and webhooks use them.
 */
const OTHER_SERVICES: readonly number[] = [
  1433, 1521, 1719, 1720, 1723, 2049, 2375, 2379, 3306, 3659, 4045, 4190, 5060, 5061, 5432, 5672, 6000, 6379,
  6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 9092, 10080, 11211, 27017,
];

export interface AddressPolicy {
  /** Checks form, scheme, user info, and (unless excepted) port and literal address. Throws `invalid`. */
  check(url: string, mayBePrivate: boolean): { readonly url: URL; readonly isExcepted: boolean };
}

/** `allowedHosts` may be private for everybody. */
export function createAddressPolicy(allowedHosts: readonly HostRule[]): AddressPolicy {
  return {
    check(text, mayBePrivate) {
      const url = parseAddress(text);
      const isExcepted = mayBePrivate || matchesHostRule(allowedHosts, url.hostname, effectivePort(url));
      if (!isExcepted) assertPublic(url);
      return { url, isExcepted };
    },
  };
}

function parseAddress(text: string): URL {
  if (text.length > MAX_URL_CHARS)
    throw refused(`has more than ${MAX_URL_CHARS} characters. Give a shorter address.`);
  const url = parseUrl(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:") || url.hostname === "") {
    throw refused(`${quote(text)} ${explainNoAddress(text)}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw refused("holds a user name or password. Give an address without them, for example a signed one.");
  }
  return url;
}

function assertPublic(url: URL): void {
  const literal = literalOf(url.hostname);
  if (isLocalName(url.hostname) || (literal !== null && !isPublicAddress(literal)))
    throw refusedAsPrivate(url.hostname);
  // Such a name is one of this network alone, if it is one at all.
  if (literal === null && !/[^.]\.[^.]/.test(url.hostname))
    throw refused(
      `names the host ${quote(url.hostname)}, which is no full name of a server. Give one with its domain, such as social.example. The operator of Posthorn can permit the host in POSTHORN_ALLOWED_HOSTS.`,
    );
  const port = effectivePort(url);
  const isOpen =
    WEB_PORTS.includes(port) || (port >= FIRST_UNPRIVILEGED_PORT && !OTHER_SERVICES.includes(port));
  if (!isOpen)
    throw refused(`uses port ${port}, where no web server is expected. Use 80, 443 or a port from 1024 on.`);
}

function effectivePort(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

function refused(reason: string): AppError {
  return new AppError("invalid", `The address ${reason}`);
}

/** The refusal of a host that leads into this machine or its network; to which address is not told. */
export function refusedAsPrivate(hostname: string): AppError {
  return refused(
    `leads to a private network, which is not allowed. Use a public one. The operator of Posthorn can permit the host ${quote(hostname)} in POSTHORN_ALLOWED_HOSTS.`,
  );
}
