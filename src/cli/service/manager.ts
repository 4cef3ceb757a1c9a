import { AppError } from "../../domain/errors.ts";

/** What is to be kept running. Paths are absolute. */
export interface ServiceSpec {
  readonly node: string;
  readonly program: string;
  readonly folder: string;
}

export type CommandLine = readonly string[];

/** Runs a command that changes the system, and shows it. Throws `unavailable` where one fails that may not. */
export type RunStep = (command: CommandLine, options?: { readonly mayFail: boolean }) => Promise<void>;

/** What keeps a person's programs running on one kind of system. */
export interface ServiceManager {
  readonly name: string;
  /** Where it reads what to run. */
  readonly file: string;
  /** Succeeds where it works for this user, and the sentence where it does not. */
  readonly isThere: CommandLine;
  readonly absence: string;
  /** The command line that starts it anew. */
  readonly restart: string;
  /** What shows the log, with the options that journalctl and tail have in common. */
  logs(options: readonly string[]): CommandLine;
  /** Throws `invalid` for a path that the file cannot hold. */
  render(spec: ServiceSpec): string;
  /** Starts what the file says, in the place of what may run. */
  start(run: RunStep): Promise<void>;
  /** Ends it for good; the file is still there. */
  stop(run: RunStep): Promise<void>;
  look(): Promise<{ readonly isRunning: boolean; readonly text: string }>;
  /** Whether it runs while this person is signed out, in words. */
  whenItRuns(): Promise<string>;
}

/** By which a file of ours is known. */
export const MARK = 'Written by "posthorn service install"';

/** Throws `invalid` for what no line of a unit or property list can hold. */
export function assertPlainPath(path: string): void {
  if (!/[\p{Cc}\p{Cs}]|\s$|\\$/u.test(path)) return;
  throw new AppError(
    "invalid",
    `The path ${JSON.stringify(path)} has a character that a service's file cannot hold (a control character, or a space or backslash at its end). Move it to another name.`,
  );
}
