import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { AppError } from "../../domain/errors.ts";
import type { Caller } from "../../domain/permissions.ts";
import { MINUTE } from "../../domain/time.ts";
import { findKey, insertKey, putKey, type IdempotencyRow } from "../../store/tables/idempotency.ts";
import type { AppContext } from "../context.ts";
import { canonicalJson } from "./idempotency.ts";

/** How long a person may think about a question. */
export const CONFIRMATION_LIFE_MS = 10 * MINUTE;

const NONCE_BYTES = 16;
const TOKEN = /^([a-z0-9]{1,12})\.([\w-]{22})\.([0-9a-f]{64})$/;

/** What a person is asked about: this call, of this key, with exactly these arguments. */
export interface ConfirmedCall {
  readonly tool: string;
  readonly args: unknown;
}

/** A token that stands for the question about one call, good for one "yes" within ten minutes. */
export function issueConfirmation(ctx: AppContext, caller: Caller, call: ConfirmedCall): string {
  const expires = (ctx.clock.now() + CONFIRMATION_LIFE_MS).toString(36);
  const nonce = randomBytes(NONCE_BYTES).toString("base64url");
  return `${expires}.${nonce}.${sign(ctx, caller, { ...call, expires, nonce })}`;
}

/**
 * Takes the token for this very call, once. Throws `invalid` for one that is made up, too old, used, or of
 * another call.
 */
export async function spendConfirmation(
  ctx: AppContext,
  caller: Caller,
  call: ConfirmedCall,
  token: string,
): Promise<void> {
  const [, expires = "", nonce = "", signature = ""] = TOKEN.exec(token) ?? [];
  const wanted = sign(ctx, caller, { ...call, expires, nonce });
  const isGenuine =
    signature.length === wanted.length && timingSafeEqual(Buffer.from(signature), Buffer.from(wanted));
  const expiresAt = Number.parseInt(expires, 36);
  if (
    !isGenuine ||
    expiresAt <= ctx.clock.now() ||
    !(await isFirstUse(ctx, caller, { call, nonce, expiresAt }))
  ) {
    throw new AppError(
      "invalid",
      "confirm: this confirmation is not good for this call: it is older than 10 minutes, was used already, belongs to other arguments or another key, or the person has declined since. " +
        "Nothing was done. Call again without it to ask anew.",
    );
  }
}

/** After a no: what was issued for this very call until now is good for nothing. */
export async function voidConfirmations(ctx: AppContext, caller: Caller, call: ConfirmedCall): Promise<void> {
  const now = ctx.clock.now();
  const row = rowOf(caller, { tool: call.tool, text: declined(caller, call), at: now });
  await ctx.store.write((tx) => putKey(tx, { ...row, expires_at: now + CONFIRMATION_LIFE_MS }));
}

function declined(caller: Caller, { tool, args }: ConfirmedCall): string {
  return `declined\n${canonicalJson([caller.keyId, tool, args])}`;
}

function sign(
  ctx: AppContext,
  caller: Caller,
  parts: ConfirmedCall & { readonly expires: string; readonly nonce: string },
): string {
  const { tool, args, expires, nonce } = parts;
  return ctx.cipher.sign(
    "confirmation",
    canonicalJson([caller.ownerId, caller.keyId, tool, args, expires, nonce]),
  );
}

/**
 * Remembered beside the idempotency keys, which expire in the same way: any process on the data folder sees a
 * second use.
 */
async function isFirstUse(
  ctx: AppContext,
  caller: Caller,
  use: { readonly call: ConfirmedCall; readonly nonce: string; readonly expiresAt: number },
): Promise<boolean> {
  const { call, nonce, expiresAt } = use;
  const keyHash = hashOf(declined(caller, call));
  const row = rowOf(caller, { tool: call.tool, text: `confirmation\n${nonce}`, at: ctx.clock.now() });
  return ctx.store.write(async (tx) => {
    const no = await findKey(tx, { ownerId: caller.ownerId, keyHash });
    if (no !== undefined && expiresAt - CONFIRMATION_LIFE_MS < no.created_at) return false;
    return insertKey(tx, { ...row, expires_at: expiresAt });
  });
}

function rowOf(
  caller: Caller,
  { tool, text, at }: { readonly tool: string; readonly text: string; readonly at: number },
): Omit<IdempotencyRow, "expires_at"> {
  return {
    owner_id: caller.ownerId,
    key_hash: hashOf(text),
    tool,
    fingerprint: "",
    worker_id: null,
    result: null,
    created_at: at,
  };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
