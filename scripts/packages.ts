import { readFileSync } from "node:fs";
import * as z from "zod";
import { SETTINGS } from "../src/app/settings.ts";

/** What the descriptions of this package for others are made of. */
const Manifest = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  license: z.string(),
  author: z.string(),
  homepage: z.string(),
  keywords: z.array(z.string()),
  mcpName: z.string(),
  repository: z.object({ url: z.string() }).optional(),
});

const FILE = new URL("../package.json", import.meta.url);
export const manifest = Manifest.parse(JSON.parse(readFileSync(FILE, "utf8")));

/** A sentence of at most 100 characters, as the registry wants it. */
export const SHORT = "Schedules posts to your channels and publishes each at its time, never twice.";

const [, owner = "", repository = ""] = /([^./]+)\/([^/]+)$/.exec(manifest.mcpName) ?? [];

/** Where the source is: by the name in the registry, whose owner must be the repository's. */
export const REPOSITORY = `https://github.com/${owner}/${repository}`;

/** The settings that a person may want to make when they install it. */
const ASKED = ["POSTHORN_DATA_DIR", "POSTHORN_TIMEZONE", "POSTHORN_UPLOAD_FOLDERS"] as const;

/**
 * Throws unless the change log has a section of this version with something in it, and nothing under Pending.
 */
export function assertReleasable(changes: string, { version } = manifest): void {
  const sections = changes
    .split(/^## /m)
    .map((section) => section.split(/\n([^]*)/).map((part) => part.trim()));
  const textOf = (title: string): string => sections.find(([name]) => name === title)?.[1] ?? "";
  if (textOf("Pending") !== "")
    throw new Error("CHANGELOG.md has changes under Pending. Move them to the section of their version.");
  if (textOf(version) === "") throw new Error(`CHANGELOG.md tells nothing of ${version}.`);
}

function meaningOf(name: string): string {
  return SETTINGS.find((setting) => setting.name === name)?.meaning ?? name;
}

/** `server.json`, the entry in the registry of MCP servers. */
export function serverEntry(): unknown {
  const { name, version, mcpName } = manifest;
  return {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: mcpName,
    title: "Posthorn",
    description: SHORT,
    repository: { url: REPOSITORY, source: "github" },
    version,
    packages: [
      {
        registryType: "npm",
        identifier: name,
        version,
        runtimeHint: "npx",
        transport: { type: "stdio" },
        packageArguments: [{ type: "positional", value: "stdio" }],
        environmentVariables: ASKED.map((setting) => ({
          name: setting,
          description: meaningOf(setting),
          format: setting === "POSTHORN_DATA_DIR" ? "filepath" : "string",
        })),
      },
    ],
  };
}

/** What a person is asked in the settings of a bundle; left empty, it is not set. */
const USER_CONFIG = {
  data_folder: {
    type: "directory",
    title: "Data folder",
    description: "Where posts, files and keys are kept. Empty: the place that your system has for it.",
    required: false,
  },
  timezone: {
    type: "string",
    title: "Time zone",
    description: "For times without an offset, for example Europe/Berlin. Empty: your machine's zone.",
    required: false,
  },
  upload_folders: {
    type: "string",
    title: "Upload folders",
    description:
      "Folders, separated by commas, from which the agent may take files. Empty: your Desktop, Documents, Downloads, Movies, Music, Pictures and Videos. none: no folder.",
    required: false,
  },
};

/** `manifest.json` of the bundle that Claude Desktop installs; `server/index.mjs` is `BUNDLE_ENTRY`. */
export function bundleManifest(tools: readonly { readonly name: string; readonly title: string }[]): unknown {
  const { name, version, description, license } = manifest;
  return {
    manifest_version: "0.3",
    name,
    display_name: "Posthorn",
    version,
    description: SHORT,
    long_description: `${description}\n\nPosts go out while Claude Desktop is open; \`posthorn service install\` of the npm package keeps Posthorn running without it.`,
    author: { name: manifest.author, url: REPOSITORY },
    repository: { type: "git", url: `${REPOSITORY}.git` },
    license,
    server: {
      type: "node",
      entry_point: "server/index.mjs",
      mcp_config: {
        command: "node",
        args: ["${__dirname}/server/index.mjs"],
        env: {
          POSTHORN_DATA_DIR: "${user_config.data_folder}",
          POSTHORN_TIMEZONE: "${user_config.timezone}",
          POSTHORN_UPLOAD_FOLDERS: "${user_config.upload_folders}",
        },
      },
    },
    tools: tools.map((tool) => ({ name: tool.name, description: tool.title })),
    user_config: USER_CONFIG,
    // The first with the SQLite that needs no flag: the bundle has no native code.
    compatibility: { platforms: ["darwin", "win32", "linux"], runtimes: { node: ">=22.13.0" } },
  };
}

/**
 * Starts Posthorn inside of a bundle. A setting that was left empty is not set; hosts that run Node as a part
 * of Electron put arguments of their own among a program's.
 */
export const BUNDLE_ENTRY = `for (const name of ["POSTHORN_DATA_DIR", "POSTHORN_TIMEZONE", "POSTHORN_UPLOAD_FOLDERS"]) {
  const value = process.env[name]?.trim();
  if (value === "" || value?.startsWith("\${user_config.")) delete process.env[name];
}
process.argv.splice(2, Infinity, "stdio");
await import("../dist/posthorn.js");
`;
