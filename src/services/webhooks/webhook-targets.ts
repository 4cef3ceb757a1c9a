import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { WebhookRow } from "../../store/queries/webhooks.ts";
import type { AppContext } from "../context.ts";

const Target = z.strictObject({ url: z.string(), secret: z.string() });
/** Where a webhook's events go, and what they are signed with. */
export type Target = z.infer<typeof Target>;

export function placeOf(row: { owner_id: string; id: string }): string {
  return `${row.owner_id}|${row.id}|webhook`;
}

export function sealTarget(ctx: AppContext, row: { owner_id: string; id: string }, target: Target): string {
  return ctx.cipher.seal(JSON.stringify(target), placeOf(row));
}

/** Throws `conflict` where the row was sealed with another key than this instance has. */
export function openTarget(ctx: AppContext, row: WebhookRow): Target {
  try {
    return Target.parse(JSON.parse(ctx.cipher.open(row.secrets_enc, placeOf(row))));
  } catch (cause) {
    throw new AppError(
      "conflict",
      "Its stored secret cannot be read with this instance's secret key. Make the webhook again.",
      { cause },
    );
  }
}
