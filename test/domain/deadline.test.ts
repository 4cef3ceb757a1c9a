import { readdirSync, readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { setTimeout as delay } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { deadline } from "../../src/domain/time.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

it("comes although memory is collected meanwhile", async () => {
  const signals = [deadline(200), deadline(200, new AbortController().signal)];
  for (let round = 0; round < 10; round += 1) {
    await delay(10);
    collect();
  }
  await expect.poll(() => signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  expect(signals.map(({ reason }) => (reason as Error).name)).toEqual(["TimeoutError", "TimeoutError"]);
});

it("comes with any of the others, also with one that came before", () => {
  const stop = new AbortController();
  const signal = deadline(60_000, new AbortController().signal, stop.signal);
  expect(signal.aborted).toBe(false);
  stop.abort(new Error("Stopped."));
  expect(signal.reason).toEqual(new Error("Stopped."));
  expect(deadline(60_000, stop.signal).reason).toEqual(new Error("Stopped."));
});

it("is the only timer that ends calls", () => {
  const folder = new URL("../../src/", import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const users = files.filter((name) =>
    readFileSync(new URL(name, folder), "utf8").includes("AbortSignal.timeout("),
  );
  expect(users).toEqual([]);
});
