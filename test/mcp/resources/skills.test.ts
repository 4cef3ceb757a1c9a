import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { type Permission, ROLES } from "../../../src/domain/permissions.ts";
import { startRealServer, type RealServer } from "../readers.ts";

/* What a host must know is declared, in both eras: the extensions, and the skill behind one of them. */

const URI = "skill://posthorn/SKILL.md";
const FILE = readFileSync(join(import.meta.dirname, "../../../skills/posthorn/SKILL.md"));
const MODES = [
  ["2026-07-28", { pin: "2026-07-28" }],
  ["sessions", "legacy"],
] as const;

let server: RealServer;

beforeAll(async () => {
  server = await startRealServer();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

describe.each(MODES)("a client of %s", (name, mode) => {
  const connect = async (permissions: readonly Permission[] = ROLES.viewer) => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    const key = await server.http.keyFor("default", { permissions: [...permissions] });
    const requestInit = { headers: { Authorization: `Bearer ${key}` } };
    const url = new URL(`http://127.0.0.1:${server.http.port}/mcp`);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    return client;
  };

  it.each(Object.entries({ ...ROLES, files: ["files"], accounts: ["accounts"] } as const))(
    "that is a %s is told of the views exactly where a tool with one is listed, and always of the skill",
    async (_role, permissions) => {
      const client = await connect(permissions);
      const { extensions, logging } = client.getServerCapabilities()!;
      const { tools } = await client.listTools();
      const hasView = tools.some(({ _meta }) => _meta?.["ui"] !== undefined);
      expect(extensions).toEqual({
        ...(hasView ? { "io.modelcontextprotocol/ui": {} } : {}),
        "io.modelcontextprotocol/skills": {},
      });
      expect(logging).toEqual(name === "sessions" ? {} : undefined);
      await client.close();
    },
  );

  it("finds the skill with its whole frontmatter, and the file that the digest is of", async () => {
    const client = await connect();
    const Any = z.looseObject({});
    const listed = await client.request({ method: "skills/list", params: {} }, Any);
    expect(listed).toMatchObject({ ttlMs: expect.any(Number), cacheScope: "public" });
    const [, head = ""] = FILE.toString().split("---\n");
    const skill = {
      uri: URI,
      frontmatter: parse(head),
      resources: [{ uri: URI, digest: `sha256:${hash("sha256", FILE)}`, size: FILE.length }],
    };
    expect(listed["skills"]).toEqual([skill]);
    const got = await client.request({ method: "skills/get", params: { uri: URI } }, Any);
    expect(got).toMatchObject({ skill, ttlMs: expect.any(Number), cacheScope: "public" });
    const [file] = (await client.readResource({ uri: URI })).contents;
    expect(file).toEqual({ uri: URI, mimeType: "text/markdown", text: FILE.toString() });
    const { resources } = await client.listResources();
    expect(resources.find(({ uri }) => uri === URI)).toMatchObject({
      name: skill.frontmatter.name,
      description: skill.frontmatter.description,
      mimeType: "text/markdown",
    });
    for (const uri of ["skill://other/SKILL.md", "skill://posthorn"])
      await expect(client.request({ method: "skills/get", params: { uri } }, Any)).rejects.toMatchObject({
        code: -32_602,
      });
    await client.close();
  });
});
