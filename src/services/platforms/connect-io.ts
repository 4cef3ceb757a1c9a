import * as z from "zod";
import { settingName } from "../../domain/accounts/platform-settings.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ConnectIo } from "../../ports/connect.ts";
import type { JsonObject, PlatformAccount } from "../../ports/platform-io.ts";
import type { AccountRow } from "../../store/queries/accounts.ts";
import type { AppContext } from "../context.ts";
import { conversePlatform, readAnswer, requestPlatform } from "./requests/platform-request.ts";
import { requirePlatform } from "./ways.ts";

/** What a platform gets while no account is connected yet. */
export async function createConnectIo(
  ctx: AppContext,
  {
    provider,
    ownerId,
    knownSecrets = new Set(),
    fields = {},
  }: {
    readonly provider: string;
    readonly ownerId: string;
    /** Values that must not reach the log; more may be added later. */
    readonly knownSecrets?: ReadonlySet<string>;
    /** Stand on every line the platform logs. */
    readonly fields?: object;
  },
  signal: AbortSignal,
): Promise<ConnectIo> {
  const platform = requirePlatform(ctx, provider);
  const asking = { ctx, platform, title: platform.title, ownerId, signal, knownSecrets };
  return {
    signal,
    publicUrl: await ctx.publicUrl(),
    ...(platform.isLocal === true ? { feed: ctx.feed } : {}),
    log: withFields(ctx.log, { provider, ...fields }),
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
