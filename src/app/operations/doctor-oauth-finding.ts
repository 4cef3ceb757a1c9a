import { parseUrl } from "../../domain/parse-url.ts";
import type { AppContext } from "../../context.ts";
import {
  type Answer,
  type Ask,
  fault,
  INITIALIZE,
  isHtml,
  JSON_HEADERS,
  readJsonAnswer,
  refuse,
} from "./doctor-oauth-asking.ts";
import { ok, type Finding } from "../../domain/health/findings.ts";
import { problemOf } from "./failures.ts";

/* From the address of `/mcp` to those of the authorization server, as programs find them. */

export interface Endpoints {
  readonly authorize: string;
  readonly token: string;
  readonly register: string;
  readonly revoke: string;
}

/** What the steps share. */
export interface Walk {
  readonly ctx: AppContext;
  readonly ask: Ask;
  readonly resource: URL;
  readonly findings: Finding[];
}

type Step<T> = () => Promise<{ readonly text: string; readonly result: T }>;

/** Null where the step failed, which is told. */
export async function take<T>({ findings }: Walk, topic: string, step: Step<T>): Promise<T | null> {
  try {
    const { text, result } = await step();
    findings.push(ok(topic, text));
    return result;
  } catch (error) {
    findings.push(problemOf(topic, error));
    return null;
  }
}

/** Null where a step failed. */
export async function findEndpoints(walk: Walk): Promise<Endpoints | null> {
  const answer = await take(walk, "address", () => reach(walk));
  if (answer === null) return null;
  const metadata = await take(walk, "challenge", async () => readChallenge(walk, answer));
  if (metadata === null) return null;
  const issuer = await take(walk, "resource metadata", () => readResource(walk, metadata));
  if (issuer === null) return null;
  return take(walk, "server metadata", () => readServer(walk, issuer));
}

async function reach({ ask, resource }: Walk) {
  const result = await ask({
    method: "POST",
    url: resource.href,
    headers: JSON_HEADERS,
    body: INITIALIZE,
  });
  return { text: `${resource.href} answers over https`, result };
}

function readChallenge({ resource }: Walk, answer: Answer) {
  if (answer.status !== 401)
    return refuse(
      answer,
      "Without a token it must be 401: let the proxy in front pass /mcp on to Posthorn, and add no key there.",
    );
  const challenge = answer.headers["www-authenticate"];
  const named = /resource_metadata="([^"]+)"/i.exec(challenge ?? "")?.[1];
  if (named === undefined) {
    if (isHtml(answer.headers)) return refuse(answer, "");
    // Without OAuth Posthorn asks for a key, by the word alone.
    if (challenge === "Bearer")
      throw fault("Posthorn answers, without OAuth. Set POSTHORN_OAUTH=on and start it again.");
    throw fault(
      "The answer has status 401, but no header WWW-Authenticate with resource_metadata. A proxy in front takes it out: let it pass the headers of answers on.",
    );
  }
  requireOwn(resource, named, "WWW-Authenticate names");
  return { text: "/mcp without a token answers 401, and says where tokens are got", result: named };
}

/** Programs refuse addresses of another host than they were given. Throws `unavailable`. */
function requireOwn({ origin }: URL, address: unknown, what: string): string {
  if (typeof address === "string" && parseUrl(address)?.origin === origin) return address;
  throw fault(
    `${what} ${String(address)}, which is not at ${origin}. Set POSTHORN_PUBLIC_URL to ${origin}, and start Posthorn again.`,
  );
}

async function readResource({ ask, resource }: Walk, url: string) {
  const json = readJsonAnswer(await ask({ method: "GET", url }));
  if (json["resource"] !== resource.href)
    throw fault(
      `${url} is about ${String(json["resource"])}, and not about ${resource.href}. Set POSTHORN_PUBLIC_URL to the address that programs are given, and start Posthorn again.`,
    );
  const servers: unknown = json["authorization_servers"];
  const [first]: unknown[] = Array.isArray(servers) ? servers : [];
  const issuer = requireOwn(resource, first, "The authorization server is");
  return { text: `${url} is about ${resource.href}`, result: issuer };
}

async function readServer({ ask, resource }: Walk, issuer: string) {
  const { origin, pathname } = new URL(issuer);
  const url = `${origin}/.well-known/oauth-authorization-server${pathname === "/" ? "" : pathname}`;
  const json = readJsonAnswer(await ask({ method: "GET", url }));
  if (json["issuer"] !== issuer)
    throw fault(
      `${url} says that it is ${String(json["issuer"])}, and not ${issuer}. Another server answers there: let the proxy in front pass this path on to Posthorn.`,
    );
  const holds = (name: string, value: string): boolean => {
    const list: unknown = json[name];
    return Array.isArray(list) && list.includes(value);
  };
  const lacks =
    !holds("code_challenge_methods_supported", "S256") ||
    !holds("token_endpoint_auth_methods_supported", "none") ||
    json["client_id_metadata_document_supported"] !== true;
  if (lacks)
    throw fault(
      `${url} lacks S256, the way "none" or documents of programs, which Posthorn has. Another server answers there, or an old Posthorn: update it.`,
    );
  const own = (name: string): string => requireOwn(resource, json[`${name}_endpoint`], `Its ${name} is`);
  const result = {
    authorize: own("authorization"),
    token: own("token"),
    register: own("registration"),
    revoke: own("revocation"),
  };
  return { text: `${issuer} takes S256, programs with documents, and programs that register`, result };
}
