import { parseUrl } from "../../domain/parse-url.ts";

export const MAX_ADDRESS_CHARS = 2_000;

/** Visible signs of ASCII: an address has no others. */
const VISIBLE = /^[\x21-\x7e]+$/;

/** An address of this machine: its host, its port, and the rest. Programs listen at any free port. */
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(\/[^#]*|\?[^#]*)?$/i;

/**
 * Schemes of programs that are known by name. Others have a dot, as that of `com.example.app:` (RFC 8252, section 7.1):
 * those without one belong to systems and browsers, which act on them by themselves.
 */
const KNOWN_SCHEMES: ReadonlySet<string> = new Set([
  "chatgpt:",
  "claude:",
  "codex:",
  "cursor:",
  "goose:",
  "kiro:",
  "raycast:",
  "trae:",
  "vscode:",
  "vscode-insiders:",
  "vscodium:",
  "warp:",
  "windsurf:",
  "zed:",
]);

/** What is wrong with an address that a program wants people to be sent back to. Null: nothing. */
export function redirectProblem(address: string): string | null {
  if (address.length > MAX_ADDRESS_CHARS) return `is longer than ${MAX_ADDRESS_CHARS} characters`;
  const url = VISIBLE.test(address) ? parseUrl(address) : null;
  if (url === null) return "is no whole address";
  if (address.includes("#")) return "has a fragment";
  if (url.username !== "" || url.password !== "") return "has a user name in it";
  if (url.protocol === "https:") return null;
  if (url.protocol === "http:")
    return LOOPBACK.test(address) ? null : "is http, which only addresses of the person's own machine may be";
  if (url.protocol.includes(".") || KNOWN_SCHEMES.has(url.protocol)) return null;
  return `begins with ${url.protocol}, which is no known program's. A scheme of its own has a dot, such as com.example.app:`;
}

/** Whether people may be sent there: exactly as it was registered, but for the port on loopback. */
export function isRegistered(registered: readonly string[], address: string): boolean {
  if (redirectProblem(address) !== null) return false;
  const local = withoutPort(address);
  return registered.some((one) => one === address || (local !== null && withoutPort(one) === local));
}

function withoutPort(address: string): string | null {
  const [, host, rest] = LOOPBACK.exec(address) ?? [];
  return host === undefined ? null : `${host.toLowerCase()}${rest ?? "/"}`;
}

export function isLoopbackAddress(address: string): boolean {
  return LOOPBACK.test(address);
}

/** What a person sees of where they are sent: a host, or the scheme of a program on their machine. */
export function callbackHost(address: string): string {
  const url = parseUrl(address);
  if (url === null) return address;
  return url.protocol === "https:" || url.protocol === "http:" ? url.hostname : url.protocol;
}

/** The address with an answer, each letter of it as it was registered. */
export function answerAt(address: string, answer: Readonly<Record<string, string | null>>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(answer)) if (value !== null) given.set(name, value);
  return `${address}${address.includes("?") ? "&" : "?"}${given.toString()}`;
}
