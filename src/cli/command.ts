import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { DEFAULT_OWNER, type Role, ROLE_NAMES } from "../domain/permissions.ts";
import type { Host } from "./host.ts";

/** What is given in one place, where it is more than a text or a switch. */
interface Kind<T> {
  readonly help: string;
  readonly fit: (place: Argument | Option) => unknown;
  /** The option that cannot be given with it. */
  readonly conflicts?: string;
  /** For the compiler alone. */
  readonly value?: T;
}

/** Arguments and options as help writes them, each with what help says of it. */
export type Takes = Readonly<Record<string, string | Kind<unknown>>>;

type Last<Flags extends string> = Flags extends `${string}, ${infer Rest}` ? Last<Rest> : Flags;
type Camel<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;
type Key<Place extends string> =
  Last<Place> extends `--${infer Name} ${string}`
    ? Camel<Name>
    : Last<Place> extends `--${infer Name}`
      ? Camel<Name>
      : Place extends `${"<" | "["}${infer Name}...${string}`
        ? Name
        : Place extends `${"<" | "["}${infer Name}${">" | "]"}`
          ? Name
          : never;
type Value<Place extends string, What> =
  What extends Kind<infer T>
    ? T
    : Place extends `${string}...${string}`
      ? readonly string[]
      : Place extends `<${string}`
        ? string
        : Place extends `[${string}` | `${string}<${string}`
          ? string | undefined
          : Place extends `${string}[${string}`
            ? string | true | undefined
            : true | undefined;

/** What a command was given, by the names of its options and arguments; an option stands before an argument. */
export type CommandArgs<T extends Takes> = {
  readonly [Place in keyof T & string as Key<Place>]: Value<Place, T[Place]>;
};

/** A command: a row of the table. */
export interface CommandSpec<T extends Takes> {
  /** With the group's name in front. */
  readonly name: string;
  readonly about: string;
  readonly takes?: T;
  /** What help says after the options. */
  readonly help?: string;
  /** It is meant where none is named. */
  readonly isDefault?: boolean;
}

export interface Row extends CommandSpec<Takes> {
  /** Null: a group of the rows that begin with its name. */
  readonly run: ((given: never, host: Host, command: Command) => Promise<void>) | null;
}

interface HostRow<T extends Takes> extends CommandSpec<T> {
  run(given: CommandArgs<T>, host: Host, command: Command): Promise<void>;
}

export function row<const T extends Takes>(told: HostRow<T>): Row {
  return told;
}

export function group(name: string, about: string, help: string): Row {
  return { name, about, help, run: null };
}

/** Adds the rows; those of a group come right after it. */
export function addRows(program: Command, rows: readonly Row[], host: Host): void {
  for (const { name, about, takes = {}, help, isDefault = false, run } of rows) {
    const words = name.split(" ");
    const parent = program.commands.find((one) => words.length > 1 && one.name() === words[0]) ?? program;
    const command = parent
      .command(words.at(-1) ?? name, { isDefault })
      .description(about)
      .showHelpAfterError(`posthorn ${name} --help shows what it takes.`);
    for (const [place, what] of Object.entries(takes)) addPlace(command, place, what);
    if (help !== undefined) command.addHelpText("after", help);
    if (run === null) continue;
    // A mistyped command ends up in the default one. It deserves a better sentence than "too many arguments".
    command.allowExcessArguments(isDefault).action(() => {
      const args = command.registeredArguments.map((one, at) => [one.name(), command.processedArgs[at]]);
      // Each row takes what its own places give, which the compiler cannot follow.
      return run({ ...Object.fromEntries(args), ...command.opts<object>() } as never, host, command);
    });
  }
}

function addPlace(command: Command, place: string, what: string | Kind<unknown>): void {
  const { help, fit, conflicts = [] } = typeof what === "string" ? { help: what, fit: () => {} } : what;
  const added = place.startsWith("-")
    ? new Option(place, help).conflicts(conflicts)
    : new Argument(place, help);
  fit(added);
  if (added instanceof Option) command.addOption(added);
  else command.addArgument(added);
}

/** It may be repeated. */
export function many(help: string): Kind<readonly string[]> {
  const collect = (value: string, all: readonly string[]): readonly string[] => [...all, value];
  return { help, fit: (place) => place.default([]).argParser(collect) };
}

export function whole(help: string, max: number): Kind<number | undefined>;
export function whole(help: string, max: number, preset: number): Kind<number>;
export function whole(help: string, max: number, preset?: number): Kind<number | undefined> {
  const read = (text: string): number => {
    if (/^[1-9]\d{0,8}$/.test(text) && Number(text) <= max) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  };
  return { help, fit: (place) => place.default(preset).argParser(read) };
}

export function oneOf<T extends string>(help: string, names: readonly T[]): Kind<T | undefined>;
export function oneOf<T extends string>(help: string, names: readonly T[], preset: T): Kind<T>;
export function oneOf<T extends string>(help: string, names: readonly T[], preset?: T): Kind<T | undefined> {
  return { help, fit: (place) => place.choices(names).default(preset) };
}

/** It is this where it is left out. */
export function preset(help: string, value: string): Kind<string> {
  return { help, fit: (place) => place.default(value) };
}

/** Refuses what is empty, as a variable of a script may be, which means no owner. */
export function owner(help: string): Kind<string> {
  const read = (text: string): string => {
    if (text.trim() !== "") return text;
    throw new InvalidArgumentError("It is empty. Name an owner, or leave it out.");
  };
  return { help, fit: (place) => place.default(DEFAULT_OWNER).argParser(read) };
}

/** Beside `--permissions`. */
export function role(help: string): Kind<Role | undefined> {
  return { ...oneOf(help, ROLE_NAMES), conflicts: "permissions" };
}

/** A switch that cannot stand beside that other one. */
export function unless(conflicts: string, help: string): Kind<true | undefined> {
  return { help, fit: () => {}, conflicts };
}

export const JSON_TOO = "print JSON on a terminal, too";
