import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { RequestHandler, Router } from "express";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { explainInvalid } from "../../domain/explain-invalid.ts";
import { type Caller, DEFAULT_OWNER, isAllowed, ROLE_NAMES, ROLES } from "../../domain/permissions.ts";
import { requireWholeTexts } from "../../domain/whole-text.ts";
import { createKey, type KeyInput, listKeys, revokeKey } from "../../access/api-keys.ts";
import { type AppContext, plainCall } from "../../context.ts";
import { untilGone } from "../api/routers.ts";
import { callerOf, type Guard } from "../access/auth.ts";
import { hasLeft, methodNotAllowed } from "../errors.ts";
import { parseBody, readBody } from "../json-body.ts";
import { readQuery } from "../query.ts";

/** A backup in a file that is only for the answer. */
interface TemporaryBackup extends AsyncDisposable {
  readonly path: string;
  /** What a browser calls it. */
  readonly name: string;
}

export interface Backups {
  /** False where everything is kept elsewhere; `make` then says how that is backed up. */
  readonly isPossible: boolean;
  /** Throws `conflict` where it is not possible. */
  make(signal: AbortSignal): Promise<TemporaryBackup>;
}

interface AdminDeps {
  readonly ctx: AppContext;
  readonly backups: Backups;
}

/** Keys and the backup: for those who may do everything. */
export function addAdminRoutes(router: Router, guard: Guard, { ctx, backups }: AdminDeps): void {
  const manage = [guard.permit("admin", "manage keys"), requireAllAccounts, guard.limit] as const;
  router
    .route("/keys")
    .get(...manage, async (request, response) => {
      readQuery(request, {});
      response.json(await listKeys(plainCall(ctx, callerOf(response))));
    })
    .post(...manage, ...readBody, makeKey(ctx))
    .all(guard.limit, methodNotAllowed(["get", "post"]));
  router
    .route("/keys/:id")
    .delete(...manage, async (request, response) => {
      response.json(await revokeKey(plainCall(ctx, callerOf(response)), { key: request.params.id }));
    })
    .all(guard.limit, methodNotAllowed(["delete"]));
  const permitBackup = guard.permit("admin", "back up");
  router
    .route("/backup")
    .get(permitBackup, requireInstallation, guard.limit, sendBackup({ ctx, backups }))
    .all(guard.limit, methodNotAllowed(["get"]));
}

/** It holds what all owners have: it is for the one who runs this installation. */
export function canBackUp(caller: Caller): boolean {
  return isAllowed(caller, "admin") && caller.accountIds === null && caller.ownerId === DEFAULT_OWNER;
}

const requireInstallation: RequestHandler = (_request, response, next) => {
  if (canBackUp(callerOf(response))) return next();
  throw new AppError(
    "forbidden",
    `This key may not back up: a backup holds what all owners have. Use a key of the owner "${DEFAULT_OWNER}" that reaches all channels.`,
  );
};

/** Else a key could make one that reaches further than itself. */
const requireAllAccounts: RequestHandler = (_request, response, next) => {
  if (callerOf(response).accountIds === null) return next();
  throw new AppError(
    "forbidden",
    "This key may not manage keys: it reaches only some channels. Use one that reaches all of them.",
  );
};

const NewKey = z.strictObject({
  name: z.string().optional(),
  role: z.enum(ROLE_NAMES).optional(),
  permissions: z.array(z.string()).optional(),
  accountIds: z.array(z.string()).nullable().optional(),
  expires: z.string().nullable().optional(),
});

function makeKey(ctx: AppContext): RequestHandler {
  return async (request, response) => {
    const input = readKeyInput(parseBody(request, "required"));
    response.status(201).json(await createKey(plainCall(ctx, callerOf(response)), input));
  };
}

function readKeyInput(body: Record<string, unknown>): KeyInput {
  requireWholeTexts(body);
  const parsed = NewKey.safeParse(body, { reportInput: true });
  if (!parsed.success) throw explainInvalid(parsed.error, NewKey);
  const { name, role, permissions, accountIds, expires } = parsed.data;
  if (role !== undefined && permissions !== undefined)
    throw new AppError("invalid", "role: is a name for permissions. Give one of the two.");
  return {
    name,
    permissions: role === undefined ? permissions : ROLES[role],
    accountIds: accountIds ?? undefined,
    expires: expires ?? undefined,
  };
}

function sendBackup({ ctx, backups }: AdminDeps): RequestHandler {
  return async (request, response) => {
    readQuery(request, {});
    // It is made to be read: asking for its headers alone makes none.
    if (request.method === "HEAD") return void response.end();
    await using backup = await backups.make(untilGone(response));
    response.attachment(backup.name).type("application/octet-stream");
    response.set("Content-Length", String((await stat(backup.path)).size));
    try {
      await pipeline(createReadStream(backup.path), response);
    } catch (error) {
      if (!hasLeft(request, response)) ctx.log.error({ err: error }, "Sending a backup broke off");
    }
  };
}
