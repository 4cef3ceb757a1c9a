import * as z from "zod";
import { parseUrl, withoutTrailing } from "../parse-url.ts";

/** An http(s) address as a setting, without the slashes at its end. Paths are put behind one without a query. */
export function httpAddress(example: string, { mayHaveQuery = false } = {}) {
  const problem = `must be an http(s) address, for example ${example}`;
  return z
    .url({ protocol: /^https?$/, error: ({ input }) => (input === undefined ? undefined : problem) })
    .refine((text) => isPlain(text, mayHaveQuery), {
      error: `must be without user name${mayHaveQuery ? "" : ", query"} and fragment`,
    })
    .transform((text) => withoutTrailing(text, "/"));
}

/** True also for what is no address at all, which is told already. */
function isPlain(text: string, mayHaveQuery: boolean): boolean {
  const { username, password, hash, search } = parseUrl(text) ?? new URL("http://none");
  return `${username}${password}${hash}${mayHaveQuery ? "" : search}` === "";
}

/** A host that may be reached although its address is private; `port` null: any port. */
export interface HostRule {
  readonly host: string;
  readonly port: number | null;
}

/** Reads `host`, `host:port` and `[v6]:port`, separated by commas; default: none. */
export const HostList = z
  .string()
  .default("")
  .transform((text, context) => {
    const rules = parseHosts(text);
    if (Array.isArray(rules)) return rules;
    context.addIssue({ code: "custom", message: rules.problem });
    return z.NEVER;
  });

function parseHosts(text: string): HostRule[] | { problem: string } {
  const rules: HostRule[] = [];
  for (const part of text.split(",").map((piece) => piece.trim().toLowerCase())) {
    if (part === "") continue;
    const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/.exec(part);
    const port = match?.[2] === undefined ? null : Number(match[2]);
    if (match?.[1] === undefined || (port !== null && (port < 1 || port > 65_535))) {
      return { problem: `${JSON.stringify(part)} is not a host or host:port. Separate several by commas` };
    }
    rules.push({ host: match[1], port });
  }
  return rules;
}

/** `hostname` as in `URL.hostname` (IPv6 in brackets), `port` the effective one. */
export function matchesHostRule(rules: readonly HostRule[], hostname: string, port: number): boolean {
  const host = hostname.toLowerCase();
  return rules.some((rule) => rule.host === host && (rule.port === null || rule.port === port));
}

/** Express' `trust proxy`: how many proxies are in front, or which addresses they have; false: none. */
export type TrustProxy = number | readonly string[] | false;

/** The names that Express has for subnets. */
const NAMES = ["loopback", "linklocal", "uniquelocal"] as const;

const Place = z.union([z.enum(NAMES), z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

/** `true` is none of them: then each client could name any address as its own. */
export const TrustProxy = z
  .string()
  .transform((text) => text.split(",").map((part) => part.trim()))
  .transform((parts): TrustProxy => (/^[1-9]$/.test(parts.join()) ? Number(parts[0]) : parts))
  .refine(
    (trusted) => typeof trusted === "number" || z.array(Place).safeParse(trusted).success,
    `must be how many proxies are in front (1 to 9), or their addresses and subnets with commas between them, for example ${NAMES[0]} or 10.0.0.0/8`,
  )
  .optional()
  .transform((trusted): TrustProxy => trusted ?? false);
