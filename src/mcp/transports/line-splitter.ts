const NEWLINE = 0x0a;

/**
 * Enough of an oversized line to find the id that its answer needs: the usual writers put it first or last.
 */
const KEPT_BYTES = 512;

interface LineHandlers {
  readonly onLine: (line: string) => void;
  /** A line over the limit: only its beginning and its end were kept. */
  readonly onLongLine: (line: { readonly head: string; readonly tail: string }) => void;
}

/** Cuts a stream of bytes into lines, never holding more than the limit. */
export class LineSplitter {
  readonly #maxBytes: number;
  readonly #handlers: LineHandlers;
  #parts: Buffer[] = [];
  #size = 0;
  /** Set while an oversized line goes by. */
  #long: { head: Buffer; tail: Buffer } | null = null;

  constructor(maxBytes: number, handlers: LineHandlers) {
    this.#maxBytes = maxBytes;
    this.#handlers = handlers;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) break;
      this.#add(chunk.subarray(start, end));
      this.end();
      start = end + 1;
    }
    if (start < chunk.length) this.#add(chunk.subarray(start));
  }

  /** Ends the current line; a last line may come without a newline. */
  end(): void {
    const long = this.#long;
    const line = Buffer.concat(this.#parts).toString("utf8").trim();
    this.#parts = [];
    this.#size = 0;
    this.#long = null;
    if (long !== null)
      this.#handlers.onLongLine({ head: long.head.toString("utf8"), tail: long.tail.toString("utf8") });
    else if (line !== "") this.#handlers.onLine(line);
  }

  #add(part: Buffer): void {
    if (this.#long !== null) {
      this.#long.tail = Buffer.concat([this.#long.tail, part.subarray(-KEPT_BYTES)]).subarray(-KEPT_BYTES);
      return;
    }
    this.#parts.push(part);
    this.#size += part.length;
    if (this.#size <= this.#maxBytes) return;
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#long = {
      head: Buffer.from(whole.subarray(0, KEPT_BYTES)),
      tail: Buffer.from(whole.subarray(-KEPT_BYTES)),
    };
  }
}
