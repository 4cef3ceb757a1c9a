import { plural, withFullStop } from "../../domain/text/plain-text.ts";
import { besidePlatform } from "../../domain/accounts/channel-names.ts";
import { spanInWords } from "../../domain/health/span-in-words.ts";
import { settingName } from "../../domain/accounts/platform-settings.ts";
import { localCaller } from "../../access/api-keys.ts";
import { guideOf, requiredSettings } from "../../ports/platform-setup.ts";
import type { ConnectWay } from "../../ports/connect.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import {
  describeSetup,
  missingSettings,
  enterCommand,
  takenRedirectUrl,
  usualWay,
} from "../../channels/platform-io/set-up.ts";
import { type PlatformSettings, effectiveSettings } from "../../channels/platform-io/effective-settings.ts";
import { listAccounts } from "../../channels/accounts/accounts.ts";
import { plainCall, type AppContext } from "../../context.ts";
import { note, ok, type Finding, problem } from "../../domain/health/findings.ts";
import type { Context } from "../compose.ts";
import { capabilitiesOf } from "../file-store.ts";
import type { SaidStatus } from "../../domain/health/status.ts";
import { getStatus, readSetupProblems } from "../../reporting/health/status.ts";
import { readServerUrl } from "../../publishing/at-work.ts";
import { listWebhooks } from "../../reporting/webhooks/webhooks.ts";
import type { Catalog } from "../setup.ts";
import type { Config } from "../config.ts";
import { AppError } from "../../domain/errors.ts";
import { MINUTE, SECOND, toIso } from "../../domain/time.ts";
import { assertFreePort } from "../../http/server.ts";

/**
 * Whether a platform can be connected, and what is missing: of the one that was named, else of those that have
 * channels or settings. The steps are told of the one that was named, and of those whose set-up has begun.
 */
