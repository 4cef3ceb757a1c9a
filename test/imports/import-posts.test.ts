import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startService, type Service } from "../support/service.ts";

let service: Service;
let accountId: string;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterEach(() => service[Symbol.asyncDispose]());

const run = (csv: string, args: object = {}): Promise<any> =>
  service.call("import_posts", { csv, dryRun: false, ...args });

const listed = async (): Promise<any[]> => (await service.call("list_posts", { limit: 500 })).posts;

it("big", async () => {
  const rows = Array.from({ length: 5000 }, (_, n) => `${accountId},2026-12-${String(1 + (n % 28)).padStart(2, "0")}T${String(n % 24).padStart(2, "0")}:00:00Z,"Post, number ${n} with some words about a lake in the morning"`);
  const csv = `accountId,scheduledAt,caption\n${rows.join("\n")}`;
  for (let i = 0; i < 3; i++) {
    const start = performance.now();
    const answer = await run(csv, { dryRun: i === 0 });
    console.log(i, performance.now() - start, answer.counts, answer.imported, answer.errors.slice(0, 2), answer.warnings.slice(0, 3));
  }
});
