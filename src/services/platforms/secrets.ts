import { z } from "zod";
import { AppError } from "../../domain/errors.ts";
import type { AccountRow } from "../../store/tables/accounts.ts";
import type { AppContext } from "../context.ts";

export type SecretValues = Readonly<Record<string, string>>;

const StoredSecrets = z.record(z.string(), z.string());

/** What an account's secrets are bound to. */
export type SecretsOwner = Pick<AccountRow, "owner_id" | "id" | "provider" | "settings">;

/**
 * Sealed text copied to another account or owner does not open; nor does it once the account's platform or
 * settings, which say to which server it is sent, are others than those that it was sealed with.
 */
export function placeOf(account: SecretsOwner): string {
  return `${unboundPlaceOf(account)}|${account.provider}|${account.settings}`;
}

/** As they were sealed before they were bound to their server (`bindSecrets`). */
export function unboundPlaceOf(account: { owner_id: string; id: string }): string {
  return `${account.owner_id}|${account.id}|secrets`;
}

/** Null where there is nothing to keep. */
export function sealSecrets(ctx: AppContext, account: SecretsOwner, secrets: SecretValues): string | null {
  return Object.keys(secrets).length === 0
    ? null
    : ctx.cipher.seal(JSON.stringify(secrets), placeOf(account));
}

/**
 * Throws `conflict` where the row was sealed with another key than this instance has, or for another server.
 */
export function openSecrets(ctx: AppContext, row: AccountRow): SecretValues {
  if (row.secrets_enc === null) return {};
  try {
    return StoredSecrets.parse(JSON.parse(ctx.cipher.open(row.secrets_enc, placeOf(row))));
  } catch (cause) {
    throw new AppError(
      "conflict",
      "Its stored secrets cannot be read: they were sealed with another secret key, or for another server than the one that its settings name now.",
      { cause },
    );
  }
}

/** The fresh ones over the stored ones; an empty fresh one leaves the stored one in place. */
export function mergeSecrets(stored: SecretValues, fresh: SecretValues): SecretValues {
  return { ...stored, ...Object.fromEntries(Object.entries(fresh).filter(([, value]) => value !== "")) };
}

/** Shorter ones would blot out ordinary words. */
const MIN_SCRUBBED = 6;

/**
 * The text with every one of the values struck out, as they are and as addresses, forms and JSON write them:
 * platforms quote what they were sent.
 */
export function scrub(text: string, values: Iterable<string>): string {
  let clean = text;
  for (const value of values) {
    if (value.length < MIN_SCRUBBED) continue;
    for (const form of formsOf(value)) clean = clean.replaceAll(form, "[secret]");
  }
  return clean;
}

function formsOf(value: string): Set<string> {
  // A lone surrogate cannot be percent-encoded.
  const encoded = encodeURIComponent(Buffer.from(value).toString());
  const inForm = new URLSearchParams([["", value]]).toString().slice(1);
  const lowerCase = [encoded, inForm].map((text) =>
    text.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()),
  );
  return new Set([value, encoded, inForm, ...lowerCase, JSON.stringify(value).slice(1, -1)]);
}
