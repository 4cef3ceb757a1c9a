import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "vitest";

const QUINT = join(import.meta.dirname, "../../node_modules/@informalsystems/quint/dist/src/cli.js");
const MODEL = join(import.meta.dirname, "model/publishing.qnt");

interface Ended {
  readonly isOk: boolean;
  readonly output: string;
}

function quint(command: string, ...options: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [QUINT, command, MODEL, ...options], (error, stdout, stderr) =>
      resolve({ isOk: error === null, output: stdout + stderr }),
    );
  });
}

/** Another backend would be downloaded. */
const HERE = "--backend=typescript";

interface Walks {
  readonly seed: string;
  readonly samples: number;
  readonly promises: readonly string[];
  readonly reached?: readonly string[];
}

/** Walks at random through the module, 40 steps each. */
function walk(module: string, { seed, samples, promises, reached = [] }: Walks): Promise<Ended> {
  const bounds = [`--seed=${seed}`, `--max-samples=${samples}`, "--max-steps=40", "--verbosity=1"];
  const wanted = reached.length === 0 ? [] : ["--witnesses", ...reached];
  return quint("run", HERE, `--main=${module}`, ...bounds, "--invariants", ...promises, ...wanted);
}

const PROMISES = ["neverTwice", "neverEarly", "cancelHolds", "failureIsTrue", "newestFenceWrites"];
const REACHED = ["published", "refused", "unknown", "cancelled", "sentAgain", "retried", "outrun"];

/** The first walk of the seed finds it. After a change of the model another one does. */
const SPOILED = [
  { guard: "a fence", module: "withoutFence", breaks: "newestFenceWrites", seed: "0x192df" },
  { guard: "an intent before what is sent", module: "withoutIntent", breaks: "neverTwice", seed: "0x2372" },
];

/** On a busy machine a process takes seconds to start. */
const TIMEOUT_MS = 120_000;

describe.concurrent("the model of publishing", { timeout: TIMEOUT_MS }, () => {
  it("has the types that it says", async ({ expect }) => {
    expect(await quint("typecheck")).toEqual({ isOk: true, output: "" });
  });

  it("keeps each promise wherever it goes, and gets everywhere", async ({ expect }) => {
    const { isOk, output } = await walk("sound", {
      seed: "1",
      samples: 200,
      promises: PROMISES,
      reached: REACHED,
    });
    expect(output).toContain("[ok] No violation found");
    expect(isOk).toBe(true);
    const times = [...output.matchAll(/^(\w+) was witnessed in (\d+) trace/gm)].map(([, name, n]) => [
      name,
      Number(n) > 0,
    ]);
    expect(Object.fromEntries(times)).toEqual(Object.fromEntries(REACHED.map((name) => [name, true])));
  });

  it.for(SPOILED)("breaks $breaks without $guard", async ({ module, breaks, seed }, { expect }) => {
    const { isOk, output } = await walk(module, { seed, samples: 2_000, promises: [breaks] });
    expect(output).toContain("[violation] Found an issue");
    expect(isOk).toBe(false);
  });

  it("breaks the others without the guards that its tales miss, and not with them", async ({ expect }) => {
    const { isOk, output } = await quint("test", HERE, "--main=tales", "--max-samples=1");
    expect(output).toContain("12 passing");
    expect(isOk).toBe(true);
  });
});
