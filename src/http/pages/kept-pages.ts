import { createHash } from "node:crypto";
import type { Request, Response } from "express";

/** A whole answer, without its status. */
export interface MadePage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

interface KeptPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/** Least recently used pages, made once for each content; everybody is sent the same bytes. */
export class KeptPages {
  readonly #pages = new Map<string, KeptPage>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes = MAX_KEPT_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Sends the page made of `content`, or only word that it has not changed. `content` is plain data. */
  send(exchange: { request: Request; response: Response }, content: unknown, make: () => MadePage): void {
    const { request, response } = exchange;
    const { headers, body } = this.#find(content, make);
    response.set(headers);
    if (request.fresh) return void response.status(304).end();
    response.set("Content-Length", String(body.length)).end(body);
  }

  #find(content: unknown, make: () => MadePage): KeptPage {
    const key = hashOf(JSON.stringify(content));
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

function finish({ headers, body }: MadePage): KeptPage {
  const bytes = Buffer.from(body);
  return { headers: { ...headers, ETag: `"${hashOf(bytes)}"` }, body: bytes };
}

function hashOf(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("base64url");
}
