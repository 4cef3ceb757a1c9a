import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { unzipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { RUNTIMES } from "../support/runtimes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const ROOT = join(import.meta.dirname, "..", "..");

describe("the bundle for Claude Desktop", () => {
  const made = temporaryFolder();
  const file = join(made.path, "posthorn.mcpb");

  beforeAll(async () => {
    const args = ["--import", "tsx", "scripts/bundle.ts", file, dirname(inject("program"))];
    await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  });

  afterAll(() => made[Symbol.dispose]());

  it.each(RUNTIMES.filter(({ hasBuiltInSqlite }) => hasBuiltInSqlite))(
    "serves an agent and takes a picture, without native code and inside of Electron, on Node $release",
    async ({ node }) => {
      using folder = temporaryFolder();
      const unpacked = join(folder.path, "unpacked");
      for (const [path, bytes] of Object.entries(unzipSync(readFileSync(file)))) {
        expect(path).not.toMatch(/\.node$/);
        mkdirSync(dirname(join(unpacked, path)), { recursive: true });
        writeFileSync(join(unpacked, path), bytes);
      }
      const { server } = JSON.parse(readFileSync(join(unpacked, "manifest.json"), "utf8"));
      const [entry] = server.mcp_config.args.map((arg: string) => arg.replace("${__dirname}", unpacked));
      expect(entry).toBe(join(unpacked, server.entry_point));
      // As Electron: its program is no Node, and it has arguments of its own.
      const electron = join(folder.path, "electron.cjs");
      writeFileSync(
        electron,
        `Object.defineProperty(process, "versions", { value: { ...process.versions, electron: "39.0.0" } });
       process.execPath = "/nowhere/helper";`,
      );
      const picture = join(folder.path, "Pictures", "a.png");
      mkdirSync(dirname(picture));
      copyFileSync(join(ROOT, "test", "fixtures", "photo.png"), picture);
      const client = new Client({ name: "test", version: "1" });
      await client.connect(
        new StdioClientTransport({
          command: node,
          args: ["--require", electron, entry, "--type=utility", "--lang=en"],
          // What was left empty comes as it stands in the manifest.
          env: { ...server.mcp_config.env, ...folder.env, HOME: folder.path, POSTHORN_TIMEZONE: "" },
        }),
      );
      try {
        expect(client.getServerVersion()?.name).toBe("posthorn");
        const answer = await client.callTool({ name: "upload_file", arguments: { path: picture } });
        expect(answer.structuredContent).toMatchObject({ file: { type: "image", status: "ready" } });
      } finally {
        await client.close();
      }
    },
  );
});
