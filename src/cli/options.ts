import { InvalidArgumentError, Option } from "commander";
import { AppError } from "../domain/errors.ts";
import { type Permission, PERMISSIONS, type Role, ROLE_NAMES, ROLES } from "../domain/permissions.ts";
import { requireWholeTexts } from "../domain/whole-text.ts";
import type { Host } from "./host.ts";

/** A list separated by commas, as every command takes one. */
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

/** What a command is told of permissions: a list of them, or the role that stands for some. */
export interface PermissionOptions {
  readonly role?: Role;
  readonly permissions?: string;
}

/** `--role` beside the `--permissions` of a command. */
export function roleOption(meaning: string): Option {
  return new Option("--role <role>", meaning).choices(ROLE_NAMES).conflicts("permissions");
}

/** What is told; undefined: nothing is. Throws `invalid` for a name that is no permission. */
export function readPermissionOptions(options: PermissionOptions): readonly Permission[] | undefined {
  if (options.permissions !== undefined) return parsePermissions(options.permissions);
  return options.role === undefined ? undefined : ROLES[options.role];
}

/** Reads a whole number from 1 on. */
export function wholeNumber(max: number): (text: string) => number {
  return (text) => {
    if (/^[1-9]\d{0,8}$/.test(text) && Number(text) <= max) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  };
}

/** An option that may be repeated. */
export function collect(value: string, all: readonly string[]): readonly string[] {
  return [...all, value];
}

/** How results look on standard output. */
export function toJsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** A sentence for whoever reads a terminal; JSON for programs, and for people who ask for it. */
export function printResult(
  { terminal }: Host,
  { json, sentence, result }: { readonly json: boolean; readonly sentence: string; readonly result: unknown },
): void {
  terminal.print(terminal.isScreen && !json ? `${sentence}\n` : toJsonText(result));
}

interface Typed {
  /** What it came by: an option or argument. */
  readonly source: string;
  readonly text: string;
  /** What to write instead, as a sentence. */
  readonly advice: string;
  /** The parser's reason quotes what it met, which must not show. */
  readonly isSecret?: boolean;
}

/**
 * Reads JSON that somebody typed; throws `invalid` that names where it came from, or a text that is not
 * whole.
 */
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
