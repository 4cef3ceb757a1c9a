import { AppError } from "../../domain/errors.ts";
import { DEFAULT_KEY_ROLE, PERMISSIONS, ROLES, type Permission } from "../../domain/permissions.ts";
import { DAY, HOUR, MINUTE, parseBound, quote, toIso } from "../../domain/time.ts";
import type { Reader } from "../../store/engine/store.ts";
import { listAccountRows } from "../../store/queries/accounts.ts";
import type { AppContext } from "../context.ts";

export interface KeyInput {
  readonly name?: string | undefined;
  /** Default: those of `DEFAULT_KEY_ROLE`. */
  readonly permissions?: readonly string[] | undefined;
  /** Default: every account of the owner, later ones too. */
  readonly accountIds?: readonly string[] | undefined;
  /** A time, a date (its end) or a span such as `90d`; default: never. */
  readonly expires?: string | undefined;
}

/** What a key may do, and for how long. */
export interface KeyLimits {
  readonly name: string;
  readonly permissions: readonly Permission[];
  readonly accountIds: readonly string[] | null;
  readonly expiresAt: number | null;
}

const MAX_NAME_LENGTH = 100;

/** What a key shall be limited to. Throws `invalid` that names the field. */
export async function readKeyInput(ctx: AppContext, ownerId: string, input: KeyInput): Promise<KeyLimits> {
  return {
    name: readName(input.name),
    permissions: readPermissions(input.permissions),
    accountIds: await readAccountIds(ctx, ownerId, input.accountIds),
    expiresAt: readExpiry(ctx, input.expires),
  };
}

function readName(name: string | undefined): string {
  const trimmed = (name ?? "").trim();
  if (trimmed.length <= MAX_NAME_LENGTH) return trimmed === "" ? "API key" : trimmed;
  throw new AppError("invalid", `name: must be at most ${MAX_NAME_LENGTH} characters long.`);
}

function readPermissions(given: readonly string[] | undefined): readonly Permission[] {
  if (given === undefined) return ROLES[DEFAULT_KEY_ROLE];
  const unknown = given.find((name) => !PERMISSIONS.some((known) => known === name));
  if (unknown !== undefined) {
    throw new AppError(
      "invalid",
      `permissions: ${quote(unknown)} is not a permission. The permissions are ${PERMISSIONS.join(", ")}.`,
    );
  }
  if (given.length === 0)
    throw new AppError("invalid", `permissions: give at least one of ${PERMISSIONS.join(", ")}.`);
  return PERMISSIONS.filter((known) => given.includes(known));
}

async function readAccountIds(
  ctx: AppContext,
  ownerId: string,
  given: readonly string[] | undefined,
): Promise<readonly string[] | null> {
  if (given === undefined) return null;
  if (given.length === 0)
    throw new AppError(
      "invalid",
      "accounts: give at least one account id, or leave it out for all accounts.",
    );
  const known = await ownAccountIds(ctx.store, ownerId);
  const unknown = given.find((id) => !known.includes(id));
  if (unknown === undefined) return [...new Set(given)];
  const hint =
    known.length === 0
      ? "There is none yet. Connect a channel first."
      : `The accounts are ${known.join(", ")}.`;
  throw new AppError(
    "invalid",
    `accounts: ${quote(unknown)} is not an account of the owner ${quote(ownerId)}. ${hint}`,
  );
}

async function ownAccountIds(reader: Reader, ownerId: string): Promise<string[]> {
  return (await listAccountRows(reader, ownerId)).map((row) => row.id);
}

const SPAN_UNITS: Readonly<Record<string, number>> = { m: MINUTE, h: HOUR, d: DAY };

const STARTS_WITH_DATE = /^\d{4}-\d{2}-\d{2}/;

function readExpiry(ctx: AppContext, text: string | undefined): number | null {
  if (text === undefined) return null;
  const span = /^(\d{1,6})([mhd])$/.exec(text.trim());
  if (span === null && !STARTS_WITH_DATE.test(text.trim())) {
    throw new AppError(
      "invalid",
      `expires: ${quote(text)} is neither a date, a time nor a span. Give for example 90d, 12h, 2027-01-31 or 2027-01-31T09:00:00Z.`,
    );
  }
  const now = ctx.clock.now();
  const at =
    span === null
      ? parseBound("expires", text, ctx.settings.timezone, true)
      : now + Number(span[1]) * (SPAN_UNITS[span[2] ?? ""] ?? Number.NaN);
  if (at > now) return at;
  throw new AppError("invalid", `expires: ${quote(text)} is not in the future. It is ${toIso(now)} now.`);
}
