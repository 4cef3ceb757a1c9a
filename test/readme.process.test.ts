import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { format } from "prettier";
import { describe, expect, inject, it } from "vitest";
import { platformNames, platformsPage } from "../scripts/platform-docs.ts";
import { guidePage } from "../scripts/platform-guide.ts";
import { PAGES_WITH_PARTS, renderDocs, renderParts } from "../scripts/readme-parts.ts";
import { consentWay, createCinema } from "./support/cinema.ts";
import { createPhotobox } from "./support/connect-fixtures.ts";
import { runCli } from "./support/cli.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const ROOT = join(import.meta.dirname, "..");
const README = readFileSync(join(ROOT, "README.md"), "utf8");
const MAX_LINES = 150;

const markdown = (text: string): Promise<string> => format(text, { parser: "markdown", printWidth: 140 });

/**
 * The blocks of one language that a reader may paste; those that would stay or install something are marked.
 */
function blocks(language: string): string[] {
  const pattern = new RegExp(`(<!-- not run: [^\n]*-->\n\n)?\`\`\`${language}\n([\\s\\S]*?)\`\`\``, "g");
  return [...README.matchAll(pattern)].flatMap(([, mark, block]) =>
    mark === undefined && block !== undefined ? [block] : [],
  );
}

/** A folder in which `posthorn` is a command, as after `npm install --global .`. */
function installInto(folder: string): Record<string, string> {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "posthorn"), `#!/bin/sh\nexec "${process.execPath}" "${inject("program")}" "$@"\n`);
  chmodSync(join(bin, "posthorn"), 0o755);
  return {
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    HOME: folder,
    POSTHORN_DATA_DIR: join(folder, "data"),
    POSTHORN_LOG_LEVEL: "warn",
  };
}

describe("the README", () => {
  it("is short enough to be read", () => {
    expect(README.split("\n").length).toBeLessThanOrEqual(MAX_LINES);
  });

  it("says what the code says (npm run readme)", async () => {
    for (const page of PAGES_WITH_PARTS) {
      const text = readFileSync(join(ROOT, page), "utf8");
      expect(text).toBe(await markdown(await renderParts(text)));
    }
  });

  it("has no table that is wider than a window", () => {
    expect(README.split("\n").filter((line) => line.startsWith("|") && line.length > 100)).toEqual([]);
  });

  it("leads to documents that say what the code says (npm run readme)", async () => {
    const pages = await renderDocs();
    for (const [path, text] of pages)
      expect([path, readFileSync(join(ROOT, "docs", path), "utf8")]).toEqual([path, await markdown(text)]);
    const guides = join(ROOT, "docs", "platforms");
    const kept = existsSync(guides) ? readdirSync(guides).map((name) => `platforms/${name}`) : [];
    expect(kept.filter((path) => !pages.has(path))).toEqual([]);
  });

  it("has links within this repository that lead somewhere", () => {
    const targets = [...README.matchAll(/\]\(([\w./-]+)\)/g)].map(([, path]) => path!);
    expect(targets).toContain("docs/settings.md");
    expect(targets.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it("has commands that work as they stand, beside a server that runs", async () => {
    using folder = temporaryFolder();
    const env = installInto(folder.path);
    const outputs: string[] = [];
    const run = async (address: string): Promise<void> => {
      for (const block of blocks("sh")) {
        const script = block.replaceAll("http://localhost:4747", address);
        const { stdout } = await promisify(execFile)("bash", ["--norc", "-euo", "pipefail", "-c", script], {
          cwd: folder.path,
          env,
          timeout: 60_000,
        });
        outputs.push(stdout);
      }
    };
    let visited: Promise<void> | null = null;
    await runCli(["serve"], {
      env: { ...folder.env, POSTHORN_PORT: "0" },
      onOutput(output, stop) {
        const address = /listening on (\S+)/.exec(output)?.[1];
        if (address !== undefined && output.includes("Data folder")) visited ??= run(address).finally(stop);
      },
    });
    await visited;
    expect(outputs.length).toBeGreaterThan(1);
    expect(outputs[0]).toContain('"caption":"Hello, world"');
    expect(outputs[0]).not.toContain('"error":"');
  }, 120_000);

  it("has a block that makes it an agent's server", async () => {
    using folder = temporaryFolder();
    const env = installInto(folder.path);
    const [block = "{}"] = blocks("json");
    const { mcpServers } = JSON.parse(block) as {
      mcpServers: { posthorn: { command: string; args?: string[] } };
    };
    const client = new Client({ name: "test", version: "1" });
    // A shell looks the command up in the PATH that it is given; spawn would use ours.
    const transport = new StdioClientTransport({
      command: "/usr/bin/env",
      args: [mcpServers.posthorn.command, ...(mcpServers.posthorn.args ?? [])],
      env,
    });
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("schedule_post");
    await client.close();
  }, 120_000);
});

describe("the documents of platforms", () => {
  it("have the steps of what must be registered, with what goes there", () => {
    const ways = [consentWay(), ...createPhotobox().platform.connect] as const;
    const page = guidePage(createCinema({ connect: ways }), "Cinema against a real one.");
    for (const part of [
      "# Cinema",
      "Begin at <https://console.cinema.example/apps>.",
      "2. Register the redirect address `<POSTHORN_PUBLIC_URL>/connect/callback`.",
      "3. Ask for the scopes film.write film.read.",
      "- Until the app is audited, films stay private.",
      "Scopes: `film.write`, `film.read`.",
      "Needs `POSTHORN_CINEMA_CLIENT_ID`, `POSTHORN_CINEMA_CLIENT_SECRET`.",
      "Needs no settings.",
      "| `POSTHORN_CINEMA_CLIENT_SECRET` | Its secret | must be set |",
      "`npx tsx test/real/cinema.ts` tries Cinema against a real one.",
    ])
      expect(page).toContain(part);
    const bare = guidePage(createPhotobox().platform, null);
    expect(bare).not.toMatch(/registered|Tried/);
  });

  it("are led to from the README and from the table of all", () => {
    const platforms = [createCinema(), createPhotobox().platform];
    expect(platformNames(platforms, "docs/platforms")).toBe(
      "[Cinema](docs/platforms/cinema.md) · [Photobox](docs/platforms/photobox.md).",
    );
    const long = platformsPage(platforms);
    expect(long).toContain(
      "`cinema` [Cinema](platforms/cinema.md) | 1 video | 5000 bytes | held there, and goes live by itself",
    );
    expect(long).toMatch(/\| `photobox` \[Photobox\]\(.*photobox\.md\) \|.* nothing \|$/m);
  });
});
