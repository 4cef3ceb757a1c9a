import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { writeArchive } from "../../../src/store/backup/backup-archive.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

async function* cutOff(): AsyncGenerator<Buffer> {
  yield Buffer.alloc(5);
  throw new Error("the file is gone");
}

it.each([
  ["fewer bytes than said", () => Readable.from([Buffer.alloc(5)]), "Size mismatch"],
  ["more bytes than said", () => Readable.from([Buffer.alloc(50)]), "Size mismatch"],
  ["an error", cutOff, "the file is gone"],
])(
  "an entry that has %s ends the archive, and nothing is thrown beside that",
  async (_what, body, sentence) => {
    using folder = temporaryFolder();
    const thrown: unknown[] = [];
    const note = (error: unknown): void => void thrown.push(error);
    process.once("uncaughtExceptionMonitor", note);
    const fill = writeArchive(
      join(folder.path, "a.tar"),
      (archive) => archive.add("posthorn.db", 10, body()),
      () => "signature",
    );
    await expect(fill).rejects.toThrow(sentence);
    process.off("uncaughtExceptionMonitor", note);
    expect(thrown).toEqual([]);
  },
);
