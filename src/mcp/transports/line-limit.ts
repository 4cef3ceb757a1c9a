import { ProtocolErrorCode } from "@modelcontextprotocol/server";
import { MAX_LINE_BYTES } from "../limits.ts";

const NEWLINE = 0x0a;

/** How much of a long line's end is kept: there stands the id in most clients' messages. */
const KEPT_BYTES = 256;

/** The id of the message itself, before or after all the rest: inside it another field may be called so. */
const FIRST_ID = /^\{"(?:jsonrpc":"2\.0",")?id":("[^"\\]*"|\d+)[,}]/;
const LAST_ID = /"id":("[^"\\]*"|\d+)(?:,"jsonrpc":"2\.0")?\}\s*$/;

/**
 * Lets through no line that is too long: the SDK would end the connection without a word. It is answered, and the
 * next line is read.
 */
export class LineLimit {
  readonly #answer: (line: string) => void;
  #length = 0;
  #start = "";
  #end = Buffer.alloc(0);

  constructor(answer: (line: string) => void) {
    this.#answer = answer;
  }

  /** What may go on of what was read. Of a long line that is its beginning, as a line of its own: no JSON, so skipped. */
  pass(chunk: Buffer): Buffer[] {
    const parts: Buffer[] = [];
    for (let from = 0; from < chunk.length;) {
      const at = chunk.indexOf(NEWLINE, from);
      const to = at === -1 ? chunk.length : at + 1;
      parts.push(...this.#passPart(chunk.subarray(from, to)));
      if (at !== -1) this.#endLine();
      from = to;
    }
    return parts;
  }

  #passPart(part: Buffer): Buffer[] {
    if (this.#length === 0) this.#start = part.toString("latin1", 0, KEPT_BYTES);
    const wasLong = this.#length > MAX_LINE_BYTES;
    this.#length += part.length;
    if (this.#length <= MAX_LINE_BYTES) return [part];
    this.#end = Buffer.concat([this.#end, part.subarray(-KEPT_BYTES)]).subarray(-KEPT_BYTES);
    if (wasLong) return [];
    // At once: who forgot the newline hears of it, too.
    this.#refuse(FIRST_ID.exec(this.#start)?.[1] ?? "null");
    return [Buffer.from("\n")];
  }

  #endLine(): void {
    const id = FIRST_ID.test(this.#start) ? undefined : LAST_ID.exec(this.#end.toString("latin1"))?.[1];
    if (this.#length > MAX_LINE_BYTES && id !== undefined) this.#refuse(id);
    this.#end = Buffer.alloc(0);
    this.#length = 0;
  }

  #refuse(id: string): void {
    const message = `The message is longer than ${MAX_LINE_BYTES / 1024 / 1024} MiB. Send less at once.`;
    const error = { code: ProtocolErrorCode.InvalidRequest, message };
    this.#answer(`${JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(id) as unknown, error })}\n`);
  }
}
