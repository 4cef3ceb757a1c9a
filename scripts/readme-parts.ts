import { loadCatalog } from "../src/app/setup.ts";
import { SETTINGS } from "../src/app/settings.ts";
import { TRANSITIONS, type Trigger } from "../src/domain/posts/post-states.ts";
import { settingsOf } from "../src/ports/platform-setup.ts";
import type { AnyPlatform } from "../src/ports/platform.ts";
import type { AnyTool } from "../src/toolkit/define-tool.ts";
import { clientsPage } from "./client-docs.ts";
import { code, firstSentence, table } from "./markdown.ts";
import { platformNames, platformsPage, settingTable } from "./platform-docs.ts";
import { guidePage } from "./platform-guide.ts";

/** Pages that people write, with parts between `<!-- begin NAME -->` and `<!-- end NAME -->` made from the code. */
export const PAGES_WITH_PARTS = ["README.md", "docs/life-of-a-post.md"] as const;

/** Such a page with its parts written anew. */
export async function renderParts(page: string): Promise<string> {
  const { platforms } = await loadCatalog();
  const parts: Readonly<Record<string, string>> = {
    platforms: platformNames(platforms, "docs/platforms"),
    life: lifeOfAPost(),
  };
  return page.replace(
    /(<!-- begin (\w+) -->).*?(<!-- end \2 -->)/gs,
    (_all, begin: string, name: string, end: string) => `${begin}\n\n${parts[name] ?? ""}\n\n${end}`,
  );
}

/** The documents that are made from the code alone, by their paths below `docs/`. */
export async function renderDocs(): Promise<ReadonlyMap<string, string>> {
  const { tools, platforms } = await loadCatalog();
  const guides = platforms.map((platform): [string, string] => [
    `platforms/${platform.name}.md`,
    guidePage(platform),
  ]);
  const pages: [string, string][] = [
    ["clients.md", clientsPage()],
    ["tools.md", toolsPage(tools)],
    ["settings.md", settingsPage(platforms)],
    ["platforms.md", platformsPage(platforms)],
  ];
  return new Map([...pages, ...guides].map(([path, text]) => [path, `${NOTE}\n\n${text}`]));
}

const NOTE = "<!-- Written by npm run readme. -->";

function toolsPage(tools: readonly AnyTool[]): string {
  return [
    "# Tools",
    "Every tool has the same name, arguments and answers in MCP, at `POST /api/v1/tools/<name>` and in `posthorn call <name>`. Only lists over MCP leave out nulls, name each post's channel, and tell several channels and long batches in short. Where a tool takes `accountId`, a channel's name, handle or platform will do. `posthorn tools <name>` shows its schemas.",
    "A tool's set is named after the permission that it needs. Over MCP the set `admin` is left out unless `POSTHORN_TOOLS=all` (or `posthorn stdio --tools all`) says otherwise: a model reads the whole list before its first call. HTTP and the command line have all of them.",
    table(
      ["tool", "set, permission", "what it does"],
      tools.map((tool) => [code([tool.name]), tool.permission, firstSentence(tool.description)]),
    ),
  ].join("\n\n");
}

function settingsPage(platforms: readonly AnyPlatform[]): string {
  const own = SETTINGS.map((setting) => [code([setting.name]), setting.meaning, setting.default]);
  const sections = platforms
    .filter((platform) => settingsOf(platform).length > 0)
    .flatMap((platform) => [`### ${platform.title}`, settingTable(platform)]);
  return [
    "# Settings",
    "Environment variables, or the same names in `posthorn.env` in the data folder. Bad ones, and unknown ones that begin with `POSTHORN_`, are all named at once, and nothing starts.",
    table(["setting", "meaning", "default"], own),
    "## Of platforms",
    "`POSTHORN_<PLATFORM>_<NAME>`. Addresses replace the platform's own (for a gateway, or a server of your own).",
    ...sections,
  ].join("\n\n");
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
