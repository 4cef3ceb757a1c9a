import * as z from "zod";
import { settingName } from "../../domain/accounts/platform-settings.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ConnectIo, Secrets } from "../../ports/connect.ts";
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
import type { AppContext } from "../context.ts";
import { fitFacts } from "./fit-answers.ts";
import { conversePlatform, readAnswer, requestPlatform } from "./requests/platform-request.ts";
import { askToReconnect, type LoadedSecrets, loadSecrets, refreshSecrets } from "./renew-tokens.ts";
import type { OpenIo } from "./renewal/renewal-io.ts";
import { signRequest } from "./requests/encodings.ts";
import { requirePlatform } from "./ways.ts";
import { openSecrets, sealSecrets } from "./secrets.ts";

/** What a platform gets while no account is connected yet. */
export async function createConnectIo(
  ctx: AppContext,
  {
    provider,
    ownerId,
    knownSecrets = new Set(),
  }: {
    readonly provider: string;
    readonly ownerId: string;
    /** Values that must not reach the log; more may be added later. */
    readonly knownSecrets?: ReadonlySet<string>;
  },
  signal: AbortSignal,
): Promise<ConnectIo> {
  const platform = requirePlatform(ctx, provider);
  return buildIo(ctx, {
    platform,
    ownerId,
    signal,
    knownSecrets,
    publicUrl: await ctx.publicUrl(),
    fields: {},
  });
}

/** What a platform gets for everything it does with a connected account. */
export async function createPlatformIo(
  ctx: AppContext,
  row: AccountRow,
  signal: AbortSignal,
): Promise<PlatformIo> {
  const platform = requirePlatform(ctx, row.provider);
  const knownSecrets = new Set<string>();
  const fields = { accountId: row.id };
  const parts = {
    platform,
    ownerId: row.owner_id,
    knownSecrets,
    fields,
    publicUrl: await ctx.publicUrl(),
  };
  // `remember` changes its settings while it is used.
  let current = row;
  let settings = readSettings(row);
  const account: PlatformAccount = {
    ...toPlatformAccount(row),
    get settings() {
      return settings;
    },
  };
  const authorized = createAuthorized(ctx, {
    platform,
    row: () => current,
    knownSecrets,
  });
  const io = buildIo(ctx, { ...parts, signal });
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

/** For what outlives the calls that caused it: tokens that are renewed, or given back. */
export const openAccountIo: OpenIo = async (ctx, { account, knownSecrets }, signal) => {
  const asking = { provider: account.provider, ownerId: account.owner_id, knownSecrets };
  return { ...(await createConnectIo(ctx, asking, signal)), account: toPlatformAccount(account) };
};

/** The account as its platform's file sees it. */
export function toPlatformAccount(row: SeenAccount): PlatformAccount {
  return {
    id: row.id,
    name: row.name,
    handle: row.handle,
    platformAccountId: row.platform_account_id,
    settings: readSettings(row),
    limits: Fields.parse(JSON.parse(row.limits)),
  };
}

/** What `toPlatformAccount` reads of a row. */
export type SeenAccount = Pick<
  AccountRow,
  "id" | "name" | "handle" | "platform_account_id" | "settings" | "limits"
>;

const Fields = z.record(z.string(), z.json());

export function readSettings(row: Pick<AccountRow, "settings">): JsonObject {
  return Fields.parse(JSON.parse(row.settings));
}

interface IoParts {
  readonly platform: AnyPlatform;
  readonly ownerId: string;
  readonly signal: AbortSignal;
  readonly knownSecrets: ReadonlySet<string>;
  readonly publicUrl: string;
  /** Stand on every line the platform logs. */
  readonly fields: object;
}

function buildIo(ctx: AppContext, parts: IoParts): ConnectIo {
  const { platform, ownerId, signal, knownSecrets, publicUrl } = parts;
  const asking = { ctx, platform, title: platform.title, ownerId, signal, knownSecrets };
  return {
    signal,
    publicUrl,
    ...(platform.isLocal === true ? { feed: ctx.feed } : {}),
    log: withFields(ctx.log, { provider: platform.name, ...parts.fields }),
    now: () => ctx.clock.now(),
    sleep: (ms) => ctx.clock.sleep(ms, signal),
    setting: (name, of = platform.name) => ctx.settings.platformSettings[settingName(of, name)] ?? null,
    request: (request) => requestPlatform(asking, request),
    socket: (url, work) => conversePlatform(asking, url, work),
    ask: async (request, schema) => {
      const response = await requestPlatform(asking, request);
      return readAnswer(asking, { request, response, schema });
    },
  };
}

function withFields(log: Logger, fields: object): Logger {
  const at =
    (level: keyof Logger) =>
    (more: object, message: string): void =>
      log[level]({ ...fields, ...more }, message);
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

interface AuthorizedParts {
  readonly platform: AnyPlatform;
  readonly row: () => AccountRow;
  readonly knownSecrets: Set<string>;
}

function createAuthorized(ctx: AppContext, parts: AuthorizedParts): PlatformIo["authorized"] {
  const { platform, row, knownSecrets } = parts;
  const note = (secrets: LoadedSecrets): LoadedSecrets => {
    for (const value of Object.values(secrets.values)) knownSecrets.add(value);
    return secrets;
  };
  return async <T>(work: (secrets: Secrets) => Promise<T>): Promise<T> => {
    const { owner_id: ownerId, id, settings } = row();
    const ref = { ownerId, id, settings };
    const first = note(await loadSecrets(ctx, ref));
    const refused = await attempt(work, first);
    if (refused.fault === null) return refused.result;
    const fresh = note(
      await refreshSecrets(ctx, {
        platform,
        ref,
        openIo: openAccountIo,
        seen: { version: first.version, fault: refused.fault },
      }),
    );
    const again = await attempt(work, fresh);
    if (again.fault === null) return again.result;
    await askToReconnect(ctx, { ...ref, version: fresh.version }, again.fault);
    throw again.fault;
  };
}

type Attempted<T> = { readonly fault: null; readonly result: T } | { readonly fault: PlatformFault };

/** Runs the work; an `auth` fault is its answer, every other error is thrown. */
async function attempt<T>(
  work: (secrets: Secrets) => Promise<T>,
  secrets: LoadedSecrets,
): Promise<Attempted<T>> {
  try {
    return { fault: null, result: await work(secrets.values) };
  } catch (error) {
    if (error instanceof PlatformFault && error.kind === "auth") return { fault: error };
    throw error;
  }
}

/**
 * Merges what a platform has learned into the account's settings, and seals its secrets anew, which are bound
 * to them. Gives the row as it is now. Throws a `not_sent` fault where the channel was connected anew since,
 * or is connected no more.
 */
export async function rememberSettings(
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
