import { AppError } from "../../domain/errors.ts";
import type { SecretField } from "../../ports/connect.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import { findAccountRow, type AccountRow } from "../../store/tables/accounts.ts";
import {
  completeConnection,
  countAttempt,
  findConnectionByToken,
  noteFailure,
  type ConnectionRow,
} from "../../store/tables/connections.ts";
import { connectAccount } from "./connect-account.ts";
import { completeFields, defaultsOf, type ConnectTarget } from "./connect-fields.ts";
import { hashToken } from "./connections.ts";
import type { AppContext, GuestCall } from "../context.ts";
import type { SecretValues } from "../platforms/secrets.ts";

/** Tries one link takes before it is closed. */
export const MAX_ATTEMPTS = 10;

/** Why a link does not work (any more). */
export type ClosedReason = "unknown" | "used" | "expired" | "failed";

export interface FormField extends SecretField {
  /** What stands in it at first; always empty for what is hidden. */
  readonly value: string;
  /** Left empty, it stays what it is. */
  readonly isStored: boolean;
}

/** What the page shows; no secret, and nothing that a stranger with the address could use. */
export interface ConnectForm {
  readonly platformTitle: string;
  readonly docs: string;
  readonly instructions: string;
  readonly fields: readonly FormField[];
  readonly instanceUrl: string | null;
  /** The channel that is being reconnected. */
  readonly reconnecting: string | null;
  readonly expiresAt: number;
}

export type OpenedConnection =
  | { readonly state: "open"; readonly form: ConnectForm }
  | { readonly state: "closed"; readonly reason: ClosedReason; readonly title: string | null };

/** What is behind a link. Opening it changes nothing: programs that preview addresses open them too. */
export async function openConnection({ ctx }: GuestCall, token: string): Promise<OpenedConnection> {
  const link = await readLink(ctx, token);
  return link.state === "open" ? { state: "open", form: link.form } : link;
}

export type Submitted =
  | {
      readonly state: "connected";
      readonly platformTitle: string;
      readonly accountName: string;
      readonly notice: string | null;
    }
  | {
      readonly state: "refused";
      readonly form: ConnectForm;
      readonly error: AppError;
      readonly fieldName: string | null;
    }
  | Extract<OpenedConnection, { state: "closed" }>;

/** Connects with what a person entered. A link connects once, however often and at once it is submitted. */
export async function submitSecrets(
  call: GuestCall,
  { token, ...submission }: { readonly token: string; readonly secrets: SecretValues },
): Promise<Submitted> {
  const { ctx } = call;
  const link = await readLink(ctx, token);
  if (link.state === "closed") return link;
  try {
    const secrets = completeFields(ctx, link.target, submission.secrets);
    const counted = await ctx.store.write((tx) =>
      countAttempt(tx, link.row.id, {
        now: ctx.clock.now(),
        maxAttempts: MAX_ATTEMPTS,
      }),
    );
    if (counted === undefined) return await closedNow(ctx, token);
    return await connectOnce(call, { ...link, row: counted }, secrets);
  } catch (error) {
    if (error instanceof LinkUsed) return await closedNow(ctx, token);
    if (!(error instanceof AppError)) throw error;
    return { state: "refused", form: link.form, error, fieldName: fieldOf(link.form, error) };
  }
}

/** Another submission of the same link was first. */
class LinkUsed extends Error {}

async function connectOnce(call: GuestCall, link: OpenLink, secrets: SecretValues): Promise<Submitted> {
  try {
    const { account, notice } = await connectAccount(call, {
      target: link.target,
      secrets,
      answer: async (tx, outcome) => {
        if (!(await completeConnection(tx, link.row.id, outcome.account.id))) throw new LinkUsed();
        return outcome;
      },
    });
    return { state: "connected", platformTitle: link.form.platformTitle, accountName: account.name, notice };
  } catch (error) {
    if (error instanceof AppError) {
      await call.ctx.store.write((tx) =>
        noteFailure(tx, link.row.id, {
          error: error.message,
          isLast: link.row.attempts >= MAX_ATTEMPTS,
        }),
      );
    }
    throw error;
  }
}

async function closedNow(
  ctx: AppContext,
  token: string,
): Promise<Extract<OpenedConnection, { state: "closed" }>> {
  const link = await readLink(ctx, token);
  return link.state === "closed"
    ? link
    : { state: "closed", reason: "failed", title: link.form.platformTitle };
}

interface OpenLink {
  readonly state: "open";
  readonly row: ConnectionRow;
  readonly target: ConnectTarget;
  readonly form: ConnectForm;
}

async function readLink(
  ctx: AppContext,
  token: string,
): Promise<OpenLink | Extract<OpenedConnection, { state: "closed" }>> {
  const row = await findConnectionByToken(ctx.store, hashToken(token));
  const platform = row === undefined ? undefined : ctx.platforms.get(row.provider);
  if (row === undefined || platform === undefined) return { state: "closed", reason: "unknown", title: null };
  const reason = closedReason(row, ctx.clock.now());
  if (reason !== null) return { state: "closed", reason, title: platform.title };
  const reconnecting =
    row.account_id === null ? undefined : await findAccountRow(ctx.store, row.owner_id, row.account_id);
  const target = toTarget(row, platform, reconnecting ?? null);
  return { state: "open", row, target, form: toForm(ctx, row, target) };
}

function closedReason(row: ConnectionRow, now: number): ClosedReason | null {
  if (row.status === "connected") return "used";
  if (row.status === "failed") return "failed";
  return row.expires_at <= now ? "expired" : null;
}

function toTarget(row: ConnectionRow, platform: AnyPlatform, reconnecting: AccountRow | null): ConnectTarget {
  return {
    ownerId: row.owner_id,
    platform,
    way: platform.connect[0],
    instanceUrl: row.instance_url,
    handle: row.handle,
    name: row.name,
    reconnecting,
  };
}

function toForm(ctx: AppContext, row: ConnectionRow, target: ConnectTarget): ConnectForm {
  const { platform, way, reconnecting } = target;
  const defaults = defaultsOf(ctx, target);
  const fields = way.kind === "secrets" ? way.fields : [];
  return {
    platformTitle: platform.title,
    docs: platform.docs,
    instructions: way.instructions,
    fields: fields.map((field) => ({
      ...field,
      value: field.isSecret ? "" : (defaults[field.name] ?? ""),
      isStored: field.isSecret && (defaults[field.name] ?? "") !== "",
    })),
    instanceUrl: target.instanceUrl,
    reconnecting: reconnecting === null ? null : (reconnecting.handle ?? reconnecting.name),
    expiresAt: row.expires_at,
  };
}

/** Sentences begin with the name of the field they are about. */
function fieldOf(form: ConnectForm, error: AppError): string | null {
  return form.fields.find((field) => error.message.startsWith(`${field.name}: `))?.name ?? null;
}
