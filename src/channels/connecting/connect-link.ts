import * as z from "zod";
import { hash } from "node:crypto";
import { MINUTE } from "../../domain/time.ts";
import { findAccountRow } from "../../store/queries/accounts.ts";
import { type ConnectionRow, findConnectionByToken } from "../../store/queries/connections.ts";
import type { AppContext } from "../../context.ts";
import { wayOf } from "../platform-io/set-up.ts";
import type { ConnectTarget } from "./connect-target.ts";
import { AppError } from "../../domain/errors.ts";
import { type PendingOwner, pendingAad } from "../platform-io/secrets.ts";

/** How long an address to connect at works. */
export const LINK_LIFE_MS = 15 * MINUTE;

/** Tries one link takes before it is closed. */
export const MAX_ATTEMPTS = 10;

/**
 * Why a link does not work (any more). Of an answer from a platform: `foreign` it belongs to no link;
 * `answered` it was used already.
 */
export type ClosedReason = "unknown" | "foreign" | "answered" | "used" | "expired" | "failed";

export interface ClosedLink {
  readonly state: "closed";
  readonly reason: ClosedReason;
  readonly title: string | null;
  /** Why it failed. */
  readonly error?: string;
}

export interface OpenLink {
  readonly state: "open";
  readonly row: ConnectionRow;
  readonly target: ConnectTarget;
  /** In the address of its page. */
  readonly token: string;
}

/** What names a link's page: its token, and the way that the person looks at, where it is not the noted one. */
export interface LinkRef {
  readonly token: string;
  readonly way?: string | undefined;
}

/** Another submission of the same link was first. */
export class LinkUsed extends Error {}

/** For how long a page still works: a duration, as the visitor's time zone is not known. */
export function minutesLeft({ clock }: AppContext, expiresAt: number): number {
  return Math.max(1, Math.round((expiresAt - clock.now()) / MINUTE));
}

/** Only this is stored of the token in a link, and of the state that comes back from a platform. */
export function hashToken(token: string): string {
  return hash("sha256", token);
}

export async function readLink(ctx: AppContext, ref: LinkRef): Promise<OpenLink | ClosedLink> {
  const row = await findConnectionByToken(ctx.store, hashToken(ref.token));
  return row === undefined ? UNKNOWN : openRow(ctx, row, ref);
}

const UNKNOWN: ClosedLink = { state: "closed", reason: "unknown", title: null };

export async function openRow(
  ctx: AppContext,
  row: ConnectionRow,
  ref: LinkRef,
): Promise<OpenLink | ClosedLink> {
  const platform = ctx.platforms.get(row.provider);
  if (platform === undefined) return UNKNOWN;
  const closed = { state: "closed", title: platform.title } as const;
  if (row.status === "connected") return { ...closed, reason: "used" };
  if (row.status === "failed")
    return { ...closed, reason: "failed", ...(row.error !== null && { error: row.error }) };
  if (row.expires_at <= ctx.clock.now()) return { ...closed, reason: "expired" };
  const reconnecting =
    row.account_id === null ? undefined : await findAccountRow(ctx.store, row.owner_id, row.account_id);
  // Once channels were found, the way is fixed.
  const wanted = row.status === "pending" ? platform.connect.find(({ name }) => name === ref.way) : undefined;
  const target = {
    ownerId: row.owner_id,
    platform,
    way: wanted ?? wayOf(platform, row),
    instanceUrl: row.instance_url,
    handle: row.handle,
    name: row.name,
    reconnecting: reconnecting ?? null,
  };
  return { state: "open", row, target, token: ref.token };
}

/** The link once it took nothing more: why. */
export async function closedNow(ctx: AppContext, ref: LinkRef): Promise<ClosedLink> {
  const link = await readLink(ctx, ref);
  return link.state === "closed"
    ? link
    : { state: "closed", reason: "failed", title: link.target.platform.title };
}

const Texts = z.record(z.string(), z.string());
const Data = z.record(z.string(), z.json());
const Place = z.object({ instanceUrl: z.string().nullable(), redirectUrl: z.string() });

/** Kept while a person is at the platform. */
const KeptConsent = z.object({
  stage: z.literal("consent"),
  /** Of the link, so that the person who comes back is led on to its page. */
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

export function sealPending(ctx: AppContext, row: PendingOwner, kept: KeptConsent | KeptChoice): string {
  return ctx.cipher.seal(JSON.stringify(kept), pendingAad(row));
}

/** Throws `conflict` where it is gone, is of another stage, or was sealed with another key. */
export function openConsent(ctx: AppContext, row: ConnectionRow): KeptConsent {
  return openPending(ctx, row, KeptConsent);
}

/** Throws as `openConsent` does. */
export function openChoice(ctx: AppContext, row: ConnectionRow): KeptChoice {
  return openPending(ctx, row, KeptChoice);
}

function openPending<T>(ctx: AppContext, row: ConnectionRow, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(ctx.cipher.open(row.pending_enc ?? "", pendingAad(row))));
  } catch (cause) {
    throw new AppError(
      "conflict",
      "What was kept of this connection cannot be read any more. Ask for a new link where you got this one.",
      { cause },
    );
  }
}
