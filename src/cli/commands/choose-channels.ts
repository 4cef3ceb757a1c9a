import { AppError } from "../../domain/errors.ts";
import type { FoundChannel } from "../../connecting/store-accounts.ts";
import type { Terminal } from "../host.ts";
import { parseList } from "../options.ts";

export interface Choosing {
  readonly terminal: Terminal;
  /** As given with --targets. */
  readonly targets: string | undefined;
  readonly signal: AbortSignal;
}

/** The keys of the channels to connect: those of --targets, or those whose numbers somebody types. */
export async function chooseChannels(
  { terminal, targets, signal }: Choosing,
  channels: readonly FoundChannel[],
): Promise<readonly string[]> {
  if (targets !== undefined) return keysOf(channels, targets);
  if (!terminal.isInteractive) {
    throw new AppError(
      "invalid",
      `--targets: several channels were found, and no person can be asked. Give their ids, separated by commas, or all. ${describe(channels)}`,
    );
  }
  terminal.tell(`Several channels were found:\n${channels.map(lineOf).join("")}`);
  for (;;) {
    const answer = await terminal.ask("Which ones (numbers, separated by commas, or all)? ", {
      isHidden: false,
      signal,
    });
    if (answer === "all") return usable(channels);
    const numbers = parseList(answer);
    const wrong = numbers.find((number) => !usable(channels).includes(number));
    if (numbers.length > 0 && wrong === undefined) return numbers;
    if (answer === "") throw new AppError("invalid", "No channel was chosen, so none was connected.");
    terminal.tell(`${wrong ?? answer} is not the number of a channel that can be connected.\n`);
  }
}

function keysOf(channels: readonly FoundChannel[], targets: string): readonly string[] {
  if (targets === "all") return usable(channels);
  return parseList(targets).map((id) => {
    const channel = channels.find((candidate) => candidate.id === id);
    if (channel !== undefined) return channel.key;
    throw new AppError("invalid", `--targets: "${id.slice(0, 40)}" was not found. ${describe(channels)}`);
  });
}

function usable(channels: readonly FoundChannel[]): string[] {
  return channels.flatMap(({ key, problem }) => (problem === null ? [key] : []));
}

function lineOf({ key, name, handle, problem }: FoundChannel): string {
  const more = [handle === name ? null : handle, problem].filter((part) => part !== null);
  return `  ${key}  ${[name, ...more].join(" · ")}\n`;
}

const MAX_NAMED = 20;

function describe(channels: readonly FoundChannel[]): string {
  const named = channels.slice(0, MAX_NAMED).map(({ id, name }) => `${id.slice(0, 80)} (${name})`);
  return `The channels are ${named.join(", ")}${channels.length > MAX_NAMED ? " and more" : ""}.`;
}
