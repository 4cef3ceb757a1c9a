import { expect, it } from "vitest";
import { startService } from "../support/service.ts";

it(
  "limits what an owner begins to upload and never ends, by number and by size",
  { timeout: 60_000 },
  async () => {
    await using service = await startService();
    const begin = (bytes: number, key: string) =>
      service.ask("POST /api/v1/files/uploads", {
        key,
        headers: { "Tus-Resumable": "1.0.0", "Upload-Length": String(bytes) },
      });
    const many = await service.keyFor("many");
    const begun = await Promise.all(Array.from({ length: 64 }, () => begin(10, many)));
    expect(new Set(begun.map(({ status }) => status))).toEqual(new Set([201]));
    expect(await begin(10, many)).toMatchObject({
      status: 409,
      json: { error: expect.stringMatching(/^There may be 64 unfinished uploads at most, of 32 GiB/) },
    });
    const large = await service.keyFor("large");
    const statuses = [];
    for (let n = 0; n < 9; n += 1) statuses.push((await begin(4 * 1024 ** 3, large)).status);
    expect(statuses).toEqual([...Array.from({ length: 8 }, () => 201), 409]);
  },
);
