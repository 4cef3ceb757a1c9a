import { AppError } from "../../domain/errors.ts";
import type { Machine, Ran } from "../machine.ts";

/** What is to be kept running. Paths are absolute. */
export interface ServiceSpec {
  /** Of the program, so that an update changes the file, and starts anew what runs. */
  readonly version: string;
  readonly node: string;
  readonly program: string;
  readonly folder: string;
}

export interface ServiceState {
  readonly isRunning: boolean;
  /** It starts by itself from now on. */
  readonly isEnabled: boolean;
  /** In words, with since when or why not. */
  readonly text: string;
}

/** What keeps a person's programs running on one kind of system. */
export interface ServiceManager {
  readonly name: string;
  /** Where it reads what to run. */
  readonly file: string;
  /** The command line that starts it anew. */
  readonly restart: string;
  /** What shows the log. */
  readonly logCommand: (options: { readonly lines: number; readonly follow: boolean }) => readonly string[];
  /** Throws `invalid` for a path that the file cannot hold. */
  render(spec: ServiceSpec): string;
  /** The data folder of a text that `render` wrote; null for any other text. */
  readFolder(text: string): string | null;
  look(): Promise<ServiceState>;
  /** Starts what the file says, in the place of what may run. */
  start(steps: Steps): Promise<void>;
  /** Ends it for good; the file is still there. */
  stop(steps: Steps): Promise<void>;
  /** After the file is gone. */
  forget(steps: Steps): Promise<void>;
  /** Whether it runs while this person is signed out, in words; with `steps`, sees to it first. */
  describeAbsence(steps?: Steps): Promise<string>;
}

/** Changes to the system, told as they are made. */
export interface Steps {
  /** Throws `unavailable` with what it wrote where it fails. */
  do(command: string, ...args: readonly string[]): Promise<void>;
  /** The same for what may fail. */
  try(command: string, ...args: readonly string[]): Promise<Ran>;
}

const MAX_REASON_CHARS = 300;

export function createSteps(machine: Machine, tell: (text: string) => void): Steps {
  const run = async (command: string, args: readonly string[]): Promise<Ran> => {
    tell(`$ ${[command, ...args].join(" ")}\n`);
    return machine.run(command, args);
  };
  return {
    try: (command, ...args) => run(command, args),
    async do(command, ...args) {
      const ran = await run(command, args);
      if (ran.status === 0) return;
      throw new AppError(
        "unavailable",
        `"${[command, ...args].join(" ")}" failed: ${reasonOf(ran)} Mend that and run it again.`,
      );
    },
  };
}

/** What a command said of its failure, as a sentence of one line. */
export function reasonOf({ status, stdout, stderr }: Ran): string {
  if (status === null) return "there is no such command here.";
  const said = (stderr.trim() || stdout.trim()).replaceAll(/\s+/g, " ").slice(0, MAX_REASON_CHARS);
  return said === "" ? `it ended with status ${status}.` : said.replace(/[.!]?$/, ".");
}

/** Throws `invalid` for what no line of a unit or property list can hold. */
export function assertPlainPath(path: string): void {
  if (!/[\p{Cc}\p{Cs}]|\s$|\\$/u.test(path)) return;
  throw new AppError(
    "invalid",
    `The path ${JSON.stringify(path)} has a character that a service's file cannot hold (a control character, or a space or backslash at its end). Move it to another name.`,
  );
}

/** The properties `Name=value` of lines. */
export function readProperties(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split("\n").flatMap((line): [string, string][] => {
      const at = line.indexOf("=");
      return at < 0 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()]];
    }),
  );
}
