import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { addressOf } from "../support/program.ts";
import { packTarball } from "../support/runtimes.ts";
import { strangerEnvironment } from "../support/stranger.ts";
import {
  commandsOfDocuments,
  commandsOfHelp,
  commandsOfSources,
  type TypedCommand,
} from "../support/typed-commands.ts";

/*
 * Whatever a document, the page's Settings or a help tells a person to type is typed here: in an empty folder, with
 * an empty home and nothing but the packed tarball, by npx. The channels that the examples name are feeds.
 */

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..", "..");

/** npm may have to compile the driver of SQLite. */
const INSTALL_MS = 540_000;
vi.setConfig({ testTimeout: 600_000, hookTimeout: INSTALL_MS });

const folder = mkdtempSync(join(tmpdir(), "posthorn-stranger-"));
const home = join(folder, "home");
const work = join(folder, "work");
const data = join(home, ".local", "share", "posthorn");
const CHANNELS = ["Blog", "bluesky", "mastodon", "@alice@example.social", "news"];

let env: Record<string, string>;
let tarball: string;
let server: ReturnType<typeof spawn>;
let address: string;

/** Not run here, and why. */
const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/^docker /, "Docker is no part of a test machine; the image has tests of its own"],
  [/^sudo |^systemctl /, "changes the machine"],
  [/^(claude|codex|gemini|code) /, "a client of others; test/clients has them"],
  [/^(cloudflared|tailscale) /, "programs of others, with accounts there"],
  [/^(pg_dump|pg_restore|psql) /, "needs a PostgreSQL server; test/postgres has one"],
  [/^git /, "in a checkout with its history"],
  [/^(npm|node|npx (tsx|vitest)) /, "in a checkout, which the other test has"],
  [/^posthorn service /, "needs systemd or launchd; test/cli/service has machines of strings"],
  [/^posthorn demo$/, "stays until it is stopped; the tests of the tarball run it"],
  [
    /^posthorn notify /,
    "sends to an address on the internet; test/cli/commands/notify.test.ts has a receiver",
  ],
  [/^posthorn connect mastodon /, "waits for a person in a browser; test/cli/commands has one"],
  [/pds\.example|http:\/\/127\.0\.0\.1:5678/, "a server of the example's"],
];

/** What such a person is told, because what the example speaks of is not there. */
const REFUSED: readonly (readonly [RegExp, RegExp])[] = [
  [/^posthorn connect (?!feed)/, /asked|terminal|secrets-stdin|POSTHORN_\w+_CLIENT_ID|app/],
  [/^posthorn setup /, /terminal|asked|--secret-stdin|nothing/i],
  [/^posthorn install (claude-code|codex|gemini-cli) --yes/, /is not found here/],
  [/^posthorn install \w+.*--remove/, /does not have Posthorn|is not found here/],
  [/ --set visibility=/, /The fields of Feed are/],
  [/ --owner alice/, /not an account of the owner|has nothing here/],
  [/^posthorn keys revoke key_/, /no such key/],
  [/^posthorn retry /, /failed|is scheduled already/],
  // Nobody is there to say yes.
  [/^posthorn import /, /Give --yes to make the posts/],
  [/^posthorn approve \S+ --stop/, /repeat|series/],
  [/^posthorn doctor --oauth/, /problem/],
  [/^posthorn call (test_webhook|disconnect_channel)/, /webhook|always|asked|confirm/],
  [
    /posthorn (restore|migrate-database|keys rotate-secret)/,
    /at work|is not there|--force|cannot be read|DATABASE_URL/,
  ],
];

/** An id, or the end of one as `list` shows it. */
const PLACEHOLDER = /\b(?:\d[a-z0-9]{5}\b|post_…|ID\b)/;

