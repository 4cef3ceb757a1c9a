import { settingName } from "../domain/accounts/platform-settings.ts";
import { localCaller } from "../access/local-caller.ts";
import { guideOf, requiredSettings } from "../ports/platform-setup.ts";
import type { ConnectWay } from "../ports/connect.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import { describeSetup, missingSettings, takenRedirectUrl, usualWay } from "../platform-io/set-up.ts";
import { listAccounts } from "../accounts/accounts.ts";
import { plainCall, type AppContext } from "../context.ts";
import { note, ok } from "./finding.ts";
import type { Finding } from "./reports.ts";

/**
 * Whether a platform can be connected, and what is missing: of the one that was named, else of those that have
 * channels or settings. The steps are told of the one that was named, and of those that somebody has begun to
 * set up.
 */
export async function examinePlatforms(ctx: AppContext, named: string | null): Promise<Finding[]> {
  const platforms = [...ctx.platforms.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const { accounts } = await listAccounts(plainCall(ctx, localCaller()));
  const isWanted = ({ name }: AnyPlatform): boolean =>
    named === null
      ? accounts.some(({ provider }) => provider === name) || hasSettings(ctx, name)
      : name === named;
  const wanted = platforms.filter(isWanted);
  const findings = await Promise.all(
    wanted.map((one) => {
      const connected = accounts.filter(
        ({ provider, status }) => provider === one.name && status === "connected",
      );
      return examinePlatform(ctx, one, { isNamed: one.name === named, connected: connected.length });
    }),
  );
  return [...findings.flat(), ...(named === null ? tellOthers(platforms.length - wanted.length) : [])];
}

function hasSettings({ settings }: AppContext, platform: string): boolean {
  const beginning = settingName(platform, "");
  return Object.keys(settings.platformSettings).some((name) => name.startsWith(beginning));
}

function tellOthers(others: number): Finding[] {
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
  { isNamed, connected }: { readonly isNamed: boolean; readonly connected: number },
): Promise<Finding[]> {
  const way = usualWay(ctx, platform);
  const missing = missingSettings(ctx, platform, way);
  const isBegun = missing.length > 0 && missing.length < requiredSettings(platform, way).length;
  const steps = isNamed || isBegun ? await listSteps(ctx, platform) : [];
  return [
    missing.length === 0
      ? ok(platform.name, describeReady(platform, way, connected))
      : note(platform.name, await explainMissing(ctx, platform, missing)),
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
  missing: readonly string[],
): Promise<string> {
  const [way, ...others] = platform.connect;
  const instead = others.map(
    (other) => `, or, by ${other.name}, ${missingSettings(ctx, platform, other).join(" and ")}`,
  );
  const steps = `(steps: posthorn doctor ${platform.name})`;
  return `cannot be connected yet: set ${missing.join(" and ")}${instead.join("")}${await addressOf(ctx, platform, way)} ${steps}`;
}

async function addressOf(ctx: AppContext, platform: AnyPlatform, way: ConnectWay): Promise<string> {
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
    const settings = requiredSettings(platform, way).map((name) => `${name}=…`);
    return [
      ...setup.needs.map((need) => `${forWay}needs: ${need}`),
      `${forWay}begin at ${setup.url}`,
      ...setup.steps.map((step, at) => `${at + 1}. ${step}`),
      `put this into posthorn.env: ${settings.join(" ")}`,
      ...setup.warnings.map((warning) => `note: ${warning}`),
    ];
  });
  return (await Promise.all(lists)).flat();
}
