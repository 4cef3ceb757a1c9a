import { InvalidArgumentError, Option } from "commander";
import { worded } from "../toolkit/words.ts";
import { isFields } from "../domain/explain-invalid.ts";
import { AppError } from "../domain/errors.ts";
import {
  DEFAULT_OWNER,
  type Permission,
  PERMISSIONS,
  type Role,
  ROLE_NAMES,
  ROLES,
} from "../domain/permissions.ts";
import { requireWholeTexts } from "../domain/whole-text.ts";
import type { Host } from "./host.ts";

export function parseList(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** Throws `invalid` that lists the known permissions. */
function parsePermissions(text: string): Permission[] {
  const names = parseList(text);
  const known = PERMISSIONS.filter((permission) => names.includes(permission));
  const unknown = names.find((name) => !PERMISSIONS.some((permission) => permission === name));
  if (unknown !== undefined || known.length === 0) {
    const reason =
      unknown === undefined ? "at least one is needed" : `"${unknown.slice(0, 40)}" is not a permission`;
    throw new AppError("invalid", `--permissions: ${reason}. The permissions are ${PERMISSIONS.join(", ")}.`);
  }
  return known;
}

export interface PermissionOptions {
  readonly role?: Role;
  readonly permissions?: string;
}

/** Throws where it is empty, as a variable of a script may be, which means no owner. */
export function ownerOption(meaning: string): Option {
  return new Option("--owner <owner>", meaning).default(DEFAULT_OWNER).argParser((text) => {
    if (text.trim() !== "") return text;
    throw new InvalidArgumentError("It is empty. Name an owner, or leave it out.");
  });
}

/** Throws `invalid` for an empty text in the place of a file's name. */
export function requireFileName(text: string): void {
  if (text.trim() === "") throw new AppError("invalid", "file: is empty. Give the name of a file.");
}

export function roleOption(meaning: string): Option {
  return new Option("--role <role>", meaning).choices(ROLE_NAMES).conflicts("permissions");
}

/** What is told; undefined: nothing is. Throws `invalid` for a name that is no permission. */
export function readPermissionOptions(options: PermissionOptions): readonly Permission[] | undefined {
  if (options.permissions !== undefined) return parsePermissions(options.permissions);
  return options.role === undefined ? undefined : ROLES[options.role];
}

export function wholeNumber(max: number): (text: string) => number {
  return (text) => {
    if (/^[1-9]\d{0,8}$/.test(text) && Number(text) <= max) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  };
}

export function collect(value: string, all: readonly string[]): readonly string[] {
  return [...all, value];
}

/** For programs: what leads on stands there in tools, as in every answer. */
export function toJsonText(value: unknown): string {
  return `${JSON.stringify(isFields(value) ? worded(value).result : value, null, 2)}\n`;
}

/** A sentence on a terminal; JSON for programs, and for people who ask for it. */
export function printResult(
  { terminal }: Host,
  { json, sentence, result }: { json: true | undefined; sentence: string; result: unknown },
): void {
  terminal.print(terminal.isScreen && json !== true ? `${sentence}\n` : toJsonText(result));
}

/** An address alone on standard output, so that `$(…)` is it; JSON for those who ask for it. */
export function printAddress(
  { terminal }: Host,
  {
    json,
    advice,
    result,
  }: {
    json: true | undefined;
    advice: string;
    result: { readonly url: string; readonly expiresAt?: string };
  },
): void {
  if (json === true) return terminal.print(toJsonText(result));
  if (terminal.isScreen) terminal.tell(`${advice}\n`);
  terminal.print(`${result.url}\n`);
}

interface Typed {
  readonly source: string;
  readonly text: string;
  readonly advice: string;
  /** The parser's reason quotes what it met, which must not show. */
  readonly isSecret?: boolean;
}

/** Reads JSON that a person typed. Throws `invalid` that names where it came from. */
export function parseJson({ source, text, advice, isSecret = false }: Typed): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error && !isSecret ? ` (${cause.message.slice(0, 120)})` : "";
    throw new AppError("invalid", `${source}: this is not JSON${reason}. ${advice}`, { cause });
  }
  requireWholeTexts(value);
  return value;
}
