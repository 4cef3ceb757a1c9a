import { jsonIn } from "../../domain/text/read-text.ts";
import type { Readable } from "node:stream";
import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import { HOUR, MINUTE, SECOND } from "../../domain/time.ts";
import type { AppContext } from "../../context.ts";
import { cleanName, httpsOrNull, MAX_REDIRECTS } from "./client-texts.ts";
import { type ClientDocument, findKnownClient } from "./known-clients.ts";
import { OAuthFault } from "./oauth-fault.ts";
import { isRegistered, MAX_ADDRESS_CHARS, redirectProblem } from "./redirects.ts";

const FETCH_MS = 5 * SECOND;
const MAX_BYTES = 64 * 1024;
const KEPT_MS = HOUR;
/** A document that was not there is asked for again after this. */
const MISSED_MS = MINUTE;
const MAX_KEPT = 200;
/** Asked for at the same time: each holds a connection. */
const MAX_OPEN = 10;

interface DocumentCacheEntry {
  readonly until: number;
  readonly document: Promise<ClientDocument>;
}

/** Programs whose id is the address of a document about them, which their servers show. */
export class ClientDocuments {
  readonly #ctx: Pick<AppContext, "outbound" | "clock" | "log">;
  readonly #kept = new Map<string, DocumentCacheEntry>();
  #open = 0;

  constructor(ctx: Pick<AppContext, "outbound" | "clock" | "log">) {
    this.#ctx = ctx;
  }

  /** For a person who would come back to `redirectUri`. Throws OAuthFault `invalid_client`. */
  async find(id: string, redirectUri: string): Promise<ClientDocument> {
    const known = findKnownClient(id);
    if (known !== null && isRegistered(known.redirectUris, redirectUri)) return known;
    requireDocumentAddress(id);
    const now = this.#ctx.clock.now();
    const kept = this.#kept.get(id);
    if (kept !== undefined && kept.until > now) return kept.document;
    if (this.#open >= MAX_OPEN) throw unread("too many such documents are being read at this moment");
    const document = this.#read(id);
    this.#keep(id, { until: now + KEPT_MS, document });
    document.catch(() => this.#keep(id, { until: now + MISSED_MS, document }));
    return document;
  }

  #keep(id: string, kept: DocumentCacheEntry): void {
    this.#kept.delete(id);
    this.#kept.set(id, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }

  async #read(id: string): Promise<ClientDocument> {
    this.#open += 1;
    try {
      return readDocument(id, await this.#fetch(id));
    } finally {
      this.#open -= 1;
    }
  }

  async #fetch(id: string): Promise<string> {
    try {
      const answer = await this.#ctx.outbound.request({
        method: "GET",
        url: id,
        headers: { Accept: "application/json" },
        timeoutMs: FETCH_MS,
        idleMs: FETCH_MS,
      });
      if (answer.status !== 200) {
        answer.body.destroy();
        throw new Error(`The status is ${answer.status}.`);
      }
      return await readText(answer.body);
    } catch (error) {
      this.#ctx.log.info({ host: parseUrl(id)?.hostname, err: error }, "A program's document was not read");
      throw unread("it was not there, or not in time");
    }
  }
}

/** The document's own address, as a browser would write it: two spellings would be two programs. */
export function isDocumentAddress(id: string): boolean {
  const url = id.startsWith("https://") && id.length <= MAX_ADDRESS_CHARS ? parseUrl(id) : null;
  if (url === null || url.href !== id || url.pathname === "/") return false;
  return url.username === "" && url.password === "" && !id.includes("#");
}

function requireDocumentAddress(id: string): void {
  if (!isDocumentAddress(id)) throw unread("its address is not one of https with a path, written out whole");
}

function unread(why: string): OAuthFault {
  return new OAuthFault(
    "invalid_client",
    `client_id: the document about this program could not be used, because ${why}. Try again, or ask who makes the program.`,
  );
}

async function readText(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > MAX_BYTES) {
      body.destroy();
      throw new Error(`The document is longer than ${MAX_BYTES} bytes.`);
    }
    chunks.push(bytes);
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
}

const Document = z.object({
  client_id: z.string(),
  client_name: z.string().optional(),
  client_uri: z.string().optional(),
  redirect_uris: z.array(z.string()).min(1).max(MAX_REDIRECTS),
  token_endpoint_auth_method: z.string().default("none"),
  token_endpoint_auth_methods_supported: z.array(z.string()).default([]),
});

function readDocument(id: string, text: string): ClientDocument {
  const parsed = Document.safeParse(jsonIn(text));
  if (!parsed.success) throw unread("it lacks what such a document says");
  const { client_id, client_name, client_uri, redirect_uris, ...methods } = parsed.data;
  if (client_id !== id) throw unread("it is about another program");
  if (redirect_uris.some((address) => redirectProblem(address) !== null))
    throw unread("it names an address that people are not sent to");
  const { token_endpoint_auth_method: method, token_endpoint_auth_methods_supported: others } = methods;
  if (method !== "none" && !others.includes("none"))
    throw unread("the program wants to prove itself in a way that is not known here");
  const host = new URL(id).hostname;
  return {
    id,
    name: cleanName(client_name) ?? host,
    uri: httpsOrNull(client_uri),
    redirectUris: redirect_uris,
  };
}
