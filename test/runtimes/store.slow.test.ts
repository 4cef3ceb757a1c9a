import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { DriverName } from "../../src/store/local/driver.ts";
import { RUNTIMES, type Runtime } from "../support/runtimes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plainEnvironment } from "../support/workspace.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const VITEST = join(ROOT, "node_modules", "vitest", "vitest.mjs");
const BLOCKER = join(ROOT, "test", "support", "without-better-sqlite3.cjs");

/** The store itself, and what must never be wrong on top of it: in this process, and in several. */
const FOLDERS = ["test/store", "test/publishing"];
const CONFIGS = ["vitest.config.ts", "vitest.process.config.ts"];
const FILES = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }),
).filter((name) => name.endsWith(".test.ts") && !name.endsWith(".slow.test.ts"));

const PROBE = `
  const { openStore } = await import("./src/store/open-store.ts");
  const store = await openStore({ file: ":memory:" });
  process.stdout.write(store.name);`;

const CAN_LOAD_NATIVE = `new (require("better-sqlite3"))(":memory:").close()`;

/**
 * Each release with the driver that is taken there by itself, and without the native one where Node has
 * another.
 */
const MATRIX = RUNTIMES.flatMap((runtime) => [
  { runtime, release: runtime.release, natives: "as installed", hasNatives: true },
  ...(runtime.hasBuiltInSqlite
    ? [{ runtime, release: runtime.release, natives: "left out", hasNatives: false }]
    : []),
]);

const run = promisify(execFile);

describe("the store", () => {
  it.each(MATRIX)(
    "takes the best driver on Node $release with native packages $natives",
    async ({ runtime, hasNatives }) => {
      expect(await driverOn(runtime, hasNatives)).toBe(
        hasNatives && (await canLoadNative(runtime)) ? "better-sqlite3" : "node:sqlite",
      );
    },
  );

  // On the release that runs this, `npm test` has seen to it. Releases in between have the drivers of the newest.
  it.each(RUNTIMES.filter(({ node }) => node !== process.execPath).slice(-1))(
    "and the publisher keep their contract on Node $release with each driver that is there",
    async (runtime) => {
      const drivers = new Set<DriverName>();
      for (const hasNatives of runtime.hasBuiltInSqlite ? [true, false] : [true]) {
        const driver = await driverOn(runtime, hasNatives);
        if (drivers.has(driver)) continue;
        drivers.add(driver);
        let files = 0;
        for (const config of CONFIGS) {
          const report = await runStoreTests(runtime, { config, hasNatives });
          expect(report.failures).toEqual([]);
          files += report.files;
        }
        expect(files).toBe(FILES.length);
      }
      expect([...drivers]).toContain(runtime.hasBuiltInSqlite ? "node:sqlite" : "better-sqlite3");
    },
  );
});

async function driverOn(runtime: Runtime, hasNatives: boolean): Promise<DriverName> {
  const { stdout } = await run(runtime.node, ["--import", "tsx", "--input-type=module", "-e", PROBE], {
    cwd: ROOT,
    env: envOf(hasNatives),
  });
  return stdout as DriverName;
}

/** It is compiled for one release of Node. */
async function canLoadNative(runtime: Runtime): Promise<boolean> {
  return run(runtime.node, ["-e", CAN_LOAD_NATIVE], { cwd: ROOT, env: plainEnvironment() }).then(
    () => true,
    () => false,
  );
}

interface Report {
  readonly files: number;
  readonly failures: readonly string[];
}

async function runStoreTests(
  runtime: Runtime,
  { config, hasNatives }: { readonly config: string; readonly hasNatives: boolean },
): Promise<Report> {
  using folder = temporaryFolder();
  const file = join(folder.path, "report.json");
  // It ends with 1 when a test failed, which the report tells better.
  const args = ["run", ...FOLDERS, "--config", config, "--reporter=json", `--outputFile=${file}`];
  await run(runtime.node, [VITEST, ...args], {
    cwd: ROOT,
    env: envOf(hasNatives),
    maxBuffer: 10_000_000,
  }).catch(() => {});
  const { testResults } = JSON.parse(readFileSync(file, "utf8")) as { testResults: TestFile[] };
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const broken = testResults.filter(
    ({ status, assertionResults }) => status !== "passed" && assertionResults.length === 0,
  );
  const failed = tests.filter(({ status }) => status !== "passed");
  return {
    files: testResults.length,
    failures: [
      ...failed.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join("\n")}`),
      ...broken.map(({ name }) => name),
    ],
  };
}

interface TestFile {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly {
    readonly fullName: string;
    readonly status: string;
    readonly failureMessages: readonly string[];
  }[];
}

/** Without what this run of the tests tells its own workers. */
function envOf(hasNatives: boolean): Record<string, string> {
  const entries = Object.entries(plainEnvironment()).filter(
    ([name]) => !/^(VITEST|TEST$|NODE_OPTIONS$)/.test(name),
  );
  return { ...Object.fromEntries(entries), ...(hasNatives ? {} : { NODE_OPTIONS: `--require ${BLOCKER}` }) };
}
