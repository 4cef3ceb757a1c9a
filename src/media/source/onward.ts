import { SECOND } from "../../domain/time.ts";
import type { Clock } from "../../ports/clock.ts";
import { BLOCK_BYTES } from "./block-sums.ts";

/** Bytes of a source that are compared together. */
export interface Block {
  readonly at: number;
  readonly pieces: readonly Buffer[];
}

/** Goes through the blocks of a source as they come. */
export class BlockReader {
  readonly #blocks: AsyncGenerator<Block>;
  /** The last byte that will come. */
  readonly end: number;
  #current: Block | null = null;

  constructor(blocks: AsyncGenerator<Block>, end: number) {
    this.#blocks = blocks;
    this.end = end;
  }

  /** The block with this byte, which is not before the one asked for last. */
  async blockWith(at: number): Promise<Block> {
    for (;;) {
      if (this.#current !== null && at < this.#current.at + BLOCK_BYTES) return this.#current;
      const next: IteratorResult<Block, unknown> = await this.#blocks.next();
      if (next.done === true) throw new Error("The source ended before its end.");
      this.#current = next.value;
    }
  }

  /** Takes the answer to its end, so that its connection can be used again. */
  async finish(): Promise<void> {
    while ((await this.#blocks.next()).done !== true);
  }

  async close(): Promise<void> {
    this.#current = null;
    await this.#blocks.return(undefined);
  }
}

/** The next chunk is asked for when the one before has been taken, which takes a platform seconds. */
const KEPT_MS = 30 * SECOND;

interface Held {
  readonly at: number;
  readonly reader: BlockReader;
  readonly letGo: () => void;
}

/**
 * Between the chunks of a file that is sent in chunks: the second of two that follow each other asks for all
 * of the rest, and what is not read of it yet waits here for the next. Else each chunk would begin with a
 * request to the source, and wait for it.
 */
export class Onward {
  readonly #clock: Clock;
  #next: number | null = null;
  #held: Held | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the last that was read ended here. */
  leadsTo(at: number): boolean {
    return this.#next === at;
  }

  /** The reader that stands at this byte; null where there is none. */
  take(at: number): BlockReader | null {
    if (this.#held?.at !== at) return null;
    const { reader, letGo } = this.#held;
    letGo();
    return reader;
  }

  /** Keeps a reader that was read up to this byte, or ends it where it has nothing more. */
  async keep(at: number, reader: BlockReader, signal: AbortSignal): Promise<void> {
    const older = this.#held;
    // At once: of two readers that end together, the second must find what the first has kept.
    older?.letGo();
    this.#next = at;
    if (reader.end >= at && !signal.aborted) this.#hold(at, reader, signal);
    await older?.reader.close();
    if (reader.end < at) await reader.finish();
    else if (signal.aborted) await reader.close();
  }

  #hold(at: number, reader: BlockReader, signal: AbortSignal): void {
    const close = (): void => void this.close();
    const cancel = this.#clock.after(KEPT_MS, close);
    signal.addEventListener("abort", close);
    const letGo = (): void => {
      cancel();
      signal.removeEventListener("abort", close);
      this.#held = null;
    };
    this.#held = { at, reader, letGo };
  }

  async close(): Promise<void> {
    const held = this.#held;
    held?.letGo();
    await held?.reader.close();
  }
}
