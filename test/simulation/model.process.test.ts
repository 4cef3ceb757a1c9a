import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { moduleOf, type Row, Trace } from "./model/traces.ts";
import type { Realm } from "./world.ts";

const ROOT = join(import.meta.dirname, "../..");
const QUINT = "node_modules/@informalsystems/quint/dist/src/cli.js";
const MODEL = join(import.meta.dirname, "model/publishing.qnt");

interface Ended {
  readonly isOk: boolean;
  readonly output: string;
}

/** Into a file: Quint ends without waiting for a pipe to take all that it says. */
async function node(...args: readonly string[]): Promise<Ended> {
  using folder = temporaryFolder();
  const file = join(folder.path, "output");
  const output = openSync(file, "w");
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", output, output] });
  const [code] = (await once(child, "close")) as [number | null];
  closeSync(output);
  return { isOk: code === 0, output: readFileSync(file, "utf8") };
}

const quint = (command: string, ...options: readonly string[]): Promise<Ended> =>
  node(QUINT, command, MODEL, ...options);

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
  { guard: "a fence", module: "withoutFence", breaks: "newestFenceWrites", seed: "0x1a9c3bc942b2e2" },
  {
    guard: "an intent before what is sent",
    module: "withoutIntent",
    breaks: "neverTwice",
    seed: "0x13d725161de947",
  },
];

/** On a busy machine a process takes seconds to start. */
const TIMEOUT_MS = 240_000;

/** The model, with these as its tests. */
async function replay(folder: string, traces: string): Promise<Ended> {
  const file = join(folder, "traces.qnt");
  writeFileSync(file, `${readFileSync(MODEL, "utf8")}\n${traces}`);
  return node(QUINT, "test", HERE, "--main=traces", "--max-samples=1", file);
}

/** One that was taken over while its sender heard nothing, and sent it before or after that. */
function takenOver(isSentBefore: boolean): Trace {
  const realm = (name: string): Realm => ({
    name,
    skewMs: 0,
    shown: 0,
    isDead: false,
    frozenUntil: 0,
  });
  const [sender, taker] = [realm("host1"), realm("host2")];
  const row: Row = {
    ...{
      id: "post_1",
      provider: "class_f",
      caption: "post 1 v1",
      status: "scheduled",
      fence: 0,
      lease: null,
    },
    ...{ inDoubt: 0, dueAt: 0, run: 1, state: null, sent: null, handle: null },
  };
  const claimed: Row = { ...row, status: "publishing", fence: 1, lease: "wrk_1" };
  const trace = new Trace();
  trace.see(row, sender);
  trace.see(claimed, sender);
  trace.see({ ...claimed, state: "intent", sent: 1 }, sender);
  if (isSentBefore) trace.send(sender);
  trace.see({ ...claimed, state: "intent", sent: 1, fence: 2, lease: null }, taker);
  if (!isSentBefore) trace.send(sender);
  return trace;
}

describe.concurrent("the model of publishing", { timeout: TIMEOUT_MS }, () => {
  it("has the types that it says", async ({ expect }) => {
    expect(await quint("typecheck")).toEqual({ isOk: true, output: "" });
  });

  it("keeps each promise wherever it goes, and gets everywhere", async ({ expect }) => {
    const { isOk, output } = await walk("sound", {
      seed: "2",
      samples: 250,
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

  it("does what the simulation does, and does not send after another has taken over", async ({ expect }) => {
    using folder = temporaryFolder();
    const file = join(folder.path, "simulated.qnt");
    const args = ["--without", "putBack,twice,guilty", "--model", file];
    const simulated = await node("--import", "tsx", "test/simulation/main.ts", "--seeds", "1..32", ...args);
    expect(simulated.output).toContain("32 histories, 0 violations");
    const traces = readFileSync(file, "utf8");
    expect(new Set(traces.match(/seed\d+/g)).size).toBeGreaterThanOrEqual(20);
    expect(traces.match(/takeOver\(/g)?.length).toBeGreaterThanOrEqual(3);
    const { output } = await replay(folder.path, traces);
    expect(output.match(/^.*(failed|rror).*$/gm)).toBeNull();
    expect(/(\d+) passing/.exec(output)?.[1]).toBe(String(traces.match(/^ *run /gm)?.length));

    const [early, late] = [takenOver(true).steps, takenOver(false).steps];
    const forged = await replay(folder.path, moduleOf({ early, late }));
    expect(forged.output).toContain("ok earlyTest");
    expect(forged.output).toContain("lateTest failed");
  });
});
