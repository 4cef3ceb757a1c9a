import * as z from "zod";

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
