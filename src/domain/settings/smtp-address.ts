import { decodedPart } from "../text/read-text.ts";
import { parseUrl } from "../parse-url.ts";

/** The mail server that the operator named. Never shown: it holds a password. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte. Else it begins when the server offers it. */
  readonly isSecure: boolean;
  readonly login: { readonly user: string; readonly password: string } | null;
  /** The sender of every message. */
  readonly from: string;
}

const EXAMPLE = "smtps://user:password@mail.example.com?from=posthorn@example.com";
const PORTS = { "smtps:": 465, "smtp:": 587 } as const;

/** What is wrong comes as a text, which quotes nothing of the setting. */
export function readSmtpAddress(text: string): SmtpServer | string {
  const url = parseUrl(text.trim());
  if (url === null || (url.protocol !== "smtp:" && url.protocol !== "smtps:") || url.hostname === "")
    return `must be the address of a mail server, for example ${EXAMPLE}`;
  const [user, password] = [url.username, url.password].map(decodedPart);
  const from = url.searchParams.get("from") ?? (user?.includes("@") === true ? user : null);
  if (from === null || !/^[^\s@<>]+@[^\s@<>]+$/.test(from))
    return `must say who sends, for example ${EXAMPLE}`;
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? PORTS[url.protocol] : Number(url.port),
    isSecure: url.protocol === "smtps:",
    login: user ? { user, password: password ?? "" } : null,
    from,
  };
}
