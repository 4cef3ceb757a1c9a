import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/**
 * Looks at the built server as the official MCP inspector does: the schemas of all tools without an error or
 * a warning, and the page that goes with the calendar. It runs on a newer Node than the product, which its
 * workspace brings along.
 */
const WORKSPACE = fileURLToPath(new URL("../test/inspector/", import.meta.url));
const SERVER = fileURLToPath(new URL("../dist/posthorn.js", import.meta.url));

const CHECKS = [
  ["--method", "tools/list", "--strict"],
  ["--method", "tools/call", "--tool-name", "show_calendar", "--app-info"],
  ["--method", "resources/list"],
  ["--method", "resources/templates/list"],
  ["--method", "prompts/list"],
];

const run = promisify(execFile);

if (!existsSync(join(WORKSPACE, "node_modules/node22"))) {
  // npm's own settings of the run that started us would be taken for the workspace's.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?!config_(registry|cache))/i.test(name)),
  );
  await run("npm", ["ci"], { cwd: WORKSPACE, env });
}
const data = await mkdtemp(join(tmpdir(), "posthorn-inspect-"));
try {
  for (const check of CHECKS) await inspect(check);
} finally {
  await rm(data, { recursive: true, force: true });
}

async function inspect(check: readonly string[]): Promise<void> {
  const inspector = join(
    WORKSPACE,
    "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
  );
  const server = [
    "-e",
    `POSTHORN_DATA_DIR=${data}`,
    "-e",
    "POSTHORN_LOG_LEVEL=warn",
    "--",
    process.execPath,
    SERVER,
    "stdio",
  ];
  // A failing check ends with another status, which rejects.
  const { stdout, stderr } = await run(
    join(WORKSPACE, "node_modules/node22/bin/node"),
    [inspector, "--cli", ...check, ...server],
    {
      maxBuffer: 16 * 1024 * 1024,
    },
  );
  if (stderr.trim() !== "")
    throw new Error(`The inspector has something to say to ${check.join(" ")}:\n${stderr}`);
  process.stdout.write(`${check.join(" ")}: ${Buffer.byteLength(stdout)} bytes, nothing to complain about\n`);
}
