import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DAY } from "../../../src/domain/time.ts";
import { startService, type Service } from "../../support/service.ts";

let service: Service;
let accountId: string;
beforeAll(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterAll(() => service[Symbol.asyncDispose]());

const PATH = "POST /api/v1/posts/import";
const CSV = { "Content-Type": "text/csv; charset=utf-8" };

function tableOf(caption: string, rows = 1): string {
  const at = (nth: number): string => new Date(service.clock.now() + DAY + nth * 60_000).toISOString();
  return `accountId,scheduledAt,caption\n${Array.from({ length: rows }, (_, nth) => `${accountId},${at(nth)},${caption}\n`).join("")}`;
}

it("takes JSON, and only checks unless told otherwise", async () => {
  const { status, json } = await service.ask(PATH, { json: { csv: tableOf("As JSON") } });
  expect([status, json.dryRun, json.counts.new]).toEqual([200, true, 1]);
  const made = await service.ask(PATH, { json: { csv: tableOf("As JSON"), dryRun: false } });
  expect(made.json).toMatchObject({ dryRun: false, imported: 1 });
});

it("takes the table itself, and arguments in the address", async () => {
  const body = tableOf("As CSV");
  const checked = await service.ask(PATH, { headers: CSV, body });
  expect(checked.json).toMatchObject({ dryRun: true, imported: 0, counts: { new: 1 } });
  const made = await service.ask(`${PATH}?dryRun=0&timezone=Europe/Berlin`, { headers: CSV, body });
  expect(made).toMatchObject({ status: 200, json: { imported: 1 } });
  const utf16 = Buffer.from(`\u{FEFF}${tableOf("Grüße")}`, "utf16le");
  const excel = await service.ask(`${PATH}?dryRun=0`, { headers: CSV, body: utf16 });
  expect(excel.json).toMatchObject({ imported: 1, rows: [{ caption: "Grüße" }] });
  const headers = { ...CSV, "Content-Encoding": "gzip" };
  const packed = await service.ask(PATH, { headers, body: gzipSync(tableOf("Packed")) });
  expect(packed.json).toMatchObject({ counts: { new: 1 } });
});

it("takes tables that are larger than other bodies, up to their own limit", async () => {
  const body = tableOf("x".repeat(250), 5_000);
  expect(body.length).toBeGreaterThan(1024 * 1024);
  const { status, json } = await service.ask(PATH, { headers: CSV, body });
  expect([status, json.counts]).toEqual([200, { rows: 5_000, new: 5_000, existing: 0, bad: 0 }]);
  const tooLarge = await service.ask(PATH, { headers: CSV, body: "x".repeat(16 * 1024 * 1024 + 1) });
  expect(tooLarge).toMatchObject({ status: 413, json: { error: expect.stringContaining("16 MiB") } });
  const large = await service.ask(PATH, { json: { csv: body } });
  expect(large).toMatchObject({ status: 413, json: { error: expect.stringContaining("1 MiB") } });
});

it.each([
  ["another type", { headers: { "Content-Type": "text/plain" }, body: "a" }, "Content-Type: must be"],
  ["no table", { headers: CSV, body: "" }, "csv: is missing"],
  ["another encoding", { headers: CSV, body: Buffer.from("caption\nGrüße", "latin1") }, "CSV UTF-8"],
  ["a field that is none", { json: { csv: "a", dryRan: true } }, "dryRan"],
  ["NUL", { headers: CSV, body: "accountId,caption\na,\0" }, "NUL"],
])("refuses %s", async (_what, ask, sentence) => {
  const { status, json } = await service.ask(PATH, ask);
  expect([status, json.error]).toEqual([400, expect.stringContaining(sentence)]);
});

it("needs the permission to publish", async () => {
  const writer = await service.keyFor("default", { permissions: ["read", "draft", "files"] });
  const body = tableOf("By a writer");
  const { status } = await service.ask(`${PATH}?dryRun=0`, { key: writer, headers: CSV, body });
  expect(status).toBe(403);
  const tool = { json: { csv: body, dryRun: false }, key: writer };
  expect((await service.ask("POST /api/v1/tools/import_posts", tool)).status).toBe(403);
});

it("answers a repeated request with the same idempotency key the same", async () => {
  const ask = { headers: { ...CSV, "Idempotency-Key": "import-1" }, body: tableOf("Once") };
  const first = await service.ask(`${PATH}?dryRun=0`, ask);
  const second = await service.ask(`${PATH}?dryRun=0`, ask);
  expect(second.json).toEqual(first.json);
  expect(second.headers["idempotent-replayed"]).toBe("true");
});
