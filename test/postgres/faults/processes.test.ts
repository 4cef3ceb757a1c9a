import { randomBytes } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import pg from "pg";
import { runCli } from "../../support/cli.ts";
import { createDatabase } from "../../support/postgres.ts";
import type { TestDatabase } from "../../support/postgres-server.ts";
import { addressOf, API_KEY, callTool, startProgram, type Program } from "../../support/program.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { listen } from "../../support/listen.ts";

/* Processes as a shell starts them, with a data folder each and one database. */

type Half = "--api" | "--publisher";

const SECRET_KEY = randomBytes(32).toString("hex");
const folders: ReturnType<typeof temporaryFolder>[] = [];
const programs: Program[] = [];
let database: TestDatabase;

/** Of a host of its own. */
function newHost(): Record<string, string> {
  const folder = temporaryFolder();
  folders.push(folder);
  return {
    ...folder.env,
    POSTHORN_PORT: "0",
    POSTHORN_LOG_LEVEL: "warn",
    POSTHORN_FILES: "folder",
    POSTHORN_ALLOWED_HOSTS: "127.0.0.1",
    POSTHORN_API_KEY: API_KEY,
    DATABASE_URL: database.url,
    POSTHORN_SECRET_KEY: SECRET_KEY,
  };
}

async function serve(half: Half): Promise<Program & { readonly address: string }> {
  const program = startProgram({
    file: inject("program"),
    args: ["serve", half],
    env: newHost(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  programs.push(program);
  return { ...program, address: await addressOf(program.child.stdout!) };
}

/** A receiver that answers when it is told to. */
async function startSlowReceiver() {
  const bodies: string[] = [];
  const waiting: ServerResponse[] = [];
  let isOpen = false;
  const server = createServer((request, response) => {
    request.resume();
    if (request.method !== "POST") return void response.writeHead(405).end();
    bodies.push(String(request.headers["webhook-id"]));
    if (isOpen) response.writeHead(204).end();
    else waiting.push(response);
  });
  const { origin } = await listen(server);
  return {
    url: `${origin}/hook`,
    ids: bodies,
    open() {
      isOpen = true;
      for (const response of waiting.splice(0)) response.writeHead(204).end();
    },
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function ask(statement: string): Promise<any[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query(statement);
  await client.end();
  return rows;
}

const statusesOf = async (ids: readonly string[]): Promise<string[]> => {
  const rows = await ask(`SELECT DISTINCT status FROM posts WHERE id IN ('${ids.join("', '")}')`);
  return rows.map(({ status }) => status);
};

beforeAll(async () => {
  database = await createDatabase({ isEmpty: true });
});
afterAll(async () => {
  for (const program of programs) await program.endBy((child) => child.kill("SIGKILL"));
  await database[Symbol.asyncDispose]();
  for (const folder of folders) folder[Symbol.dispose]();
});

describe("halves of a server on one PostgreSQL", () => {
  let api: string;

  it("publish in one process what another took", async () => {
    ({ address: api } = await serve("--api"));
    const publisher = await serve("--publisher");
    const { accounts } = await callTool(api, "list_accounts", {});
    const { post } = await callTool(api, "schedule_post", { accountId: accounts[0].id, caption: "One host" });
    await expect.poll(() => statusesOf([post.id]), { timeout: 10_000 }).toEqual(["published"]);
    expect(await publisher.endBy((child) => child.kill("SIGTERM"))).toMatchObject({ code: 0 });
    expect(await ask("SELECT role FROM workers")).toEqual([{ role: "api" }]);
  });

  it("finish at SIGTERM what is under way, and leave the rest to the next at once", async () => {
    using receiver = await startSlowReceiver();
    const connected = await runCli(["connect", "webhook", "--secrets-stdin"], {
      env: newHost(),
      input: JSON.stringify({ url: receiver.url }),
    });
    expect(connected.status).toBe(0);
    const { id: accountId } = JSON.parse(connected.stdout);
    const first = await serve("--publisher");
    const posts = Array.from({ length: 12 }, (_, at) => ({ accountId, caption: `Post ${at}` }));
    const { results } = await callTool(api, "schedule_posts", { posts });
    const ids = results.map(({ post }: any) => post.id);
    await expect.poll(() => receiver.ids.length, { timeout: 10_000 }).toBeGreaterThan(0);
    const ending = first.endBy((child) => child.kill("SIGTERM"));
    // Until then nothing is answered, so that something is under way when it is asked to end.
    setTimeout(() => receiver.open(), 1_000);
    expect(await ending).toMatchObject({ code: 0 });
    expect(await ask("SELECT id FROM posts WHERE lease_worker IS NOT NULL")).toEqual([]);
    const sent = receiver.ids.length;
    expect(sent).toBeLessThan(posts.length);
    const second = await serve("--publisher");
    // A lease lasts for a minute.
    await expect.poll(() => statusesOf(ids), { timeout: 20_000 }).toEqual(["published"]);
    expect(new Set(receiver.ids).size).toBe(posts.length);
    expect(receiver.ids).toHaveLength(posts.length);
    await second.endBy((child) => child.kill("SIGTERM"));
  });

  it("are not held up by one that was killed while it had nothing to do", async () => {
    const [killed] = await Promise.all([serve("--publisher"), serve("--publisher")]);
    expect(await killed.endBy((child) => child.kill("SIGKILL"))).toMatchObject({ signal: "SIGKILL" });
    const { accounts } = await callTool(api, "list_accounts", {});
    const accountId = accounts.find(({ provider }: any) => provider === "feed").id;
    const { post } = await callTool(api, "schedule_post", { accountId, caption: "Still" });
    await expect.poll(() => statusesOf([post.id]), { timeout: 10_000 }).toEqual(["published"]);
  });
});

describe("other commands with DATABASE_URL", () => {
  it("stdio schedules and publishes there", async () => {
    const client = new Client({ name: "test", version: "1" });
    const command = { command: process.execPath, args: [inject("program"), "stdio"] };
    await client.connect(new StdioClientTransport({ ...command, env: newHost() }));
    const call = async (name: string, args: Record<string, unknown>): Promise<any> => {
      const answer = await client.callTool({ name, arguments: args });
      expect(answer.isError ?? false).toBe(false);
      return answer.structuredContent;
    };
    try {
      const { accounts } = await call("list_accounts", {});
      const accountId = accounts.find(({ provider }: any) => provider === "feed").id;
      const { post } = await call("schedule_post", { accountId, caption: "From an agent" });
      await expect
        .poll(async () => (await call("get_post", { id: post.id })).post.status, { timeout: 10_000 })
        .toBe("published");
      expect(await ask(`SELECT status FROM posts WHERE id = '${post.id}'`)).toEqual([
        { status: "published" },
      ]);
      expect(await ask("SELECT id FROM workers WHERE role = 'stdio'")).toHaveLength(1);
    } finally {
      await client.close();
    }
    await expect
      .poll(() => ask("SELECT id FROM workers WHERE role = 'stdio'"), { timeout: 5_000 })
      .toEqual([]);
  });

  it("stdio ends with a sentence where the server is not there", async () => {
    const program = startProgram({
      file: inject("program"),
      args: ["stdio"],
      env: { ...newHost(), DATABASE_URL: "postgres://u:s3cret@127.0.0.1:1/x" },
      stdio: ["pipe", "pipe", "pipe"],
    });
    programs.push(program);
    let said = "";
    for (const stream of [program.child.stdout!, program.child.stderr!])
      stream.on("data", (part) => (said += String(part)));
    expect(await program.endBy(() => {})).toMatchObject({ code: 1 });
    expect(said).toContain("No PostgreSQL listens at 127.0.0.1:1. Start it, or correct DATABASE_URL.");
    expect(said).not.toContain("s3cret");
  });

  it.each([
    ["backup", ["backup", "backup.tar"]],
    ["restore", ["restore", "package.json"]],
  ])("%s is refused with what is done instead", async (name, args) => {
    const run = await runCli(args, { env: newHost() });
    expect(run).toMatchObject({ status: 1, stdout: "" });
    expect(run.stderr).toContain(
      `posthorn ${name} works on the database of a data folder, but DATABASE_URL is set. Back up PostgreSQL with pg_dump`,
    );
  });
});
