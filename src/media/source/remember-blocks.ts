import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { ByteSource } from "../../ports/media-probe.ts";
import { BLOCK_BYTES } from "./block-sums.ts";

const MAX_BLOCKS = 8;

/** The same source, whose blocks are fetched once for the many small reads of one look at a file. */
export function rememberBlocks(source: ByteSource): ByteSource {
  const blocks = new Map<number, Promise<Buffer>>();
  const fetchBlock = (start: number): Promise<Buffer> => {
    const known = blocks.get(start);
    if (known !== undefined) return known;
    const fetching = buffer(source.read({ start, end: Math.min(start + BLOCK_BYTES, source.sizeBytes) - 1 }));
    // Whoever waits for it hears of its error.
    fetching.catch(() => blocks.delete(start));
    blocks.set(start, fetching);
    const [oldest] = blocks.keys();
    if (blocks.size > MAX_BLOCKS && oldest !== undefined) blocks.delete(oldest);
    return fetching;
  };
  async function* readWithin({ start, end }: { start: number; end: number }): AsyncGenerator<Buffer> {
    const from = Math.floor(start / BLOCK_BYTES) * BLOCK_BYTES;
    yield (await fetchBlock(from)).subarray(start - from, end + 1 - from);
  }
  return {
    ...source,
    read(range) {
      const isWithin = Math.floor(range.start / BLOCK_BYTES) === Math.floor(range.end / BLOCK_BYTES);
      return isWithin ? Readable.from(readWithin(range), { objectMode: false }) : source.read(range);
    },
  };
}
