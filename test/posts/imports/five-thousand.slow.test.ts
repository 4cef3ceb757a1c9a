import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { exportPosts } from "../../../src/posts/imports/export-posts.ts";
import { plainCall } from "../../../src/context.ts";
import { callerOf } from "../../support/context.ts";
import { startService, type Service } from "../../support/service.ts";

let service: Service;
beforeEach(async () => {
  service = await startService();
  await service.addFeed();
});
afterEach(() => service[Symbol.asyncDispose]());

const run = (csv: string): Promise<any> => service.call("import_posts", { csv, dryRun: false });

describe("five thousand rows", () => {
  const rows = Array.from(
    { length: 5_000 },
    (_, n) => `Feed of default,2027-0${1 + (n % 9)}-0${1 + (n % 8)}T${10 + (n % 13)}:00Z,"Post, number ${n}"`,
  );
  const csv = `accountId,scheduledAt,caption\n${rows.join("\n")}`;

  it("become posts once, and all or none", { timeout: 240_000 }, async () => {
    const bad = await run(`${csv}\nnobody,2027-01-01T00:00Z,x`.replace(`${rows[4_998]}\n`, ""));
    expect(bad).toMatchObject({ imported: 0, counts: { rows: 5_000, new: 4_999, bad: 1 } });
    expect(await run(csv)).toMatchObject({ imported: 5_000 });
    expect(await run(csv)).toMatchObject({ imported: 0, counts: { existing: 5_000 } });
    const { lines } = await exportPosts(plainCall(service.ctx, callerOf()));
    // Beside them the separator and the names of the columns.
    expect(lines).toHaveLength(5_002);
  });
});
