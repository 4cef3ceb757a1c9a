import { spawn } from "node:child_process";
import { once } from "node:events";
import { hostname } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { readSetup } from "../../src/setup.ts";
import { startServer } from "../../src/start-server.ts";
import { startKeyProxy } from "../support/key-proxy.ts";
import { RUNTIMES } from "../support/runtimes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plainEnvironment } from "../support/workspace.ts";

const MODULES = join(import.meta.dirname, "node_modules");

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
    const key = "a-fixed-key-of-this-test-alone-0123456789";
    const env = { ...folder.env, POSTHORN_PORT: "0", POSTHORN_LOG_LEVEL: "silent", POSTHORN_API_KEY: key };
    const machine = { host: hostname(), pid: process.pid };
    await using server = await startServer({ setup: await readSetup(env), machine, role: "serve" });
    await using proxy = await startKeyProxy(Number(new URL(server.address).port), key);
    const child = spawn(NODE, [join(MODULES, suite, "dist", "index.js"), "server", "--url", `${proxy.url}/mcp`, ...args], {
      env: plainEnvironment(),
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [report] = await Promise.all([text(child.stdout), once(child, "close")]);
    const failed = scenarios.filter((scenario) => !passes(report, scenario));
    expect(failed, report).toEqual([]);
  });
});

/** By a line of the summary, or, where one scenario ran alone, by its own results. */
function passes(report: string, scenario: string): boolean {
  return (
    new RegExp(`^✓ ${scenario}: `, "m").test(report) || (report.includes(scenario) && /^Passed: ([1-9]\d*)\/\1, 0 failed/m.test(report))
  );
}
