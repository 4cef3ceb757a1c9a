import { SERVER_NAME, type Launch } from "../src/cli/install/clients.ts";
import { manifest, REPOSITORY, SHORT } from "./packages.ts";

/** An agent that may not publish: what it writes waits for a person. */
export const WRITER: Launch = {
  command: "npx",
  args: ["-y", manifest.name, "stdio", "--role", "writer"],
  env: {},
};

const { name, version, author, homepage, license, keywords } = manifest;
const TITLE = "Posthorn";
const CATEGORY = "Productivity";

const about = { name, version, description: SHORT };
const mcpServers = { [SERVER_NAME]: { command: WRITER.command, args: WRITER.args } };
const origin = { author: { name: author }, homepage, repository: REPOSITORY, license, keywords };

interface Plugin {
  /** The client. */
  readonly title: string;
  /** How a person adds it, in a shell or in the client. */
  readonly add: readonly string[];
  /** From the top of the checkout, which is the plugin: each finds `skills/` there by itself or is told of it. */
  readonly files: Readonly<Record<string, unknown>>;
}

/** Posthorn with its skill, for each client that has plugins. */
export const PLUGINS: readonly Plugin[] = [
  {
    // https://code.claude.com/docs/en/plugins-reference and …/plugin-marketplaces
    title: "Claude Code",
    add: ["claude plugin marketplace add posthorn/posthorn", "claude plugin install posthorn@posthorn"],
    files: {
      ".claude-plugin/plugin.json": { ...about, ...origin, mcpServers },
      ".claude-plugin/marketplace.json": {
        name,
        owner: { name: author },
        description: SHORT,
        plugins: [{ name, source: "./", description: SHORT, category: CATEGORY.toLowerCase() }],
      },
    },
  },
  {
    // https://developers.openai.com/codex/plugins/build
    title: "Codex",
    add: ["codex plugin marketplace add posthorn/posthorn", "codex plugin add posthorn@posthorn"],
    files: {
      ".codex-plugin/plugin.json": {
        ...about,
        ...origin,
        skills: "./skills/",
        mcpServers,
        interface: { displayName: TITLE, shortDescription: SHORT, category: CATEGORY },
      },
      ".agents/plugins/marketplace.json": {
        name,
        interface: { displayName: TITLE },
        plugins: [
          {
            name,
            source: { source: "local", path: "./" },
            policy: { installation: "AVAILABLE", authentication: "ON_INSTALL" },
            category: CATEGORY,
          },
        ],
      },
    },
  },
  {
    // https://cursor.com/docs/reference/plugins
    title: "Cursor",
    add: [`/add-plugin ${REPOSITORY}`],
    files: {
      ".cursor-plugin/plugin.json": { ...about, displayName: TITLE, ...origin, skills: "skills", mcpServers },
      ".cursor-plugin/marketplace.json": {
        name,
        owner: { name: author },
        metadata: { description: SHORT },
        plugins: [{ name, source: "./", description: SHORT }],
      },
    },
  },
  {
    // https://geminicli.com/docs/extensions/reference
    title: "Gemini CLI",
    add: [`gemini extensions install ${REPOSITORY}`],
    files: { "gemini-extension.json": { ...about, mcpServers } },
  },
];

/** Every file of them, by its path from the top. */
export function pluginFiles(): ReadonlyMap<string, unknown> {
  return new Map(PLUGINS.flatMap(({ files }) => Object.entries(files)));
}
