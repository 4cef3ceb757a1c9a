import { createHash } from "node:crypto";
import type { Request, Response } from "express";

/** A whole answer, without its status. */
export interface MadePage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

interface Exchange {
  readonly request: Request;
  readonly response: Response;
}

/** Where a page is asked for, and what tells whether it would be another by now. */
interface Place {
  readonly address: string;
  readonly version: string;
}

interface Page {
  /** Plain data that the page is made of: for the same it is made once. */
  readonly content: unknown;
  readonly make: () => MadePage;
  /** Where `sendAgain` finds it. */
  readonly place?: Place;
}

interface KeptPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const MAX_KEPT_BYTES = 32 * 1024 * 1024;
const MAX_PLACES = 1_000;

/** Least recently used pages, made once for each content; everybody is sent the same bytes. */
export class KeptPages {
  readonly #pages = new Map<string, KeptPage>();
  /** What was sent last at an address: the version, and the key of its page. */
  readonly #places = new Map<string, { readonly version: string; readonly key: string }>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes = MAX_KEPT_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Sends again what was sent at this place; false where that was another version, or is not kept. */
  sendAgain(exchange: Exchange, { address, version }: Place): boolean {
    const last = this.#places.get(address);
    const page = last?.version === version ? this.#pages.get(last.key) : undefined;
    if (page === undefined) return false;
    sendKept(exchange, page);
    return true;
  }

  /** Sends a page, or only word that it has not changed. */
  send(exchange: Exchange, { content, make, place }: Page): void {
    const key = hashOf(JSON.stringify(content));
    sendKept(exchange, this.#find(key, make));
    if (place === undefined) return;
    if (this.#places.size >= MAX_PLACES) this.#places.clear();
    this.#places.set(place.address, { version: place.version, key });
  }

  #find(key: string, make: () => MadePage): KeptPage {
    const page = this.#pages.get(key) ?? finish(make());
    if (this.#pages.delete(key)) this.#bytes -= page.body.length;
    this.#pages.set(key, page);
    this.#bytes += page.body.length;
    for (const [oldest, { body }] of this.#pages) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#pages.delete(oldest);
      this.#bytes -= body.length;
    }
    return page;
  }
}

function sendKept({ request, response }: Exchange, { headers, body }: KeptPage): void {
  response.set(headers);
  if (request.fresh) return void response.status(304).end();
  response.set("Content-Length", String(body.length)).end(body);
}

function finish({ headers, body }: MadePage): KeptPage {
  const bytes = Buffer.from(body);
  return { headers: { ...headers, ETag: `"${hashOf(bytes)}"` }, body: bytes };
}

function hashOf(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("base64url");
}
