import { PassThrough } from "node:stream";
import type { ReadStream, WriteStream } from "node:tty";
import { describe, expect, it } from "vitest";
import { createTerminal } from "../../src/app/terminal.ts";

function streams(isTTY: boolean, stop?: AbortSignal) {
  const written = { stdout: "", stderr: "" };
  const output = (name: "stdout" | "stderr"): WriteStream => {
    const stream = new PassThrough().on("data", (chunk: Buffer) => (written[name] += chunk.toString()));
    return Object.assign(stream, { isTTY, columns: 80 }) as unknown as WriteStream;
  };
  const stdin = Object.assign(new PassThrough(), { isTTY, setRawMode: () => {} });
  const terminal = createTerminal(
    {
      stdin: stdin as unknown as ReadStream,
      stdout: output("stdout"),
      stderr: output("stderr"),
    },
    stop,
  );
  return { stdin, written, terminal };
}

const signal = new AbortController().signal;

describe("the terminal", () => {
  it("asks, and shows what is typed", async () => {
    const { stdin, written, terminal } = streams(true);
    const answer = terminal.ask("Handle: ", { isHidden: false, signal });
    stdin.write("alice.example \r");
    expect(await answer).toBe("alice.example");
    expect(written.stderr).toContain("Handle: ");
    expect(written.stderr).toContain("alice.example");
  });

  it("shows nothing of a secret", async () => {
    const { stdin, written, terminal } = streams(true);
    const answer = terminal.ask("App password: ", { isHidden: true, signal });
    stdin.write("abcd-efgh\r");
    expect(await answer).toBe("abcd-efgh");
    expect(written).toEqual({ stdout: "", stderr: "App password: \n" });
  });

  it.each([
    ["Ctrl-C", "\u0003"],
    ["Ctrl-D", "\u0004"],
  ])("takes %s for an answer", async (_name, key) => {
    const { stdin, terminal } = streams(true);
    const answer = terminal.ask("Handle: ", { isHidden: true, signal });
    stdin.write(key);
    await expect(answer).rejects.toThrow("nothing was done");
  });

  it.each([false, true])(
    "takes a signal for an answer, as it takes Ctrl-C (hidden: %s)",
    async (isHidden) => {
      const { terminal } = streams(true);
      const stop = new AbortController();
      const answer = terminal.ask("Sure? (y/N) ", { isHidden, signal: stop.signal });
      stop.abort(new Error("The process was asked to end (SIGTERM)."));
      await expect(answer).rejects.toMatchObject({
        name: "AppError",
        message: "The question was not answered, so nothing was done.",
      });
    },
  );

  it("reads no further where the process is asked to end", async () => {
    const stop = new AbortController();
    const { terminal } = streams(true, stop.signal);
    const all = terminal.readAll();
    const why = new Error("The process was asked to end (SIGTERM).");
    stop.abort(why);
    await expect(all).rejects.toBe(why);
    await expect(terminal.readAll()).rejects.toBe(why);
  });

  it("asks nobody where nobody is", async () => {
    const { stdin, written, terminal } = streams(false);
    expect(terminal).toMatchObject({ isInteractive: false, isScreen: false, columns: 80 });
    stdin.end('{"a":1}');
    expect(await terminal.readAll()).toBe('{"a":1}');
    terminal.print("result\n");
    terminal.tell("aside\n");
    await new Promise(setImmediate);
    expect(written).toEqual({ stdout: "result\n", stderr: "aside\n" });
  });
});
