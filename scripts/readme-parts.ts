import { loadCatalog } from "../src/app/catalog.ts";
import { SETTINGS } from "../src/app/settings.ts";
import type { Capabilities } from "../src/domain/accounts/account.ts";
import type { PlatformCapabilities } from "../src/domain/accounts/capabilities.ts";
import { TRANSITIONS, type Trigger } from "../src/domain/posts/post-states.ts";
import type { AnyPlatform } from "../src/ports/platform.ts";
import type { AnyTool } from "../src/toolkit/define-tool.ts";

/**
 * The README with everything between `<!-- begin NAME -->` and `<!-- end NAME -->` written anew from the
 * code.
 */
export async function renderReadme(readme: string): Promise<string> {
  const { tools, platforms } = await loadCatalog();
  const parts: Readonly<Record<string, string>> = {
    tools: toolTable(tools),
    platforms: platformTable(platforms),
    settings: settingTable(platforms),
    life: lifeOfAPost(),
  };
  return Object.entries(parts).reduce((text, [name, part]) => replacePart(text, name, part), readme);
}

function replacePart(text: string, name: string, part: string): string {
  const begin = `<!-- begin ${name} -->`;
  const end = `<!-- end ${name} -->`;
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`README.md has no place for "${name}": ${begin} … ${end}`);
  return `${text.slice(0, from + begin.length)}\n\n${part}\n\n${text.slice(to)}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function toolTable(tools: readonly AnyTool[]): string {
  return table(
    ["tool", "permission", "what it does"],
    tools.map((tool) => [`\`${tool.name}\``, tool.permission, firstSentence(tool.description)]),
  );
}

function firstSentence(text: string): string {
  return /^.*?[.:](?=\s|$)/.exec(text)?.[0].replace(/:$/, ".") ?? text;
}

function platformTable(platforms: readonly AnyPlatform[]): string {
  return table(
    ["platform", "takes", "text", "can be changed when live", "a doubtful outcome"],
    platforms.map(({ name, title, capabilities }) => [
      `\`${name}\` ${title}`,
      mediaOf(capabilities),
      captionOf(capabilities),
      capabilities.editPublished.fields.map((field) => `\`${field}\``).join(", ") || "nothing",
      SETTLED_BY[capabilities.reconciles],
    ]),
  );
}

const SETTLED_BY: Record<Capabilities["reconciles"], string> = {
  server_key: "cannot double: the receiver drops repeats of one id",
  client_key: "is looked up under the key chosen for it",
  session: "is asked of the upload session",
  container: "is asked of the prepared container",
  list: "is looked for in the account's posts",
  blind: "is left to a person (`resolve_post`)",
};

function mediaOf({ media }: PlatformCapabilities): string {
  const most = new Map<string, number>();
  for (const { kind, maxItems } of media.accepts) most.set(kind, Math.max(maxItems, most.get(kind) ?? 0));
  const kinds = [...most].map(([kind, maxItems]) => (maxItems === 1 ? `1 ${kind}` : `${maxItems} ${kind}s`));
  return media.required ? kinds.join(" or ") : ["text alone", ...kinds].join(", ");
}

function captionOf({ caption }: PlatformCapabilities): string {
  return caption.maxLength === null
    ? "any length"
    : `${caption.maxLength} ${caption.unit === "weighted" ? "characters, weighted" : caption.unit}`;
}

function settingTable(platforms: readonly AnyPlatform[]): string {
  const required = platforms.flatMap((platform) =>
    platform.requiredSettings.map((name) => [`\`${name}\``, `Needed to connect ${platform.title}`, "none"]),
  );
  const own = SETTINGS.map((setting) => [`\`${setting.name}\``, setting.meaning, setting.default]);
  const base = [
    "`POSTHORN_<PLATFORM>_BASE_URL`",
    "Another address of that platform's API (a gateway, a server of your own)",
    "the platform's",
  ];
  return table(["setting", "meaning", "default"], [...own, ...required, base]);
}

function lifeOfAPost(): string {
  const moves = Object.entries(TRANSITIONS).flatMap(([trigger, { from, to }]) =>
    from.map((state) => ({ trigger: trigger as Trigger, from: state, to: to ?? state })),
  );
  // Moves that lead back to where they began would only clutter the picture.
  const lines = moves
    .filter((move) => move.from !== move.to)
    .map((move) => `    ${move.from} --> ${move.to}: ${move.trigger}`);
  return ["```mermaid", "stateDiagram-v2", "    [*] --> scheduled: schedule", ...lines, "```"].join("\n");
}
