import { worded } from "../toolkit/words.ts";
import { isFields } from "../domain/explain-invalid.ts";
import { AppError } from "../domain/errors.ts";
import { type Permission, PERMISSIONS, type Role, ROLES } from "../domain/permissions.ts";
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
  if (unknown === undefined && known.length > 0) return known;
  const reason =
    unknown === undefined ? "at least one is needed" : `"${unknown.slice(0, 40)}" is not a permission`;
  throw new AppError("invalid", `--permissions: ${reason}. The permissions are ${PERMISSIONS.join(", ")}.`);
}

export interface PermissionOptions {
  readonly role: Role | undefined;
  readonly permissions: string | undefined;
}

/** What is told; undefined: nothing is. Throws `invalid` for a name that is no permission. */
export function readPermissionOptions(options: PermissionOptions): readonly Permission[] | undefined {
  if (options.permissions !== undefined) return parsePermissions(options.permissions);
  return options.role === undefined ? undefined : ROLES[options.role];
}

/** Throws `invalid` for an empty text in the place of a file's name. */
export function requireFileName(text: string): void {
  if (text.trim() === "") throw new AppError("invalid", "file: is empty. Give the name of a file.");
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

interface TypedJson {
  readonly source: string;
  readonly text: string;
  readonly advice: string;
  /** The parser's reason quotes what it met, which must not show. */
  readonly isSecret?: boolean;
}

/** Reads JSON that a person typed. Throws `invalid` that names where it came from. */
export function parseJson({ source, text, advice, isSecret = false }: TypedJson): unknown {
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
