import { expect, it } from "vitest";
import { RepeatedFailures } from "../../src/publishing/workers.ts";

it("tells the first of failures in a row, then one a minute, and their end", () => {
  const lines: [level: string, message: string, failures: number][] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push([level, message, (fields as { failures: number }).failures]);
  const log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const failures = new RepeatedFailures();
  failures.end(log, "works again");
  for (let second = 0; second < 125; second += 1) failures.note(log, new Error("full"), "failed");
  failures.end(log, "works again");
  failures.end(log, "works again");
  failures.note(log, new Error("full"), "failed");
  expect(lines).toEqual([
    ["error", "failed", 1],
    ["error", "failed", 61],
    ["error", "failed", 121],
    ["info", "works again", 125],
    ["error", "failed", 1],
  ]);
});
