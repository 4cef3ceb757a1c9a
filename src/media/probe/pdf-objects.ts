import { constants, inflateSync } from "node:zlib";

/*
 * The objects of a PDF, one after the other as they stand in the file, without its tables of places. A library that
 * draws pages is fifty times as much code, and unpacks what a file tells it to.
 */

/** Names begin with "/". Other texts are not kept: they are empty. `true`, `null` and the like are null. */
export type PdfValue = number | string | null | PdfReference | PdfValue[] | PdfDictionary;
type PdfDictionary = Map<string, PdfValue>;

export class PdfReference {
  readonly number: number;

  constructor(number: number) {
    this.number = number;
  }
}

interface PdfObject {
  /** Null for a trailer. A later object of a number replaces an earlier one. */
  readonly number: number | null;
  readonly value: PdfValue;
}

/** Why it cannot be read: it is damaged, or costs more than it may. */
export class PdfFault extends Error {
  readonly isTooMuch: boolean;

  constructor(isTooMuch: boolean, message: string) {
    super(message);
    this.isTooMuch = isTooMuch;
  }
}

/** What all packed objects may take. */
const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;

/** Honest values have some ten levels. */
const MAX_DEPTH = 64;

/** ISO 32000-2, 7.2.3: white space and delimiters. What is neither makes words. */
const SPACES = new Set([0, 9, 10, 12, 13, 32]);
const DELIMITERS = new Set([..."()<>[]{}/%"].map(codeOf));

const [OPEN, CLOSE, LESS, MORE, SLASH, COMMENT, BACKSLASH] = [..."()<>/%\\"].map(codeOf);
const [LIST, LIST_END, CR, LF] = [..."[]\r\n"].map(codeOf);

function codeOf(character: string): number {
  return character.charCodeAt(0);
}

/** All of them, trailers too, each byte looked at once. Throws `PdfFault`. */
export function* readObjects(bytes: Buffer): Generator<PdfObject> {
  const text = new PdfText(bytes);
  const budget = { left: MAX_UNPACKED_BYTES };
  let [first, second] = [NaN, NaN];
  for (let word = text.nextWord(); word !== null; word = text.nextWord()) {
    if (word === "trailer") yield { number: null, value: text.value() };
    if (word === "obj" && Number.isSafeInteger(first) && Number.isSafeInteger(second)) {
      const value = text.value();
      yield { number: first, value };
      const data = value instanceof Map ? text.stream(value) : null;
      if (data === null || !(value instanceof Map)) continue;
      // Where the tables of places are packed, they are the trailer.
      if (value.get("Type") === "/XRef") yield { number: null, value };
      if (value.get("Type") === "/ObjStm") yield* readPacked(value, data, budget);
    }
    [first, second] = [second, /^\d{1,10}$/.test(word) ? Number(word) : NaN];
  }
}

/** ISO 32000-2, 7.5.7: numbers and places of the objects, then they themselves. */
function* readPacked(of: PdfDictionary, data: Buffer, budget: { left: number }): Generator<PdfObject> {
  const text = new PdfText(unpack(of, data, budget));
  const [count, start] = [of.get("N"), of.get("First")];
  if (typeof count !== "number" || typeof start !== "number") throw new PdfFault(false, "An object stream.");
  const places: [number, number][] = [];
  while (places.length < count) {
    const [number, place] = [text.value(), text.value()];
    if (typeof number !== "number" || typeof place !== "number") throw new PdfFault(false, "A packed place.");
    places.push([number, start + place]);
  }
  for (const [number, place] of places) {
    // Many places of one large object would be read as often.
    if (place < text.at) throw new PdfFault(false, "Packed objects overlap.");
    text.at = place;
    yield { number, value: text.value() };
  }
}

function unpack(of: PdfDictionary, data: Buffer, budget: { left: number }): Buffer {
  const filters = [of.get("Filter") ?? []].flat();
  if (filters.length === 0) return data;
  if (filters.length > 1 || filters[0] !== "/FlateDecode" || of.has("DecodeParms"))
    throw new PdfFault(false, "Objects are packed in an unusual way.");
  try {
    // Some end without a checksum.
    const options = { maxOutputLength: budget.left, finishFlush: constants.Z_SYNC_FLUSH };
    const unpacked = inflateSync(data, options);
    budget.left -= unpacked.length;
    return unpacked;
  } catch (error) {
    const isTooMuch = error instanceof RangeError;
    throw new PdfFault(isTooMuch, `Packed objects: ${String(error)}`);
  }
}

