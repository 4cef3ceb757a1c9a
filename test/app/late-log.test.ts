import { expect, it } from "vitest";
import { createLateLogger } from "../../src/app/late-log.ts";
import type { Logger } from "../../src/ports/logger.ts";

it("loads with the first line, keeps the order, and then writes at once", async () => {
  const lines: string[] = [];
  let loads = 0;
  const write = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const logger: Logger = {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  };
  const late = createLateLogger(async () => {
    loads += 1;
    return logger;
  });
  expect(loads).toBe(0);
  late.warn({ a: 1 }, "first");
  late.error({}, "second");
  expect(lines).toEqual([]);
  await expect.poll(() => lines).toEqual(['warn first {"a":1}', "error second {}"]);
  late.info({}, "third");
  expect(lines.at(-1)).toBe("info third {}");
  expect(loads).toBe(1);
});
