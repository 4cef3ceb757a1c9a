import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { Secrets } from "../../ports/connect.ts";
import type { AccountRow } from "../../store/queries/accounts.ts";
import type { AppRow, ConnectionRow } from "../../store/queries/connections.ts";
import type { PlatformAppRow } from "../../store/queries/platform-apps.ts";
import type { GrantRow } from "../../store/queries/grants.ts";
import type { AppContext } from "../../context.ts";

const StoredSecrets = z.record(z.string(), z.string());

/** What an account's secrets are bound to. */
export type SecretsOwner = Pick<AccountRow, "owner_id" | "id" | "provider" | "settings" | "grant_id">;

/**
 * Sealed text copied to another account or owner does not open; nor does it once the account's platform or
 * settings, which say to which server it is sent, are others than those that it was sealed with, or another
 * grant's tokens would be sent there.
 */
export function accountAad(account: SecretsOwner): string {
  const aad = `${unboundAad(account)}|${account.provider}|${account.settings}`;
  return account.grant_id === null ? aad : `${aad}|${account.grant_id}`;
}

/** As they were sealed before they were bound to their server (`bindSecrets`). */
export function unboundAad(account: { owner_id: string; id: string }): string {
  return `${account.owner_id}|${account.id}|secrets`;
}

/** What a grant's tokens are bound to. */
type GrantOwner = Pick<GrantRow, "owner_id" | "id" | "provider" | "way" | "instance_url">;

export function grantAad(grant: GrantOwner): string {
  return `${grant.owner_id}|${grant.id}|grant|${grant.provider}|${grant.way}|${grant.instance_url ?? ""}`;
}

export function sealGrant(ctx: AppContext, grant: GrantOwner, secrets: Secrets): string {
  return ctx.cipher.seal(JSON.stringify(secrets), grantAad(grant));
}

/** Throws `conflict` as `openSecrets` does. */
export function openGrant(ctx: AppContext, grant: GrantRow): Secrets {
  return open(ctx, grant.secrets_enc, grantAad(grant));
}

/** What a connection keeps until the person comes back is bound to. */
export type PendingOwner = Pick<ConnectionRow, "owner_id" | "id">;

export function pendingAad(connection: PendingOwner): string {
  return `${connection.owner_id}|${connection.id}|pending`;
}

/** What an app that we registered is bound to. */
export function appAad(app: Pick<AppRow, "provider" | "instance_url" | "redirect_url">): string {
  return `app|${app.provider}|${app.instance_url}|${app.redirect_url}`;
}

/** What the app that a person registered at a platform is bound to. */
export function platformAppAad({ provider }: Pick<PlatformAppRow, "provider">): string {
  return `platform-app|${provider}`;
}

/**
 * Null where there is nothing to keep. Beside a grant there always is something: opening it proves the server
 * that the grant's tokens are sent to.
 */
export function sealSecrets(ctx: AppContext, account: SecretsOwner, secrets: Secrets): string | null {
  return Object.keys(secrets).length === 0 && account.grant_id === null
    ? null
    : ctx.cipher.seal(JSON.stringify(secrets), accountAad(account));
}

/**
 * Throws `conflict` where the row was sealed with another key than this instance has, or for another server.
 */
export function openSecrets(ctx: AppContext, row: AccountRow): Secrets {
  if (row.secrets_enc === null && row.grant_id === null) return {};
  return open(ctx, row.secrets_enc ?? "", accountAad(row));
}

function open(ctx: AppContext, sealed: string, aad: string): Secrets {
  try {
    return StoredSecrets.parse(JSON.parse(ctx.cipher.open(sealed, aad)));
  } catch (cause) {
    throw new AppError(
      "conflict",
      "Its stored secrets cannot be read: they were sealed with another secret key, or for another server than the one that its settings name now.",
      { cause },
    );
  }
}

/** The fresh ones over the stored ones; an empty fresh one leaves the stored one in place. */
export function mergeSecrets(stored: Secrets, fresh: Secrets): Secrets {
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
