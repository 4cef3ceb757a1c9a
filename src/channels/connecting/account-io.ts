import type { Secrets } from "../../ports/connect.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import {
  type JsonObject,
  type PlatformAccount,
  PlatformFault,
  type PlatformIo,
  type PlatformRequest,
  type SignedRequest,
} from "../../ports/platform-io.ts";
import { type AccountRow, findAccountRow, storeSettings } from "../../store/queries/accounts.ts";
import type { AppContext } from "../../context.ts";
import { fitFacts } from "../platform-io/fit-answers.ts";
import { askToReconnect, type LoadedSecrets, loadSecrets, refreshSecrets } from "./renew-tokens.ts";
import { createConnectIo, readSettings, toPlatformAccount } from "../platform-io/connect-io.ts";
import { signRequest } from "../platform-io/encodings.ts";
import { requirePlatform } from "../platform-io/set-up.ts";
import { openSecrets, sealSecrets } from "../platform-io/secrets.ts";

/** What a platform gets for everything it does with a connected account. */
export async function createPlatformIo(
  ctx: AppContext,
  row: AccountRow,
  signal: AbortSignal,
): Promise<PlatformIo> {
  const { provider, owner_id: ownerId } = row;
  const platform = requirePlatform(ctx, provider);
  const knownSecrets = new Set<string>();
  const asking = { provider, ownerId, knownSecrets, fields: { accountId: row.id } };
  const io = await createConnectIo(ctx, asking, signal);
  // `remember` changes its settings while it is used.
  let current = row;
  let settings = readSettings(row);
  const account: PlatformAccount = {
    ...toPlatformAccount(row),
    get settings() {
      return settings;
    },
  };
  const authorized = createAuthorized(ctx, { platform, row: () => current, knownSecrets });
  const signed = <T>(request: SignedRequest, send: (signed: PlatformRequest) => Promise<T>): Promise<T> =>
    request.sign === undefined ? send(request) : authorized((secrets) => send(signRequest(request, secrets)));
  return {
    ...io,
    account,
    authorized,
    resultOf: () => null,
    request: (request) => signed(request, (one) => io.request(one)),
    ask: (request, schema) => signed(request, (one) => io.ask(one, schema)),
    remember: async (learned) => {
      current = await rememberSettings(ctx, current, fitFacts(platform.title, learned));
      settings = readSettings(current);
    },
  };
}

function createAuthorized(
  ctx: AppContext,
  {
    platform,
    row,
    knownSecrets,
  }: { platform: AnyPlatform; row: () => AccountRow; knownSecrets: Set<string> },
): PlatformIo["authorized"] {
  const note = (secrets: LoadedSecrets): LoadedSecrets => {
    for (const value of Object.values(secrets.values)) knownSecrets.add(value);
    return secrets;
  };
  return async <T>(work: (secrets: Secrets) => Promise<T>): Promise<T> => {
    const { owner_id: ownerId, id, settings } = row();
    const ref = { ownerId, id, settings };
    const first = note(await loadSecrets(ctx, ref));
    let fault: PlatformFault;
    try {
      return await work(first.values);
    } catch (error) {
      fault = requireAuthFault(error);
    }
    const fresh = note(await refreshSecrets(ctx, { platform, ref, seen: { version: first.version, fault } }));
    try {
      return await work(fresh.values);
    } catch (error) {
      await askToReconnect(ctx, { ...ref, version: fresh.version }, requireAuthFault(error));
      throw error;
    }
  };
}

/** Throws every other error. */
function requireAuthFault(error: unknown): PlatformFault {
  if (error instanceof PlatformFault && error.kind === "auth") return error;
  throw error;
}

/**
 * Merges what a platform has learned into the account's settings, and seals its secrets anew, which are bound
 * to them. Gives the row as it is now. Throws a `not_sent` fault where the channel was connected anew since,
 * or is connected no more.
 */
async function rememberSettings(
  ctx: AppContext,
  seen: AccountRow,
  settings: JsonObject,
): Promise<AccountRow> {
  if ("instanceUrl" in settings) throw new Error("Only a person changes the server of a channel.");
  return ctx.store.write(async (tx) => {
    const row = await findAccountRow(tx, seen.owner_id, seen.id);
    const changed = new PlatformFault("not_sent", "The channel was reconnected while it was being used.");
    if (row === undefined || row.status === "disconnected" || row.settings !== seen.settings) throw changed;
    const merged = { ...row, settings: JSON.stringify({ ...JSON.parse(row.settings), ...settings }) };
    const change = {
      settings: merged.settings,
      secrets_enc: sealSecrets(ctx, merged, openSecrets(ctx, row)),
      secrets_version: row.secrets_version + 1,
      updated_at: ctx.clock.now(),
    };
    if (!(await storeSettings(tx, row, change))) throw changed;
    return { ...row, ...change };
  });
}
