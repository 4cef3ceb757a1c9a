import * as z from "zod";
import { AppError } from "../../../domain/errors.ts";
import type { ConnectionRow } from "../../../store/queries/connections.ts";
import type { AppContext } from "../../context.ts";
import { pendingPlaceOf, type PendingOwner } from "../../platforms/secrets.ts";

const Texts = z.record(z.string(), z.string());
const Data = z.record(z.string(), z.json());
const Place = z.object({ instanceUrl: z.string().nullable(), redirectUrl: z.string() });

/** Kept while a person is at the platform. */
const KeptConsent = z.object({
  stage: z.literal("consent"),
  /** Of the link, so that whoever comes back is led on to its page. */
  token: z.string(),
  place: Place,
  /** The way's own: OAuth's verifier. */
  keep: Data,
});
export type KeptConsent = z.infer<typeof KeptConsent>;

/** Kept while a person chooses: what the platform gave. */
const KeptChoice = z.object({
  stage: z.literal("choice"),
  token: z.string(),
  /** Whether the consent ended in another browser than it began in: then the person is asked in any case. */
  isElsewhere: z.boolean().default(false),
  place: Place,
  tokens: z
    .object({
      secrets: Texts,
      expiresAt: z.number().nullable(),
      renewableUntil: z.number().nullable(),
      scopes: z.array(z.string()).nullable(),
      answer: Data,
    })
    .nullable(),
  targets: z.array(
    z.object({
      platformAccountId: z.string(),
      idServer: z.string().exactOptional(),
      name: z.string(),
      handle: z.string().nullable(),
      profileUrl: z.string().nullable(),
      avatarUrl: z.string().nullable(),
      settings: Data,
      secrets: Texts,
      problem: z.string().exactOptional(),
      notice: z.string().exactOptional(),
      shownOnce: z.string().exactOptional(),
    }),
  ),
});
export type KeptChoice = z.infer<typeof KeptChoice>;

const Kept = z.discriminatedUnion("stage", [KeptConsent, KeptChoice]);

export function sealPending(ctx: AppContext, row: PendingOwner, kept: KeptConsent | KeptChoice): string {
  return ctx.cipher.seal(JSON.stringify(kept), pendingPlaceOf(row));
}

/** Throws `conflict` where it is gone, is of another stage, or was sealed with another key. */
export function openConsent(ctx: AppContext, row: ConnectionRow): KeptConsent {
  const kept = openPending(ctx, row);
  if (kept.stage !== "consent") throw gone();
  return kept;
}

/** Throws as `openConsent` does. */
export function openChoice(ctx: AppContext, row: ConnectionRow): KeptChoice {
  const kept = openPending(ctx, row);
  if (kept.stage !== "choice") throw gone();
  return kept;
}

function openPending(ctx: AppContext, row: ConnectionRow): KeptConsent | KeptChoice {
  if (row.pending_enc === null) throw gone();
  try {
    return Kept.parse(JSON.parse(ctx.cipher.open(row.pending_enc, pendingPlaceOf(row))));
  } catch (cause) {
    throw gone(cause);
  }
}

function gone(cause?: unknown): AppError {
  return new AppError(
    "conflict",
    "What was kept of this connection cannot be read any more. Ask for a new link where you got this one.",
    cause === undefined ? {} : { cause },
  );
}