/** What stands for something of the person's own. */
async function fill(line: string): Promise<string> {
  const isDraft = line.startsWith("posthorn approve");
  let filled = line
    .replace(/^npx posthorn /, `npx --yes --package ${tarball} posthorn `)
    .replaceAll(/http:\/\/(?:127\.0\.0\.1|localhost):4747/g, address)
    .replace(
      /(--port|POSTHORN_PORT=?) ?8080/,
      (_all, name: string) => `${name}${name.endsWith("=") ? "" : " "}0`,
    )
    .replaceAll("/mnt/backups/", "./")
    .replaceAll("/home/me/picture.jpg", join(home, "Pictures", "picture.jpg"))
    .replace("<client>", "cursor")
    .replace(/(posthorn (?:call|tools)) <name>/, "$1 list_posts")
    .replace("--accounts …", "--accounts acc_…")
    .replace(/(export --csv) posts\.csv/, `$1 table-${(made += 1)}.csv`);
  while (filled.includes("acc_…") && !filled.includes("alice"))
    filled = filled.replace("acc_…", await makeChannel());
  while (PLACEHOLDER.test(filled))
    filled = filled.replace(PLACEHOLDER, isDraft ? await makeDraft() : await makePost());
  return filled.replace(/^posthorn install (?=\S)(?!.*--yes)(\S+)/, "posthorn install $1 --yes");
}

