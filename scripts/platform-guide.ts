import { settingName } from "../src/domain/accounts/platform-settings.ts";
import type { Capabilities, MediaLimits } from "../src/domain/accounts/account.ts";
import { showCapabilities } from "../src/domain/accounts/capabilities.ts";
import type { ConnectWay } from "../src/ports/connect.ts";
import {
  CALLBACK_PATH,
  fillGuide,
  guideOf,
  mediaNeed,
  pasteWay,
  requiredSettings,
  scopesOf,
  settingsOf,
  wayName,
} from "../src/ports/platform-setup.ts";
import type { AnyPlatform } from "../src/ports/platform.ts";
import { code, table } from "./markdown.ts";
import { captionOf, settingTable } from "./platform-docs.ts";

const REDIRECT_URL = `\`<POSTHORN_PUBLIC_URL>${CALLBACK_PATH}\``;

const KIB = 1024;
const UNITS = ["bytes", "KiB", "MiB", "GiB"];

/** How one platform is connected, set up before that, and what it takes. */
export function guidePage(platform: AnyPlatform): string {
  const { title, docs, name, connect } = platform;
  const capabilities = showCapabilities(platform.capabilities, platform.remove !== undefined);
  const isSetUp = connect.some((way) => requiredSettings(platform, way).length > 0);
  const first = `the first of these ways${isSetUp ? " that is set up" : ""}`;
  return [
    `# ${title}`,
    `Posthorn follows <${docs}>. \`posthorn doctor ${name}\` shows what is missing, with your own address in it.`,
    "## Connect",
    `\`posthorn connect ${name}\`${connect.length === 1 ? "." : ` takes ${first}, and \`--way\` another.`}`,
    ...connect.flatMap((way) => describeWay(platform, way)),
    "## What it takes",
    takenMedia(capabilities),
    bulleted([`Text: ${captionOf(platform.capabilities)}.`, ...capabilities.quotas.map(quotaLine)]),
    ...notForAll(platform),
    ...(settingsOf(platform).length === 0 ? [] : ["## Settings", settingTable(platform)]),
  ].join("\n\n");
}

function notForAll({ gated = [] }: AnyPlatform): string[] {
  const lines = gated.map(({ field, values, who, instead }) => {
    const which = values === undefined ? "" : ` (${values.join(", ")})`;
    return `${code([field])}${which} is only for ${who}. ${instead}`;
  });
  return lines.length === 0 ? [] : ["Not everybody has these:", bulleted(lines)];
}

function describeWay(platform: AnyPlatform, way: ConnectWay): string[] {
  const needed = requiredSettings(platform, way);
  const needs = needed.length === 0 ? "Needs no settings." : `Needs ${code(needed)}.`;
  return [
    `### ${way.label} (\`${way.name}\`)`,
    `${way.instructions} ${needs}`,
    ...(way.steps === undefined ? [] : [numbered(way.steps)]),
    ...(way.toCopy === undefined ? [] : [`\`\`\`yaml\n${way.toCopy}\n\`\`\``]),
    ...scripted(platform, way),
    ...registering(platform, way),
  ];
}

/** What `--secrets-stdin` takes, which names the fields. */
function scripted({ name, connect }: AnyPlatform, way: ConnectWay): string[] {
  if (way.kind !== "secrets") return [];
  const named = connect[0] === way ? "" : ` --way ${way.name}`;
  const taken = (isRequired: boolean): string =>
    code(way.fields.filter((field) => field.isRequired === isRequired).map((field) => field.name));
  const others = taken(false);
  const fields = [taken(true), others === "" ? "" : `if need be ${others}`].filter((part) => part !== "");
  return [
    `Scripts give the secrets as one JSON object to \`posthorn connect ${name}${named} --secrets-stdin\`, with ${fields.join(", and ")}.`,
  ];
}

/** What is registered at the platform before that way is open. */
function registering(platform: AnyPlatform, way: ConnectWay): string[] {
  const setup = guideOf(way);
  if (setup === null) return [];
  const scopes = scopesOf(way, null);
  const guide = fillGuide(setup, { redirectUrl: REDIRECT_URL, scopes });
  return [
    ...whatItTakes(platform, way, guide.needs),
    `An app is registered once. Begin at <${guide.url}>.`,
    numbered(guide.steps),
    `Put this into \`posthorn.env\`:`,
    ["```ini", ...requiredSettings(platform, way).map((name) => `${name}=`), "```"].join("\n"),
    `Redirect address: ${REDIRECT_URL}, exactly. \`${settingName(platform.name, "REDIRECT_URL")}\` sets another one.`,
    `Scopes: ${code(scopes)}. \`${settingName(platform.name, wayName(way, "SCOPES"))}\` names others.`,
    ...(guide.warnings.length === 0 ? [] : ["Good to know:", bulleted(guide.warnings)]),
  ];
}

/** What decides whether somebody begins. */
function whatItTakes(platform: AnyPlatform, way: ConnectWay, needs: readonly string[]): string[] {
  const isHttps = "redirect" in way && way.redirect === "https";
  const media = mediaNeed(platform);
  const all = [
    ...(isHttps ? [`${pasteWay(platform)} ${PASTING}`] : []),
    ...(media === null ? [] : [media]),
    ...needs,
  ];
  return all.length === 0 ? [] : ["What it takes, before the first step:", bulleted(all)];
}

const PASTING = "[More on that](../platforms.md#without-a-public-https-address).";

function numbered(steps: readonly string[]): string {
  return steps.map((step, at) => `${at + 1}. ${step}`).join("\n");
}

function takenMedia({ media }: Capabilities): string {
  const rows = media.accepts.map((accepted) => [
    accepted.kind,
    code(accepted.mimeTypes),
    String(accepted.maxItems),
    bytes(accepted.maxBytes),
    accepted.maxSeconds === null ? "any" : `${accepted.maxSeconds} s`,
    shapeOf(accepted),
  ]);
  return table(["media", "types", "in a post", "size", "length", "width to height"], rows);
}

function bytes(most: number | null): string {
  if (most === null) return "any";
  const power = Math.min(Math.floor(Math.log(most) / Math.log(KIB)), UNITS.length - 1);
  return `${Math.round((most / KIB ** power) * 10) / 10} ${UNITS[power] ?? ""}`;
}

function shapeOf({ minAspectRatio: least, maxAspectRatio: most }: MediaLimits): string {
  if (least === null && most === null) return "any";
  return [least === null ? "" : `from ${rounded(least)}`, most === null ? "" : `to ${rounded(most)}`]
    .join(" ")
    .trim();
}

function rounded(ratio: number): number {
  return Math.round(ratio * 100) / 100;
}

function quotaLine({ name, max, perMinutes, scope }: Capabilities["quotas"][number]): string {
  return `${name}: ${max} in ${perMinutes} minutes, for each ${scope}.`;
}

function bulleted(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}
