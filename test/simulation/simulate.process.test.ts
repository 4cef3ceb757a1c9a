import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const run = promisify(execFile);

async function simulate(...args: string[]): Promise<string> {
  const command = ["--import", "tsx", "test/simulation/main.ts", ...args];
  const { stdout } = await run(process.execPath, command, { cwd: ROOT, maxBuffer: 2 ** 26 }).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
}

it("is the same history for the same seed, byte for byte, whatever ran before it", async () => {
  const [alone, again, after] = await Promise.all([
    simulate("--seed", "7", "--trace"),
    simulate("--seed", "7", "--trace"),
    simulate("--seeds", "6..7"),
  ]);
  expect(alone).toContain("PUBLIC on");
  expect(again).toBe(alone);
  const [last] = alone.trimEnd().split("\n").slice(-2);
  expect(after).toContain(last);
});

/** Histories in which something was amiss once. */
it.each([
  ["an answer that said no after the deed", "104"],
  ["a post brought forward since the copy that was put back", "21"],
  ["machines that are cut off from the database", "60"],
])("holds where it did not: %s", async (_what, seed) => {
  expect(await simulate("--seed", seed)).toContain("1 histories, 0 violations");
});
