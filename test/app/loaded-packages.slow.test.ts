import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, inject, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const LOADED = [
  // Small, and asked at once whether an id that Bluesky answers is one.
  "@atcute/cid",
  "@atcute/multibase",
  "@atcute/uint8array",
  "@modelcontextprotocol/core",
  "@modelcontextprotocol/server",
  "@pinojs/redact",
  "atomic-sleep",
  "better-sqlite3",
  "bindings",
  "commander",
  "croner",
  "env-paths",
  "file-uri-to-path",
  "ipaddr.js",
  "is-safe-filename",
  "jsonc-parser",
  "luxon",
  "on-exit-leak-free",
  "p-limit",
  "pino",
  "pino-std-serializers",
  "quick-format-unescaped",
  "safe-stable-stringify",
  "sonic-boom",
  "thread-stream",
  "tlds",
  "ulid",
  "yocto-queue",
  "zod",
];

/** An agent's client waits for the start. What only some calls need is loaded by them. */
it("a start over stdio loads these packages until the tools are listed, and no others", async () => {
  using folder = temporaryFolder();
  const notes = join(folder.path, "packages");
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [
        "--require",
        join(import.meta.dirname, "..", "support", "note-packages.cjs"),
        inject("program"),
        "stdio",
      ],
      env: { PATH: process.env["PATH"] ?? "", ...folder.env, NOTE_PACKAGES: notes, HOME: folder.path },
    }),
  );
  await client.listTools();
  const loaded = readFileSync(notes, "utf8");
  await client.close();
  const packages = [...loaded.matchAll(/node_modules\/((?:@[\w.-]+\/)?[\w-][\w.-]*)/g)].flatMap(
    ([, name = ""]) => name,
  );
  expect([...new Set(packages)].toSorted()).toEqual(LOADED);
});
