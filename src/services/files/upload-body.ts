import { Readable } from "node:stream";
import { AppError } from "../../domain/errors.ts";
import { toBuffer } from "../../domain/to-buffer.ts";
import type { MediaFormat } from "../../ports/media-probe.ts";
import type { AppContext } from "../context.ts";

/** Larger files are refused, on whatever way they come. */
export const MAX_FILE_BYTES = 4 * 1024 ** 3;

/** Looks at the beginning: what is no media is refused before anything of it is stored. */
export async function begin(
  ctx: AppContext,
  body: Readable,
): Promise<{ format: MediaFormat; whole: Readable }> {
  try {
    const { head, whole } = await peek(body, ctx.probe.headBytes);
    if (head.length === 0) throw new AppError("invalid", "The file is empty. Give one with content.");
    return { format: await ctx.probe.identify(head), whole };
  } catch (error) {
    body.destroy();
    throw error;
  }
}

async function peek(body: Readable, bytes: number): Promise<{ head: Buffer; whole: Readable }> {
  const chunks: Buffer[] = [];
  let size = 0;
  const iterator: AsyncIterator<unknown> = body[Symbol.asyncIterator]();
  while (size < bytes) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    chunks.push(toBuffer(value));
    size += chunks.at(-1)?.length ?? 0;
  }
  const head = Buffer.concat(chunks);
  const whole = Readable.from(limited(head, iterator), { objectMode: false });
  // One that nobody began to read does not end what it reads from.
  whole.once("close", () => body.destroy());
  return { head, whole };
}

/** What was looked at and the rest of it, up to the largest size. */
async function* limited(head: Buffer, rest: AsyncIterator<unknown>): AsyncGenerator<Buffer> {
  try {
    let sizeBytes = head.length;
    yield head;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      const chunk = toBuffer(next.value);
      sizeBytes += chunk.length;
      if (sizeBytes > MAX_FILE_BYTES) throw fileTooLarge();
      yield chunk;
    }
  } finally {
    await rest.return?.();
  }
}

export function fileTooLarge(): AppError {
  return new AppError("too_large", `The file is larger than ${MAX_FILE_BYTES} bytes. Give a smaller one.`);
}
