import { expect, it } from "vitest";
import { Closers } from "../../src/app/compose.ts";

it("closes in reverse order, whatever fails, once", async () => {
  const order: string[] = [];
  const failures: unknown[] = [];
  const closers = new Closers((error) => failures.push(error));
  closers.add(() => void order.push("first"));
  closers.add(async () => {
    order.push("second");
    throw new Error("stuck");
  });
  closers.add(async () => void order.push("third"));
  await closers[Symbol.asyncDispose]();
  await closers[Symbol.asyncDispose]();
  expect(order).toEqual(["third", "second", "first"]);
  expect(failures).toEqual([new Error("stuck")]);
});