async function call(tool: string, args: object): Promise<any> {
  const key = readFileSync(join(data, "api.key"), "utf8").trim();
  const answer = await fetch(`${address}/api/v1/tools/${tool}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify(args),
  });
  const { result, error } = (await answer.json()) as { result?: any; error?: unknown };
  if (result === undefined) throw new Error(`${tool}: ${JSON.stringify(error)}`);
  return result;
}

let made = 0;

async function makeChannel(): Promise<string> {
  const { accounts } = await call("connect_channel", { provider: "feed", name: `Made ${(made += 1)}` });
  return accounts[0].id;
}

async function makePost(): Promise<string> {
  const caption = `Made ${(made += 1)}`;
  const { accounts } = await call("list_accounts", {});
  const args = { accountId: accounts[0].id, caption, scheduledAt: "2099-01-01T00:00:00Z" };
  return (await call("schedule_post", args)).post.id;
}

async function makeDraft(): Promise<string> {
  const caption = `Made ${(made += 1)}`;
  const { accounts } = await call("list_accounts", {});
  const target = { accountId: accounts[0].id, scheduledAt: "2099-01-01T00:00:00Z" };
  return (await call("save_draft", { caption, targets: [target], submit: true })).draft.id;
}

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Types it in the shell, where nobody answers a question. */
function type(line: string, more: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(
      "bash",
      ["--norc", "-euo", "pipefail", "-c", line],
      { cwd: work, env: { ...env, ...more }, timeout: 120_000, maxBuffer: 10_000_000 },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    );
    child.stdin?.end();
    // Servers and sessions stay: they are asked to end when they are there.
    if (/posthorn serve/.test(line))
      child.stdout?.on("data", (text: string) => {
        if (text.includes("Data folder")) child.kill("SIGTERM");
      });
  });
}

/** What is wrong with it; null: nothing. */
async function problemOf({ line, source, isNamed }: TypedCommand): Promise<string | null> {
  const filled = await fill(line);
  const { code, stderr } = await type(
    /posthorn serve/.test(filled) ? `exec ${filled.replace(/^(\w+=)/, "env $1")}` : filled,
  );
  const told = `${source}: ${line}\n  ${filled}\n  ${code}: ${stderr.trim()}`;
  const refusal = REFUSED.find(([pattern]) => pattern.test(filled))?.[1];
  if (code === 0) return null;
  if (isNamed && stderr.startsWith("error: missing required argument")) return null;
  if (/^error:|There is no command|Something went wrong|^\s+at /m.test(stderr)) return told;
  return refusal?.test(stderr) === true ? null : told;
}

async function helpOf(command: string): Promise<string> {
  return (await type(`posthorn ${command} --help`)).stdout;
}

const namesIn = (help: string): string[] =>
  [...help.slice(0, help.indexOf("\nExamples:")).matchAll(/^ {2}([a-z][a-z-]*)\b/gm)]
    .map(([, name = ""]) => name)
    .filter((name) => name !== "help");

beforeAll(() => {
  for (const path of [work, join(home, "Pictures")]) mkdirSync(path, { recursive: true });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a stranger with the package alone", () => {
  beforeAll(async () => {
    tarball = await packTarball(folder);
    env = strangerEnvironment(home);
    const npx = ["--yes", "--package", tarball, "-c", "command -v posthorn"];
    const { stdout } = await run("npx", npx, { cwd: work, env, timeout: INSTALL_MS });
    env = {
      ...env,
      PATH: `${dirname(stdout.trim())}:${env["PATH"]}`,
      npm_config_package: tarball,
      POSTHORN_PORT: "0",
      POSTHORN_LOG_LEVEL: "warn",
    };
    for (const name of ["lake.jpg", join(home, "Pictures", "picture.jpg")])
      copyFileSync(
        join(ROOT, "test", "fixtures", "photo.jpg"),
        join(name.startsWith("/") ? "/" : work, name),
      );
    const table = "scheduledAt,caption\n2099-01-01T10:00:00Z,Hello\n";
    for (const name of ["buffer.csv", "hootsuite.csv"]) writeFileSync(join(work, name), table);
    writeFileSync(join(work, "text.txt"), "A text\n");
    writeFileSync(join(work, "secret.txt"), "a-secret\n");
    server = spawn("posthorn", ["serve"], { cwd: work, env, stdio: ["ignore", "pipe", "inherit"] });
    address = await addressOf(server.stdout!);
    symlinkSync(data, join(work, "data"));
    const key = readFileSync(join(data, "api.key"), "utf8").trim();
    env = { ...env, KEY: key };
    for (const name of CHANNELS) await call("connect_channel", { provider: "feed", name });
    const { accounts } = await call("list_accounts", {});
    const row = `${accounts[0].id},2099-01-02T10:00:00Z,Hello\n`;
    writeFileSync(join(work, "posts.csv"), `accountId,scheduledAt,caption\n${row}`);
    const posts = [{ accountId: accounts[0].id, caption: "Of a file", scheduledAt: "2099-01-01T00:00:00Z" }];
    writeFileSync(join(work, "posts.json"), JSON.stringify({ posts }));
  });

  afterAll(async () => {
    if (server?.exitCode !== null) return;
    server.kill("SIGTERM");
    await once(server, "exit");
  });

  it("can type what the documents and the page's Settings tell", async () => {
    const problems: string[] = [];
    const seen = new Set<string>();
    for (const one of commandsOfDocuments()) {
      // The guides of platforms tell the same of each.
      const same = one.source.includes("/platforms/") ? one.line.replace(/ [a-z_]+$/, "") : one.line;
      if (seen.has(same) || ELSEWHERE.some(([pattern]) => pattern.test(one.line))) continue;
      seen.add(same);
      const problem = await problemOf(one);
      if (problem !== null) problems.push(problem);
    }
    expect(problems).toEqual([]);
    expect(seen.size).toBeGreaterThan(40);
  });

  it("can type what the helps of the commands tell", async () => {
    const main = await helpOf("");
    const problems: string[] = [];
    let count = 0;
    for (const command of ["", ...namesIn(main)]) {
      const help = command === "" ? main : await helpOf(command);
      const below =
        command === "" || !/^Commands:/m.test(help) ? [] : namesIn(help.slice(help.indexOf("Commands:")));
      const helps = await Promise.all(
        below.map(async (name) => [`${command} ${name}`, await helpOf(`${command} ${name}`)] as const),
      );
      for (const [name, text] of [[command, help] as const, ...helps])
        for (const one of commandsOfHelp(text, name)) {
          if (ELSEWHERE.some(([pattern]) => pattern.test(one.line))) continue;
          count += 1;
          const problem = await problemOf(one);
          if (problem !== null) problems.push(problem);
        }
    }
    expect(problems).toEqual([]);
    expect(count).toBeGreaterThan(30);
  });

  it("is told of commands that there are, by sentences of the program and its pages", async () => {
    const names = namesIn(await helpOf(""));
    expect(names).toContain("open");
    const wrong = commandsOfSources().filter(({ line }) => !names.includes(line.split(" ")[1] ?? ""));
    expect(wrong.map(({ line, source }) => `${source}: ${line}`)).toEqual([]);
  });

  it("is told how to go on by commands that work in this shell", async () => {
    const start = await type("exec posthorn serve");
    const [, later = ""] = /Later: (.+)\)/.exec(start.stdout) ?? [];
    expect(later).toBe(`npx --package ${tarball} posthorn open`);
    expect(await type(later)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^http:\S+\n$/),
    });
    const missing = await type("posthorn show nowhere");
    expect(missing.stderr).toContain(
      `(Here, type npx --package ${tarball} posthorn in the place of posthorn.)`,
    );
    const service = await type("posthorn service install");
    const [, install = ""] = /Install it with (npm install --global \S+),/.exec(service.stderr) ?? [];
    if (install !== "") expect(install).toBe(`npm install --global ${tarball}`);
  });

  it("sets a client up with an entry that starts Posthorn, which shows what the README shows", async () => {
    await type("posthorn install claude-desktop --yes --role writer");
    const file = join(home, ".config", "Claude", "claude_desktop_config.json");
    const { command, args } = JSON.parse(readFileSync(file, "utf8")).mcpServers.posthorn;
    expect([command, ...args]).toEqual([
      "npx",
      "-y",
      "--package",
      tarball,
      "posthorn",
      "stdio",
      "--role",
      "writer",
    ]);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(
      new StdioClientTransport({ command, args, env: strangerEnvironment(home), cwd: work }),
    );
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("save_draft");
    await client.close();
  });
});

describe("a stranger with a checkout", () => {
  const checkout = join(folder, "checkout");
  const prefix = join(folder, "prefix");
  const there = { cwd: checkout, timeout: INSTALL_MS, maxBuffer: 10_000_000 };
  let own: Record<string, string>;

  beforeAll(async () => {
    const { stdout } = await run("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
      cwd: ROOT,
      maxBuffer: 10_000_000,
    });
    for (const file of stdout.trim().split("\n")) {
      mkdirSync(dirname(join(checkout, file)), { recursive: true });
      if (existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(checkout, file));
    }
    own = { ...strangerEnvironment(home), npm_config_prefix: prefix, POSTHORN_PORT: "0" };
    // As the README says.
    await run("bash", ["--norc", "-c", "npm ci && npm install --global ."], { ...there, env: own });
  });

  it("has a command, which is the README's entry for an agent's client", async () => {
    const [, block = ""] = /```json\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, "README.md"), "utf8")) ?? [];
    const { command, args } = JSON.parse(block).mcpServers.posthorn;
    const PATH = `${join(prefix, "bin")}:${own["PATH"]}`;
    const client = new Client({ name: "test", version: "1" });
    const transport = new StdioClientTransport({
      command: "/usr/bin/env",
      args: [command, ...args],
      env: { ...own, PATH },
      cwd: work,
    });
    await client.connect(transport);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("schedule_post");
    await client.close();
    const shown = await run("posthorn", ["show", "nowhere"], { ...there, env: { ...own, PATH } }).catch(
      (error: Outcome) => error,
    );
    expect(shown.stderr).toMatch(/"posthorn list all" shows the posts\.\n$/);
  });

  it("starts without another build, is told a command that works, and ends with npm", async () => {
    const builtAt = statSync(join(checkout, "dist", "posthorn.js")).ctimeMs;
    const npm = spawn("npm", ["start"], { cwd: checkout, env: own, stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    npm.stdout.on("data", (text: Buffer) => (said += String(text)));
    await expect.poll(() => said, { timeout: 60_000 }).toMatch(/Later: .*\n[^]*Data folder/);
    expect(statSync(join(checkout, "dist", "posthorn.js")).ctimeMs).toBe(builtAt);
    const [, later = ""] = /Later: (.+)\)/.exec(said) ?? [];
    expect(later).toBe("node dist/posthorn.js open");
    const opened = await run("bash", ["--norc", "-c", later], { ...there, env: own });
    expect(opened.stdout).toMatch(/^http:\S+\n$/);
    const [, listening = ""] = /listening on (\S+)/.exec(said) ?? [];
    npm.kill("SIGTERM");
    const isServed = () =>
      fetch(`${listening}/healthz`).then(
        () => true,
        () => false,
      );
    await expect.poll(isServed, { timeout: 30_000 }).toBe(false);
  });

  it("builds again what was changed", async () => {
    const program = join(checkout, "dist", "posthorn.js");
    const before = statSync(program).ctimeMs;
    const now = new Date();
    utimesSync(join(checkout, "src", "domain", "version.ts"), now, now);
    await run("npx", ["tsx", "scripts/prestart.ts"], { ...there, env: own });
    expect(statSync(program).ctimeMs).toBeGreaterThan(before);
  });
});
