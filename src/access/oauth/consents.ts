import { AppError } from "../../domain/errors.ts";
import {
  type Caller,
  canReachAccount,
  isAllowed,
  type Role,
  ROLE_NAMES,
  ROLES,
} from "../../domain/permissions.ts";
import { DAY, toIso } from "../../domain/time.ts";
import type { CallContext } from "../../context.ts";
import { listAccountRows } from "../../store/queries/accounts.ts";
import { insertOAuthCode } from "../../store/queries/oauth/grants.ts";
import {
  findOAuthRequest,
  type OAuthRequestRow,
  takeOAuthRequest,
} from "../../store/queries/oauth/requests.ts";
import { granterMark } from "./granters.ts";
import { CODE_LIFE_MS, hashOf, newSecret, type OAuthServer } from "./oauth-server.ts";
import { answerAt } from "./redirects.ts";
import type { ShownClient } from "./requests.ts";

/** What a person answers. `accountIds` left out: all that the person reaches, later ones too. */
export type Decision =
  | { readonly decision: "deny" }
  | { readonly decision: "allow"; readonly role: Role; readonly accountIds?: readonly string[] | undefined };

/** A used code is remembered for this long, so that a thief's second use is noticed. */
const REMEMBERED_MS = DAY;

const PRESELECTED: readonly Role[] = ["writer", "viewer"];

/** What a program asks of the person who looks at it. Throws `not_found`. */
export async function showConsent({ ctx, caller }: CallContext, id: string) {
  const row = await findOAuthRequest(ctx.store, id);
  if (row === undefined || row.expires_at <= ctx.clock.now()) throw isOver();
  const names = rolesOf(caller);
  const preselected = PRESELECTED.find((role) => names.includes(role)) ?? names[0];
  const { id: _, ...client } = clientOf(row);
  return {
    consent: {
      id,
      client,
      roles: names.map((name) => ({
        name,
        permissions: ROLES[name],
        isPreselected: name === preselected,
      })),
      resource: row.resource,
      expiresAt: toIso(row.expires_at),
    },
  };
}

/** Where the person's browser goes now. Throws `not_found`, and `forbidden` for more than the person may do. */
export async function decideConsent(
  server: OAuthServer,
  call: CallContext,
  { id, decision }: { readonly id: string; readonly decision: Decision },
): Promise<{ redirectUrl: string }> {
  const { ctx, caller } = call;
  const given = decision.decision === "allow" ? await limitGrant(call, decision) : null;
  const code = newSecret("phc");
  const now = ctx.clock.now();
  const row = await ctx.store.write(async (tx) => {
    const taken = await takeOAuthRequest(tx, id, now);
    if (taken === null || given === null) return taken;
    const kept = {
      code_hash: hashOf(code),
      owner_id: caller.ownerId,
      given_by: caller.keyId,
      giver_mark: granterMark(ctx, caller, server.fixedKey),
      client: taken.client,
      client_id: clientOf(taken).id,
      redirect_uri: taken.redirect_uri,
      challenge: taken.challenge,
      resource: taken.resource,
      ...given,
      grant_id: null,
      expires_at: now + CODE_LIFE_MS,
    };
    await insertOAuthCode(tx, kept, now - REMEMBERED_MS);
    return taken;
  });
  if (row === null) throw isOver();
  const { name } = clientOf(row);
  ctx.log.info(
    { client: name, keyId: caller.keyId, decision: decision.decision },
    "A person decided about a program",
  );
  const answer =
    given === null ? { error: "access_denied", error_description: "The person said no." } : { code };
  return { redirectUrl: answerAt(row.redirect_uri, { ...answer, state: row.state, iss: server.issuer }) };
}

/** Never more than the person may do and reach. */
async function limitGrant(
  { ctx, caller }: CallContext,
  { role, accountIds }: Extract<Decision, { decision: "allow" }>,
): Promise<{ permissions: string; account_ids: string | null }> {
  if (!rolesOf(caller).includes(role))
    throw new AppError(
      "forbidden",
      `role: you may not give "${role}", which may do more than you. Choose another.`,
    );
  const chosen = accountIds === undefined ? caller.accountIds : [...new Set(accountIds)];
  const permissions = JSON.stringify(ROLES[role]);
  if (chosen === null) return { permissions, account_ids: null };
  if (chosen.length === 0)
    throw new AppError("invalid", "accountIds: choose at least one channel, or all of them.");
  const known = new Set((await listAccountRows(ctx.store, caller.ownerId)).map((account) => account.id));
  const isReached = (accountId: string): boolean =>
    canReachAccount(caller, accountId) && (accountIds === undefined || known.has(accountId));
  if (!chosen.every(isReached))
    throw new AppError(
      "forbidden",
      "accountIds: one of them is no channel that you reach. Load the list again.",
    );
  return { permissions, account_ids: JSON.stringify(chosen) };
}

function rolesOf(caller: Caller): Role[] {
  return ROLE_NAMES.filter((role) => ROLES[role].every((permission) => isAllowed(caller, permission)));
}

export function clientOf({ client }: Pick<OAuthRequestRow, "client">): ShownClient {
  return JSON.parse(client) as ShownClient;
}

function isOver(): AppError {
  return new AppError(
    "not_found",
    "This question is answered, or its 10 minutes are over. Connect again from the program that asked.",
  );
}
