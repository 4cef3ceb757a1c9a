import { createHash } from "node:crypto";
import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { send } from "../support/http.ts";
import { videoOf } from "../support/ranged-source.ts";
import { startRealServer } from "../support/real-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const TUS = { "Tus-Resumable": "1.0.0" };
const CHUNK = { ...TUS, "Content-Type": "application/offset+octet-stream" };
const VIDEO = videoOf(3_000_000);

describe("kill -9 of the server in the middle of an upload to it", { timeout: 60_000 }, () => {
  it("loses nothing of what it had stored, and the upload goes on", async () => {
    using folder = temporaryFolder();
    const first = await startRealServer(folder.env);
    const { key } = first;
    const begun = await send(first.port, "POST /api/v1/files/uploads", {
      key,
      headers: { ...TUS, "Upload-Length": String(VIDEO.length) },
    });
    const location = begun.headers["location"] ?? "";
    const half = {
      key,
      body: VIDEO.subarray(0, 1_000_000),
      headers: { ...CHUNK, "Upload-Offset": "0" },
    };
    expect((await send(first.port, `PATCH ${location}`, half)).headers["upload-offset"]).toBe("1000000");

    // The next chunk never ends; a part of it has come when the process dies.
    const headers = {
      ...CHUNK,
      Authorization: `Bearer ${key}`,
      "Upload-Offset": "1000000",
      "Content-Length": "2000000",
    };
    const outgoing = request({
      host: "127.0.0.1",
      port: first.port,
      method: "PATCH",
      path: location,
      headers,
    });
    outgoing.on("error", () => {});
    await new Promise((resolve) => outgoing.write(VIDEO.subarray(1_000_000, 1_700_000), resolve));
    await first.kill();

    const second = await startRealServer(folder.env);
    const { headers: head } = await send(second.port, `HEAD ${location}`, { key, headers: TUS });
    const offset = Number(head["upload-offset"]);
    expect(offset).toBeGreaterThanOrEqual(1_000_000);
    expect(offset).toBeLessThanOrEqual(1_700_000);
    const rest = {
      key,
      body: VIDEO.subarray(offset),
      headers: { ...CHUNK, "Upload-Offset": String(offset) },
    };
    const last = await send(second.port, `PATCH ${location}`, rest);
    const { file } = (await send(second.port, `GET ${last.headers["content-location"]}`, { key })).json;
    expect(file).toMatchObject({
      status: "ready",
      sizeBytes: VIDEO.length,
      sha256: createHash("sha256").update(VIDEO).digest("hex"),
    });
    await second.kill();
  });
});
