import * as z from "zod";
import { showCapabilities } from "../../domain/accounts/capabilities.ts";
import type { PlatformListing, PlatformsArgs } from "../../domain/accounts/platform-listing.ts";
import { settingName } from "../../domain/accounts/platform-settings.ts";
import { AppError } from "../../domain/errors.ts";
import { didYouMean, nearestName } from "../../domain/settings/nearest-name.ts";
import { quote } from "../../domain/text/plain-text.ts";
import type { ConnectWay, SecretField } from "../../ports/connect.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import { guideOf, RESULTS, scopesOf, settingsOf, wayName } from "../../ports/platform-setup.ts";
import type { AppContext, CallContext } from "../../context.ts";
import { describeSetup, missingSettings, takenRedirectUrl, usualWay } from "./set-up.ts";
import { collectsResults, type PlatformSettings, effectiveSettings } from "./effective-settings.ts";

/**
 * Every platform of this installation in short, or those named whole, by name. Throws `invalid` for a name
 * that is none.
 */
export async function listPlatforms(
  { ctx }: CallContext,
  { provider }: PlatformsArgs = {},
): Promise<{ platforms: PlatformListing[] }> {
  const set = await effectiveSettings(ctx);
  if (provider === undefined) return { platforms: byName(ctx.platforms.values()).map(inShort(set)) };
  const wanted = byName(new Set(provider.map((name) => findPlatform(ctx, name))));
  return { platforms: await Promise.all(wanted.map((platform) => describePlatform(ctx, platform, set))) };
}

function byName(platforms: Iterable<AnyPlatform>): AnyPlatform[] {
  return [...platforms].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const inShort =
  (set: PlatformSettings) =>
  (platform: AnyPlatform): PlatformListing => {
    const { name, title, aliases, connect } = platform;
    const { media, caption, nativeScheduling } = showCapabilities(
      platform.capabilities,
      platform.remove !== undefined,
    );
    const usual = usualWay(set, platform);
    const missing = missingSettings(set, platform, usual);
    const ways = [usual, ...connect.filter((way) => way !== usual)];
    return {
      provider: name,
      title,
      ...(aliases !== undefined && { aliases: [...aliases] }),
      configured: missing.length === 0,
      missing,
      connect: usual.kind,
      ways: ways.map((way) => way.name),
      media: [...new Set(media.accepts.map(({ kind }) => kind))],
      caption,
      nativeScheduling,
    };
  };

async function describePlatform(
  ctx: AppContext,
  platform: AnyPlatform,
  set: PlatformSettings,
): Promise<PlatformListing> {
  const { connect, capabilities, docs, name } = platform;
  const comesBack = connect.some(({ kind }) => kind === "oauth" || kind === "redirect");
  const guided = connect.find((way) => guideOf(way) !== null) ?? connect[0];
  const isSet = (setting: string): boolean => set[settingName(name, setting)] !== undefined;
  return {
    ...inShort(set)(platform),
    docs,
    capabilities: showCapabilities(capabilities, platform.remove !== undefined),
    metadataSchema: z.toJSONSchema(platform.metadata, {
      target: "draft-2020-12",
      io: "input",
      reused: "inline",
      unrepresentable: "any",
    }),
    connecting: connect.map((way) => describeWay(set, platform, way)),
    settings: settingsOf(platform).map(({ values: _values, ...setting }) => ({
      ...setting,
      name: settingName(name, setting.name),
      isSet: isSet(setting.name),
    })),
    results: describeResults(set, platform),
    redirectUrl: comesBack ? await takenRedirectUrl(ctx, platform, guided) : null,
    setup: await describeSetup(ctx, platform, guided),
  };
}

/** Whether figures are collected by themselves, and what that costs. */
function describeResults(set: PlatformSettings, platform: AnyPlatform): string {
  const price = platform.results?.price;
  if (collectsResults(set, platform)) return price === undefined ? "on" : `on. ${price}`;
  return price === undefined
    ? "off: it offers none."
    : `off. ${price} ${settingName(platform.name, RESULTS)}=on turns it on.`;
}

type WayListing = NonNullable<PlatformListing["connecting"]>[number];

function describeWay(set: PlatformSettings, platform: AnyPlatform, way: ConnectWay): WayListing {
  return {
    name: way.name,
    label: way.label,
    kind: way.kind,
    instructions: [
      way.instructions,
      ...(way.steps ?? []).map((step, at) => `${at + 1}. ${step}`),
      ...(way.toCopy === undefined ? [] : [`\n${way.toCopy}`]),
    ].join(" "),
    missing: missingSettings(set, platform, way),
    secretsSchema: way.kind === "secrets" ? secretsSchema(way.fields) : null,
    scopes: [...scopesOf(way, set[settingName(platform.name, wayName(way, "SCOPES"))] ?? null)],
  };
}

/** What `posthorn connect --secrets-stdin` takes, too. */
function secretsSchema(fields: readonly SecretField[]): Record<string, unknown> {
  const properties = fields.map(({ name, label, help, isSecret }) => [
    name,
    { type: "string", title: label, description: help, ...(isSecret ? { writeOnly: true } : {}) },
  ]);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: fields.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    additionalProperties: false,
  };
}

/** The platform of this name; throws `invalid` that lists the known ones. */
export function findPlatform(ctx: Pick<AppContext, "platforms">, name: string): AnyPlatform {
  const platform = platformNamed(ctx.platforms.values(), name);
  if (platform !== undefined) return platform;
  throw new AppError("invalid", `provider: ${unknownPlatform([...ctx.platforms.values()], name)}`);
}

/** The one that has this name, or is known by it: its title, or another name of its. */
export function platformNamed(platforms: Iterable<AnyPlatform>, given: string): AnyPlatform | undefined {
  const wanted = lettersOf(given);
  return [...platforms].find((platform) => wordsOf(platform).some((one) => lettersOf(one) === wanted));
}

function wordsOf({ name, title, aliases = [] }: AnyPlatform): string[] {
  return [name, title, ...aliases];
}

/** Names the one that is probably meant, and all there are. */
export function unknownPlatform(platforms: readonly AnyPlatform[], given: string): string {
  const near = nearestPlatform(platforms, given);
  const hint = near === null ? "" : ` ${didYouMean(near)}`;
  const known = platforms.map(({ name }) => name).toSorted();
  return `${quote(given)} is not a known platform.${hint} The platforms are ${known.join(", ")}.`;
}

/** The platform that is probably meant: by another name of its, its title, or a name mistyped. */
function nearestPlatform(platforms: readonly AnyPlatform[], given: string): string | null {
  const wanted = lettersOf(given);
  const names = platforms.flatMap((platform) =>
    wordsOf(platform).map((one) => [lettersOf(one), platform.name] as const),
  );
  const near = nearestName(
    wanted,
    names.map(([one]) => one),
  );
  return names.find(([one]) => one === near)?.[1] ?? null;
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}
