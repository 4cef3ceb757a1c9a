import { Readable } from "node:stream";
import { toBuffer } from "../../domain/to-buffer.ts";

/**
 * The same stream, which fails when its reader takes nothing for `idleMs`: a server that stops reading an
 * upload would hold it until the whole request's time is over. A source that is slow itself counts too.
 * `beforeEach` is called before a piece of it goes on.
 */
export function watchStream(source: Readable, idleMs: number, beforeEach: () => void = () => {}): Readable {
  let timer: NodeJS.Timeout | undefined;
  const watched = Readable.from(pass(), { objectMode: false });
  watched.once("close", () => clearTimeout(timer));
  return watched;

  function touch(): void {
    clearTimeout(timer);
    timer = setTimeout(() => watched.destroy(new Error(`Nothing moved for ${idleMs} ms.`)), idleMs).unref();
  }

  async function* pass(): AsyncGenerator<Buffer> {
    touch();
    for await (const chunk of source) {
      touch();
      beforeEach();
      yield toBuffer(chunk);
    }
    clearTimeout(timer);
  }
}
