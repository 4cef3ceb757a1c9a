import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readSetup } from "../../src/app/setup.ts";
import { startServer } from "../../src/app/start-server.ts";
import { startKeyProxy } from "../support/key-proxy.ts";
import { RUNTIMES } from "../support/runtimes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plainEnvironment } from "../support/workspace.ts";
import { startFixtureServer } from "./conformance/server.ts";

const MODULES = join(import.meta.dirname, "node_modules");

const KEY = "a-fixed-key-of-this-test-alone-0123456789";

/** The suite needs a newer Node than the oldest that we run on. */
const NODE = RUNTIMES[1].node;

/** What the suite asks of any server: everything else calls tools, prompts and resources of its own. */
const SUITES = [
  {
    revision: "2025-11-25",
    suite: "conformance-2025",
    args: [],
    scenarios: [
      "server-initialize",
      "ping",
      "tools-list",
      "server-sse-multiple-streams",
      "resources-list",
      "prompts-list",
      "dns-rebinding-protection",
    ],
  },
  {
    revision: "2025-11-25 (sessions)",
    suite: "conformance-2026",
    args: ["--scenario", "server-session-lifecycle", "--spec-version", "2025-11-25"],
    scenarios: ["server-session-lifecycle"],
  },
  {
    revision: "2026-07-28",
    suite: "conformance-2026",
    args: ["--requirements", "2026-07-28"],
    scenarios: [
      "tools-list",
      "server-sse-multiple-streams",
      "resources-list",
      "sep-2164-resource-not-found",
      "prompts-list",
      "dns-rebinding-protection",
      "caching",
      "input-required-result-unsupported-methods",
      "http-header-validation",
    ],
  },
];

describe("the protocol's conformance suite against the product as it is", () => {
  it.each(SUITES)("passes for $revision", async ({ suite, args, scenarios }) => {
    using folder = temporaryFolder();
    const self = { host: hostname(), pid: process.pid };
    await using server = await startServer({
      setup: await readSetup(settings(folder)),
      self,
      role: "serve",
    });
    const { unmet } = await runSuite({ suite, args, port: Number(new URL(server.address).port) });
    expect(scenarios.flatMap(unmet)).toEqual([]);
  });
});

/** Everything that a revision requires, and what is only to be seen but that we want to pass. */
const WHOLE_SUITES = [
  { revision: "2025-11-25", count: 30, extra: ["json-schema-2020-12", "server-session-lifecycle"] },
  { revision: "2026-07-28", count: 37, extra: ["json-schema-2020-12", "http-header-validation"] },
];

describe("the protocol's conformance suite against the product's stack with the suite's own tools", () => {
  it.each(WHOLE_SUITES)("passes in all that $revision requires", async ({ revision, count, extra }) => {
    using folder = temporaryFolder();
    await using server = await startFixtureServer(settings(folder));
    const { unmet, exitCode } = await runSuite({
      suite: "conformance-2026",
      args: ["--requirements", revision],
      port: server.port,
    });
    const required = requiredBy(revision);
    expect(required).toHaveLength(count);
    expect([...required, ...extra].flatMap(unmet)).toEqual([]);
    expect(exitCode).toBe(0);
  });

  it("passes in the released suite of 2025-11-25", async () => {
    using folder = temporaryFolder();
    await using server = await startFixtureServer(settings(folder));
    const { scenarios, unmet, exitCode } = await runSuite({
      suite: "conformance-2025",
      args: [],
      port: server.port,
    });
    expect(scenarios).toHaveLength(30);
    expect(scenarios.flatMap(unmet)).toEqual([]);
    expect(exitCode).toBe(0);
  });
});

function settings(folder: ReturnType<typeof temporaryFolder>): Readonly<Record<string, string>> {
  return { ...folder.env, POSTHORN_PORT: "0", POSTHORN_LOG_LEVEL: "silent", POSTHORN_API_KEY: KEY };
}

interface Run {
  readonly suite: string;
  readonly args: readonly string[];
  readonly port: number;
}

interface Outcome {
  readonly scenarios: readonly string[];
  readonly exitCode: number | null;
  /**
   * What a scenario found wanting; a recommendation that is not followed counts, and so does a scenario that
   * did not run.
   */
  readonly unmet: (scenario: string) => readonly string[];
}

async function runSuite({ suite, args, port }: Run): Promise<Outcome> {
  using folder = temporaryFolder();
  await using proxy = await startKeyProxy(port, KEY);
  const command = [
    join(MODULES, suite, "dist", "index.js"),
    "server",
    "--url",
    `${proxy.url}/mcp`,
    "-o",
    folder.path,
    ...args,
  ];
  const child = spawn(NODE, command, { env: plainEnvironment(), stdio: ["ignore", "ignore", "inherit"] });
  await once(child, "close");
  const outcomes = new Map(
    readdirSync(folder.path).map((name) => [scenarioIn(name), readChecks(join(folder.path, name))]),
  );
  return {
    scenarios: [...outcomes.keys()],
    exitCode: child.exitCode,
    unmet(scenario) {
      const checks = outcomes.get(scenario) ?? [];
      if (!checks.some(({ status }) => status === "SUCCESS")) return [`${scenario}: did not run`];
      const failed = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
      return failed.map(({ id, errorMessage }) => `${scenario}: ${id}: ${errorMessage}`);
    },
  };
}

/** Results are in folders like `server-ping-2026-11-21T13-13-49-080Z`. */
function scenarioIn(folder: string): string {
  return folder.replace(/^server-/, "").replace(/-\d{4}-\d{2}-\d{2}T[\d-]+Z$/, "");
}

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

function readChecks(folder: string): readonly Check[] {
  return JSON.parse(readFileSync(join(folder, "checks.json"), "utf8")) as Check[];
}

/** The scenarios that decide whether a server conforms to a revision. */
function requiredBy(revision: string): string[] {
  const file = readFileSync(join(MODULES, "conformance-2026", "requirements", `${revision}.yaml`), "utf8");
  const list = /^server:\n((?: {2}- .*\n)+)/m.exec(file)?.[1] ?? "";
  return list.split("\n").flatMap((line) => /^ {2}- (\S+)$/.exec(line)?.[1] ?? []);
}
