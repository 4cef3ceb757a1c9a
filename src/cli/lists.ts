import { AppError } from "../domain/errors.ts";
import { PERMISSIONS, type Permission } from "../domain/permissions.ts";

/** A list separated by commas, as every command takes one. */
export function parseList(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** Throws `invalid` that lists the known permissions. */
export function parsePermissions(text: string): Permission[] {
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
