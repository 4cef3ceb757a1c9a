import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { request } from "undici";
import { expect, it } from "vitest";
import { startPublicServer } from "../support/public-front.ts";
import { RUNTIMES } from "../support/runtimes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plainEnvironment } from "../support/workspace.ts";

const SUITE = join(import.meta.dirname, "node_modules/conformance-2026/dist/index.js");
const NODE = RUNTIMES[1].node;

/** Its client is no program with a document, so it has to be registered before. */
async function register(origin: string, certificate: string, redirectUri: string): Promise<string> {
  const script =
    "const [url, body] = process.argv.slice(1);" +
    "const answer = await fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });" +
    "console.log((await answer.json()).client_id);";
  const json = { client_name: "Suite", redirect_uris: [redirectUri], token_endpoint_auth_method: "none" };
  const args = ["--input-type=module", "-e", script, `${origin}/oauth/register`, JSON.stringify(json)];
  const child = spawn(NODE, args, { env: { ...plainEnvironment(), NODE_EXTRA_CA_CERTS: certificate } });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return String(line);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}

it("passes the protocol's conformance suite for authorization servers, with a person who says yes", async () => {
  await using server = await startPublicServer();
  using results = temporaryFolder();
  const { origin, certificate } = server;
  const port = await freePort();
  const client = await register(origin, certificate, `http://127.0.0.1:${port}/callback`);
  const asked = ["--url", `${origin}/oauth`, "--client-id", client, "--resource", `${origin}/mcp`];
  const args = [SUITE, "authorization", ...asked, "--port", String(port), "-o", results.path];
  const env = { ...plainEnvironment(), NODE_EXTRA_CA_CERTS: certificate };
  const child = spawn(NODE, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith(`${origin}/oauth/authorize?`)) continue;
    const { statusCode, body } = await request(await server.allow(line.trim()));
    await body.dump();
    expect(statusCode).toBe(200);
  }
  await ended;
  const checks = readdirSync(results.path).flatMap(
    (name) =>
      JSON.parse(readFileSync(join(results.path, name, "checks.json"), "utf8")) as {
        id: string;
        status: string;
      }[],
  );
  const met = checks.map(({ id, status }) => `${id}: ${status}`);
  expect(met.filter((one) => !/: (SUCCESS|INFO)$/.test(one))).toEqual([]);
  expect(met).toEqual(expect.arrayContaining(["authorization-server-metadata: SUCCESS"]));
  expect(met.length).toBeGreaterThan(2);
  expect(child.exitCode).toBe(0);
});
