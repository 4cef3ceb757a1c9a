import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { AppError } from "../domain/errors.ts";
import type { Caller } from "../domain/permissions.ts";
import { MINUTE } from "../domain/time.ts";
import { insertKey } from "../store/queries/access.ts";
import type { AppContext } from "../context.ts";
import { canonicalJson } from "./idempotency.ts";

/** How long a person may think about a question. */
const CONFIRMATION_LIFE_MS = 10 * MINUTE;

const NONCE_BYTES = 16;
const TOKEN = /^([a-z0-9]{1,12})\.([\w-]{22})\.([0-9a-f]{64})\.([0-9a-f]{64})$/;

/** What a person is asked about: this call, of this key, with exactly these arguments. */
interface ConfirmedCall {
  readonly tool: string;
  readonly args: unknown;
}

/** What the person was shown: its digest, and when. */
export interface QuestionDigest {
  readonly at: number;
  readonly mark: string;
}

/** A token that stands for the question about one call, good for one "yes" within ten minutes. */
export function issueConfirmation(
  ctx: AppContext,
  caller: Caller,
  call: ConfirmedCall,
  { at, mark }: QuestionDigest,
): string {
  const expires = (at + CONFIRMATION_LIFE_MS).toString(36);
  const nonce = randomBytes(NONCE_BYTES).toString("base64url");
  return `${expires}.${nonce}.${mark}.${sign(ctx, caller, { ...call, expires, nonce, mark })}`;
}

/**
 * Takes the token for this very call, once, and answers what the person was shown. Throws `invalid` for one that is
 * made up, too old, used, or of another call.
 */
export async function spendConfirmation(
  ctx: AppContext,
  caller: Caller,
  call: ConfirmedCall,
  token: string,
): Promise<QuestionDigest> {
  const [, expires = "", nonce = "", mark = "", signature = ""] = TOKEN.exec(token) ?? [];
  const wanted = sign(ctx, caller, { ...call, expires, nonce, mark });
  const isGenuine =
    signature.length === wanted.length && timingSafeEqual(Buffer.from(signature), Buffer.from(wanted));
  const expiresAt = Number.parseInt(expires, 36);
  if (
    !isGenuine ||
    expiresAt <= ctx.clock.now() ||
    !(await isFirstUse(ctx, caller, { tool: call.tool, nonce, expiresAt }))
  ) {
    throw new AppError(
      "invalid",
      "confirm: this confirmation is not good for this call: it is older than 10 minutes, was used already, or belongs to other arguments or another key. " +
        "Nothing was done. Call again without it to ask again.",
    );
  }
  return { at: expiresAt - CONFIRMATION_LIFE_MS, mark };
}

function sign(
  ctx: AppContext,
  caller: Caller,
  parts: ConfirmedCall & { readonly expires: string; readonly nonce: string; readonly mark: string },
): string {
  const { tool, args, expires, nonce, mark } = parts;
  return ctx.cipher.sign(
    "confirmation",
    canonicalJson([caller.ownerId, caller.keyId, tool, args, expires, nonce, mark]),
  );
}

/**
 * Remembered beside the idempotency keys, which expire in the same way: any process on the data folder sees a
 * second use.
 */
async function isFirstUse(
  ctx: AppContext,
  caller: Caller,
  use: { readonly tool: string; readonly nonce: string; readonly expiresAt: number },
): Promise<boolean> {
  const row = {
    owner_id: caller.ownerId,
    key_hash: hash("sha256", `confirmation\n${use.nonce}`),
    tool: use.tool,
    fingerprint: "",
    worker_id: null,
    result: null,
    created_at: ctx.clock.now(),
    expires_at: use.expiresAt,
  };
  return ctx.store.write((tx) => insertKey(tx, row));
}
