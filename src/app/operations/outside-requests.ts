import { jsonIn } from "../../domain/text/read-text.ts";
import { text } from "node:stream/consumers";
import { AppError } from "../../domain/errors.ts";
import { parseUrl } from "../../domain/parse-url.ts";
import { SECOND } from "../../domain/time.ts";
import type { AppContext } from "../../context.ts";
import {
  OutboundFailure,
  type OutboundRequest,
  type OutboundResponse,
  type Unreachable,
} from "../../ports/outbound.ts";

/* How `posthorn doctor --oauth` asks, and what it makes of answers that are not Posthorn's. */

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly url: string;
}

interface Content {
  readonly json?: object;
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A POST where there is something to send, else a GET. Throws `unavailable` where nothing answers. */
export type Ask = (url: string, content?: Content) => Promise<Answer>;

/** What is wrong with the way there, and what to do. */
export function fault(sentence: string): AppError {
  return new AppError("unavailable", sentence);
}

const ADVICE: Readonly<Record<Unreachable, string>> = {
  offline: "This machine has no network. Connect it.",
  unknown_name: "No name server knows the name. Add it where your domain is managed, or turn the tunnel on.",
  refused: "Nothing listens there. Start the proxy or the tunnel, and let port 443 through to it.",
  silent: "There is no answer. Let port 443 through to the proxy, or start the tunnel.",
  certificate:
    "Its certificate is not one that others accept. Let Caddy or the tunnel get one for this name.",
};

/**
 * By the outbound network, as others come. Where the name leads to a private address from here, as those of
 * Tailscale do, that way is taken, and `onPrivate` called.
 */
export function askFromOutside({ outbound }: Pick<AppContext, "outbound">, onPrivate: () => void): Ask {
  let mayBePrivate = false;
  const send = async (request: OutboundRequest): Promise<OutboundResponse> => {
    try {
      return await outbound.request({ ...request, timeoutMs: 20 * SECOND, mayBePrivate });
    } catch (error) {
      if (mayBePrivate || !(error instanceof AppError)) throw error;
      mayBePrivate = true;
      onPrivate();
      return send(request);
    }
  };
  return async (url, content = {}) => {
    try {
      const { body, ...answer } = await send(toRequest(url, content));
      return { ...answer, text: await text(body) };
    } catch (error) {
      const reason = error instanceof Error ? error.message : "";
      const known = error instanceof OutboundFailure ? error.reason : null;
      const advice = known === null ? "Look at the proxy or the tunnel in front of Posthorn." : ADVICE[known];
      throw fault(`${url} cannot be reached. ${advice} (${reason})`);
    }
  };
}

function toRequest(url: string, { json, form, headers = {} }: Content): OutboundRequest {
  if (json === undefined && form === undefined) return { method: "GET", url, headers };
  const [type, accept, body] =
    json === undefined
      ? ["x-www-form-urlencoded", "application/json", new URLSearchParams(form).toString()]
      : ["json", "application/json, text/event-stream", JSON.stringify(json)];
  const sent = { "Content-Type": `application/${type}`, Accept: accept, ...headers };
  return { method: "POST", url, headers: sent, body };
}

const ACCESS =
  "Cloudflare Access asks for a login in front of Posthorn, which programs cannot give. Take this host out of Access, or add a policy with the action Bypass for it.";
const TAILSCALE =
  "Tailscale asks for a login in front of Posthorn, so only your own devices get through. Use Funnel and not Serve: tailscale funnel.";
const CHALLENGE =
  "Cloudflare's bot protection asks for a browser, which programs are not. Turn it off for this host (Security, Bots), or add a rule that skips it.";
const BEHIND =
  "The proxy or tunnel answers, and Posthorn behind it does not. Start Posthorn, and lead the proxy to its port (4747 by default).";
const PAGE =
  "A page answers where Posthorn should: the login or notice of a proxy or tunnel in front. Let requests through to Posthorn without a login.";

/** Who stands in the way. Null where the answer may be Posthorn's own. */
function obstacleOf({ status, headers, text: shown, url }: Answer): string | null {
  const isPage = isHtml(headers);
  if (headers["cf-mitigated"] !== undefined) return CHALLENGE;
  if (headers["cf-access-aud"] !== undefined || headers["cf-access-domain"] !== undefined) return ACCESS;
  if (headers["location"] !== undefined && status >= 300 && status < 400)
    return describeRedirect(parseUrl(headers["location"], url));
  if (isPage && /cloudflareaccess\.com|Cloudflare Access/i.test(shown)) return ACCESS;
  if (isPage && shown.includes("login.tailscale.com")) return TAILSCALE;
  // Cloudflare has codes of its own from 520 on.
  if ([502, 503, 504].includes(status) || status >= 520) return BEHIND;
  return isPage ? PAGE : null;
}

function describeRedirect(to: URL | null): string {
  if (to === null) return "It sends on to an address that is none. Look at the proxy in front of Posthorn.";
  if (to.host.endsWith(".cloudflareaccess.com") || to.pathname.startsWith("/cdn-cgi/access/")) return ACCESS;
  if (to.host === "login.tailscale.com") return TAILSCALE;
  return `It sends on to ${to.origin}${to.pathname}. Programs do not follow that. Let the proxy in front pass requests on to Posthorn, and set POSTHORN_PUBLIC_URL to the address that answers.`;
}

export function isHtml(headers: Answer["headers"]): boolean {
  return (headers["content-type"] ?? "").startsWith("text/html");
}

/** What an answer that was not the one expected comes of. Throws `unavailable`. */
export function refuse(answer: Answer, advice: string): never {
  const { error, error_description: said = error } = asObject(answer.text) ?? {};
  const quoted = typeof said === "string" ? `It says: ${said} ${advice}` : advice;
  // Codes and requests stand in queries.
  const [address] = answer.url.split("?");
  throw fault(`${address} answers with status ${answer.status}. ${obstacleOf(answer) ?? quoted}`);
}

/** Throws `unavailable` where it is not JSON with status 200 (or `status`). */
export function readJsonAnswer(answer: Answer, status = 200): Readonly<Record<string, unknown>> {
  const json = answer.status === status ? asObject(answer.text) : null;
  return json ?? refuse(answer, "Let the proxy in front pass this path on to Posthorn as it is.");
}

function asObject(shown: string): Readonly<Record<string, unknown>> | null {
  const json = jsonIn(shown);
  return typeof json === "object" && json !== null ? { ...json } : null;
}
