import { hostname } from "node:os";
import { PassThrough } from "node:stream";
import type { Machine, Terminal } from "../../src/cli/host.ts";
import { visibleText } from "../../src/domain/text/plain-text.ts";
import { runCommandLine } from "../../src/cli/program.ts";
import { createHost } from "../../src/app/host.ts";

export interface CliRun {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What standard input holds. */
  readonly input?: string;
  /** What a person answers, in order; without it nobody is there to be asked. */
  readonly answers?: readonly string[];
  /** Standard output is a terminal of this width. */
  readonly columns?: number;
  /** Called with everything written so far, to end a command that stays. */
  readonly onOutput?: (output: string, stop: () => void) => void;
  /** The operating system, for `posthorn service`; default: this one. */
  readonly machine?: Machine;
  /** Of a process that others shall tell from this one. */
  readonly pid?: number;
}

/** A terminal of strings. `questions` are those that were asked, with whether the answer showed. */
export function createFakeTerminal(options: CliOptions & { readonly stop?: () => void } = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const questions: { question: string; isHidden: boolean }[] = [];
  const answers = [...(options.answers ?? [])];
  const write = (lines: string[], text: string): void => {
    lines.push(text);
    options.onOutput?.(out.join("") + err.join(""), () => options.stop?.());
  };
  const terminal: Terminal = {
    isInteractive: options.answers !== undefined,
    isScreen: options.columns !== undefined,
    columns: options.columns ?? 80,
    print: (text) => write(out, visibleText(text)),
    tell: (text) => write(err, visibleText(text)),
    readAll: async () => options.input ?? "",
    async ask(question, { isHidden }) {
      questions.push({ question, isHidden });
      return answers.shift() ?? "";
    },
  };
  return { terminal, questions, stdout: () => out.join(""), stderr: () => err.join("") };
}

/** Where a machine of strings has Posthorn. */
const INSTALLATION = {
  node: "/usr/bin/node",
  script: "/usr/lib/node_modules/posthorn/dist/posthorn.js",
  dataFolder: null,
};

/**
 * Runs a command in this process on the real composition, quietly and without the settings of whoever runs
 * the tests.
 */
export async function runCli(
  args: readonly string[],
  options: CliOptions = {},
): Promise<CliRun & { questions: readonly { question: string; isHidden: boolean }[] }> {
  const stop = new AbortController();
  const fake = createFakeTerminal({
    ...options,
    stop: () => stop.abort(new Error("The test stopped the command.")),
  });
  const host = createHost({
    env: { POSTHORN_LOG_LEVEL: "silent", ...options.env },
    terminal: fake.terminal,
    self: { host: hostname(), pid: options.pid ?? process.pid },
    node: process.execPath,
    stopSignal: stop.signal,
    stdio: { stdin: new PassThrough(), stdout: new PassThrough(), readParentId: () => 1 },
  });
  const { machine } = options;
  const status = await runCommandLine(args, {
    ...host,
    findCommand: () => "posthorn",
    ...(machine !== undefined && {
      openMachine: async () => machine,
      locateProgram: () => INSTALLATION,
      locateLaunch: () => ({ command: INSTALLATION.node, args: [INSTALLATION.script], dataFolder: null }),
    }),
  });
  return { status, stdout: fake.stdout(), stderr: fake.stderr(), questions: fake.questions };
}
