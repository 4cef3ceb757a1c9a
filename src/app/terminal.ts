import { createInterface, type Interface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import type { ReadStream, WriteStream } from "node:tty";
import type { Terminal } from "../cli/host.ts";
import { AppError } from "../domain/errors.ts";
import { visibleText } from "../domain/text/plain-text.ts";

const DEFAULT_COLUMNS = 80;

/** The standard streams, which are a terminal's or not. */
interface Streams {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
}

/** `stop`: aborted when the process is asked to end. */
export function createTerminal({ stdin, stdout, stderr }: Streams, stop?: AbortSignal): Terminal {
  return {
    isInteractive: stdin.isTTY && stderr.isTTY,
    isScreen: stdout.isTTY,
    get columns() {
      // 0 where a terminal does not tell.
      return stdout.columns || DEFAULT_COLUMNS;
    },
    print: (line) => void stdout.write(visibleText(line)),
    tell: (line) => void stderr.write(visibleText(line)),
    readAll: () => (stop === undefined ? text(stdin) : Promise.race([text(stdin), stopped(stop)])),
    async ask(question, { isHidden, signal }) {
      // Readline echoes what is typed to its output; one that swallows everything shows nothing.
      const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
      const reader = createInterface({ input: stdin, output: isHidden ? silent : stderr, terminal: true });
      try {
        if (isHidden) stderr.write(visibleText(question));
        const answer = await Promise.race([
          reader.question(isHidden ? "" : visibleText(question), { signal }),
          abandoned(reader),
        ]);
        if (isHidden) stderr.write("\n");
        return answer.trim();
      } catch (error) {
        // A signal ends a question as Ctrl-C does.
        throw signal.aborted ? unanswered() : error;
      } finally {
        reader.close();
      }
    },
  };
}

/** Ctrl-C and Ctrl-D close a prompt without an answer, which would be noticed nowhere else. */
function abandoned(reader: Interface): Promise<never> {
  return new Promise((_resolve, reject) => {
    reader.once("close", () => reject(unanswered()));
  });
}

function unanswered(): AppError {
  return new AppError("invalid", "The question was not answered, so nothing was done.");
}

function stopped(stop: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (): void => reject(stop.reason as Error);
    if (stop.aborted) end();
    else stop.addEventListener("abort", end, { once: true });
  });
}