class PdfText {
  at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The next word that is in no value. Null at the end. */
  nextWord(): string | null {
    for (;;) {
      this.#skipSpace();
      if (this.at >= this.#bytes.length) return null;
      const word = this.#word();
      if (word !== "") return word;
      this.at += 1;
    }
  }

  value(depth = 0): PdfValue {
    if (depth > MAX_DEPTH) throw new PdfFault(true, "Values lie too deep in each other.");
    this.#skipSpace();
    switch (this.#peek()) {
      case SLASH:
        return this.#name();
      case OPEN:
        return this.#skipString();
      case LIST:
        return this.#list(depth);
      case LESS:
        return this.#peek(1) === LESS ? this.#dictionary(depth) : this.#skipPast(MORE);
    }
    const word = this.#word();
    // A delimiter that ends nothing.
    if (word === "") this.at += 1;
    return /^\d{1,10}$/.test(word) ? (this.#reference(Number(word)) ?? Number(word)) : numberOf(word);
  }

  /** The bytes after a dictionary, where it is that of a stream. */
  stream(of: PdfDictionary): Buffer | null {
    const before = this.at;
    this.#skipSpace();
    if (this.#word() !== "stream") {
      this.at = before;
      return null;
    }
    if (this.#peek() === CR) this.at += 1;
    if (this.#peek() === LF) this.at += 1;
    const start = this.at;
    const length = of.get("Length");
    const end = typeof length === "number" && this.#endsAt(start + length) ? start + length : this.#findEnd();
    this.at = end;
    return this.#bytes.subarray(start, end);
  }

  #endsAt(place: number): boolean {
    const rest = this.#bytes.toString("latin1", place, place + 12);
    return /^[\s\0]{0,3}endstream/.test(rest);
  }

  #findEnd(): number {
    const end = this.#bytes.indexOf("endstream", this.at, "latin1");
    if (end === -1) throw new PdfFault(false, "A stream has no end.");
    return end;
  }

  #peek(ahead = 0): number | undefined {
    return this.#bytes[this.at + ahead];
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#peek();
      if (code === COMMENT) {
        while (this.at < this.#bytes.length && this.#peek() !== CR && this.#peek() !== LF) this.at += 1;
      } else if (code !== undefined && SPACES.has(code)) this.at += 1;
      else return;
    }
  }

  /** Empty before a delimiter. */
  #word(): string {
    const start = this.at;
    for (let code = this.#peek(); code !== undefined; code = this.#peek()) {
      if (SPACES.has(code) || DELIMITERS.has(code)) break;
      this.at += 1;
    }
    return this.#bytes.toString("latin1", start, Math.min(this.at, start + 128));
  }

  /** #4A is a J. */
  #name(): string {
    this.at += 1;
    return `/${this.#word().replace(/#([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)))}`;
  }

  #reference(number: number): PdfReference | null {
    const before = this.at;
    this.#skipSpace();
    if (/^\d{1,5}$/.test(this.#word())) {
      this.#skipSpace();
      if (this.#word() === "R") return new PdfReference(number);
    }
    this.at = before;
    return null;
  }

  #list(depth: number): PdfValue[] {
    this.at += 1;
    const values: PdfValue[] = [];
    for (;;) {
      this.#skipSpace();
      this.#assertMore();
      if (this.#peek() === LIST_END) break;
      values.push(this.value(depth + 1));
    }
    this.at += 1;
    return values;
  }

  #dictionary(depth: number): PdfDictionary {
    this.at += 2;
    const entries: PdfDictionary = new Map();
    for (;;) {
      this.#skipSpace();
      this.#assertMore();
      if (this.#peek() === MORE) break;
      const key = this.value(depth + 1);
      if (typeof key === "string" && key !== "") entries.set(key.slice(1), this.value(depth + 1));
    }
    this.at += 2;
    return entries;
  }

  #skipString(): string {
    let open = 0;
    do {
      this.#assertMore();
      const code = this.#peek();
      if (code === BACKSLASH) this.at += 1;
      else if (code === OPEN) open += 1;
      else if (code === CLOSE) open -= 1;
      this.at += 1;
    } while (open > 0);
    return "";
  }

  #skipPast(code: number | undefined): string {
    while (this.#peek() !== code) {
      this.#assertMore();
      this.at += 1;
    }
    this.at += 1;
    return "";
  }

  #assertMore(): void {
    if (this.at >= this.#bytes.length) throw new PdfFault(false, "It ends within a value.");
  }
}

function numberOf(word: string): number | null {
  return /^[-+]?\d{0,20}(?:\.\d{0,20})?$/.test(word) && /\d/.test(word) ? Number(word) : null;
}