export async function examinePlatforms(ctx: AppContext, named: string | null): Promise<Finding[]> {
  const platforms = [...ctx.platforms.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const { accounts } = await listAccounts(plainCall(ctx, localCaller()));
  const set = await effectiveSettings(ctx);
  const isWanted = ({ name }: AnyPlatform): boolean =>
    named === null
      ? accounts.some(({ provider }) => provider === name) ||
        Object.keys(set).some((setting) => setting.startsWith(settingName(name, "")))
      : name === named;
  const wanted = platforms.filter(isWanted);
  const findings = await Promise.all(
    wanted.map((one) => {
      const connected = accounts.filter(
        ({ provider, status }) => provider === one.name && status === "connected",
      );
      return examinePlatform(ctx, one, { isNamed: one.name === named, connected: connected.length, set });
    }),
  );
  return [...findings.flat(), ...(named === null ? describeOthers(platforms.length - wanted.length) : [])];
}

function describeOthers(others: number): Finding[] {
  if (others === 0) return [];
  const count = others === 1 ? "1 that has" : `${others} that have`;
  return [
    ok(
      "platforms",
      `${count} neither channels nor settings (left out). "posthorn doctor instagram" shows what one of them needs, and docs/platforms.md lists them`,
    ),
  ];
}

async function examinePlatform(
  ctx: AppContext,
  platform: AnyPlatform,
  {
    isNamed,
    connected,
    set,
  }: { readonly isNamed: boolean; readonly connected: number; readonly set: PlatformSettings },
): Promise<Finding[]> {
  const way = usualWay(set, platform);
  const missing = missingSettings(set, platform, way);
  const isBegun = missing.length > 0 && missing.length < requiredSettings(platform, way).length;
  const steps = isNamed || isBegun ? await listSteps(ctx, platform) : [];
  return [
    missing.length === 0
      ? ok(platform.name, describeReady(platform, way, connected))
      : note(platform.name, await explainMissing(ctx, platform, set)),
    ...steps.map((step) => (missing.length === 0 ? ok : note)(platform.name, step)),
  ];
}

function describeReady({ name, connect }: AnyPlatform, way: ConnectWay, connected: number): string {
  const ready = way === connect[0] ? "ready" : `ready by ${way.name}`;
  if (connected === 0) return `${ready}. Connect a channel with: posthorn connect ${name}`;
  return `${ready}, and ${connected === 1 ? "1 channel is" : `${connected} channels are`} connected`;
}

async function explainMissing(
  ctx: AppContext,
  platform: AnyPlatform,
  set: PlatformSettings,
): Promise<string> {
  const [way, ...others] = platform.connect;
  const missing = missingSettings(set, platform, way);
  const instead = others.map(
    (other) => `, or, by ${other.name}, ${missingSettings(set, platform, other).join(" and ")}`,
  );
  const steps = `(steps: posthorn doctor ${platform.name})`;
  return `cannot be connected yet: set ${missing.join(" and ")}${instead.join("")}${await describeAddress(ctx, platform, way)} ${steps}`;
}

async function describeAddress(ctx: AppContext, platform: AnyPlatform, way: ConnectWay): Promise<string> {
  if (way.kind !== "oauth") return "";
  const url = await takenRedirectUrl(ctx, platform, way);
  return url === null
    ? ". It needs an https address to come back to, and there is none"
    : `. The redirect address to register is ${url}`;
}

async function listSteps(ctx: AppContext, platform: AnyPlatform): Promise<string[]> {
  const guided = platform.connect.filter((way) => guideOf(way) !== null);
  if (guided.length === 0) return [`no app needs to be registered (${platform.docs})`];
  const lists = guided.map(async (way) => {
    const setup = await describeSetup(ctx, platform, way);
    const forWay = guided.length === 1 ? "" : `for "${way.label}" (--way ${way.name}) `;
    if (setup === null) return [];
    const command = enterCommand(ctx, platform, way);
    const settings = requiredSettings(platform, way).map((name) => `${name}=…`);
    return [
      ...setup.needs.map((need) => `${forWay}needs: ${need}`),
      `${forWay}begin at ${setup.url}`,
      ...setup.steps.map((step, at) => `${at + 1}. ${step}`),
      ...(command === null ? [] : [`enter the app's id and secret with: ${command}`]),
      `${command === null ? "" : "or "}put this into posthorn.env: ${settings.join(" ")}`,
      ...setup.warnings.map((warning) => `note: ${warning}`),
    ];
  });
  return (await Promise.all(lists)).flat();
}

/** Whether posts of the default owner go out, on time, and whether webhooks hear of it. */
export async function examinePublishing(ctx: Context): Promise<Finding[]> {
  const call = plainCall(ctx, localCaller());
  const status = await getStatus(call);
  const { webhooks } = await listWebhooks(call, { limit: 1 });
  return [
    examinePublisher(status),
    examinePosts(status),
    ...status.accountsToReconnect.map((account) => {
      const waiting = account.queuedCount === 1 ? "1 post waits" : `${account.queuedCount} posts wait`;
      const title = ctx.platforms.get(account.provider)?.title ?? account.provider;
      const isTold = besidePlatform(account.name, title) === account.name;
      const isBroken = account.status !== "expiring" && account.queuedCount > 0;
      return (isBroken ? problem : note)(
        "channel",
        `"${account.name}"${isTold ? "" : ` on ${account.provider}`}: ${withFullStop(account.reason ?? "It must be reconnected.")} ${waiting} for it. Reconnect it with: posthorn connect ${account.provider}`,
      );
    }),
    ...(await readSetupProblems(ctx, ctx.clock.now())).map(({ provider, reason, at }) =>
      problem(provider, `${withFullStop(reason)} A post last met with this at ${at}.`),
    ),
    ...webhooks
      .filter(({ status }) => status !== "active")
      .map(({ id, url, status, statusReason }) => {
        const state = status === "disabled" ? "is turned off" : "does not get its events";
        const how = `Send it a test with: posthorn call test_webhook '{"id":"${id}"}'`;
        return note("webhook", `${url} ${state}: ${withFullStop(statusReason ?? "")} ${how}`);
      }),
  ];
}

function examinePublisher({ publisher, counts, nextDueAt }: SaidStatus): Finding {
  const { running, workers, heartbeatAt } = publisher;
  const waiting = `${counts.scheduled} waiting${nextDueAt === null ? "" : `, the next at ${nextDueAt}`}`;
  if (running) {
    const processes = workers === 1 ? "1 process publishes" : `${workers} processes publish`;
    return ok("publisher", `${processes}, last heard of at ${heartbeatAt ?? ""}. ${waiting}`);
  }
  const silence = heartbeatAt === null ? "" : `, the last one was heard of at ${heartbeatAt}`;
  return note(
    "publisher",
    `none runs${silence}. Nothing goes out until "posthorn serve" or an MCP client starts one. ${waiting}`,
  );
}

/** What says of a post that may have gone out whether it did. */
export const RESOLVE_HOW =
  'posthorn call resolve_post \'{"id":"post_…","outcome":"published"}\' (or "not_published") settles one';

function examinePosts({ counts, lateness, lastFailures }: SaidStatus): Finding {
  const troubles: readonly (readonly [count: number, one: string, several?: string])[] = [
    [counts.overdue, "should be live and is not", "should be live and are not"],
    [counts.unknownOutcome, `may have gone out or not (look on the platform; ${RESOLVE_HOW})`],
    [counts.failed, "failed in the last 7 days"],
  ];
  const told = troubles.flatMap(([count, one, several = one]) =>
    count === 0 ? [] : plural(count, one, several),
  );
  const late = describeLateness(lateness);
  if (told.length === 0) return ok("posts", late);
  const [last] = lastFailures;
  const why =
    last === undefined
      ? ""
      : ` The last to fail, ${last.id.slice(-6)}: ${withFullStop(String(last.error ?? "no reason is known"))}`;
  const tell = counts.overdue > 0 ? problem : note;
  return tell("posts", `${told.join(", ")}.${why} Apart from that, ${late}.`);
}

function describeLateness({ p50Ms, maxMs }: SaidStatus["lateness"]): string {
  if (p50Ms === null) return "none went out in the last 7 days";
  const all = `what went out in the last 7 days was live within ${spanInWords(maxMs ?? 0)} of its time`;
  return p50Ms === maxMs ? all : `${all}, half of it within ${spanInWords(p50Ms ?? 0)}`;
}

/** Clocks that differ by more publish at times that were not meant. */
const MAX_CLOCK_ERROR_MS = MINUTE;

const PUBLIC = "public address";
const LOOPBACK = /^(127\.|::1$|localhost$)/;

/** Whether a server could listen where the settings say, or one of this data folder does already. */
export async function examinePort(ctx: Context, config: Config): Promise<Finding[]> {
  const running = await readServerUrl(ctx);
  if (running !== null) return [ok("port", `a server runs at ${running}`)];
  if (config.port === 0) return [];
  try {
    await assertFreePort(config);
    return [ok("port", `${config.port} on ${config.host} is free`)];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // Agents' sessions take any other port.
    return [note("port", `posthorn serve would not start. ${error.message}`)];
  }
}

/** Whether others reach this server, and whether its clock and ours agree. */
export async function examineAddress(ctx: Context, config: Config, catalog: Catalog): Promise<Finding[]> {
  const now = ctx.clock.now();
  if (config.publicUrl === null)
    return [...describeClock(now, config), await describeLocal(ctx, config, catalog)];
  const address = `${config.publicUrl}/healthz`;
  try {
    const { status, headers, body } = await ctx.outbound.request({
      method: "GET",
      url: address,
      timeoutMs: 10 * SECOND,
      maxRedirects: 0,
    });
    body.resume();
    return [
      compareClocks(now, Date.parse(headers["date"] ?? "")),
      status === 200
        ? ok(PUBLIC, `${address} answers`)
        : problem(
            PUBLIC,
            `${address} answers with status ${status}. Check the reverse proxy in front of Posthorn.`,
          ),
    ];
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    const text = `${address} does not answer. Is "posthorn serve" running, and does the name lead to it? (${reason})`;
    return [...describeClock(now, config), problem(PUBLIC, text)];
  }
}

async function describeLocal(ctx: Context, { host }: Config, { platforms }: Catalog): Promise<Finding> {
  const url = await ctx.publicUrl();
  const reach = LOOPBACK.test(host)
    ? `only this machine reaches ${url}`
    : `it listens on ${host} for other machines, too, but the addresses it gives begin with ${url}, which only this machine reaches`;
  const fetching = platforms.filter(({ capabilities }) => capabilities.fetchesMedia.length > 0);
  const who =
    fetching.length === 0
      ? "No platform needs more."
      : `Posts with media need it, or a bucket (POSTHORN_S3_…), on: ${fetching.map(({ title }) => title).join(", ")}.`;
  return note(PUBLIC, `${reach}. Set POSTHORN_PUBLIC_URL to change that. ${who}`);
}

/** Nothing else to compare with; how it goes beside the database's was told. */
function describeClock(now: number, config: Config): Finding[] {
  if (capabilitiesOf(config).manyHosts) return [];
  return [ok("clock", `${toIso(now)}. There was no other clock to compare it with`)];
}

function compareClocks(own: number, other: number): Finding {
  if (!Number.isFinite(other)) return ok("clock", toIso(own));
  if (Math.abs(own - other) <= MAX_CLOCK_ERROR_MS)
    return ok("clock", `${toIso(own)}, as the public address says too`);
  return problem(
    "clock",
    `${toIso(own)}, but the public address says ${toIso(other)}. Set the clock (NTP), or posts go out at the wrong time.`,
  );
}
