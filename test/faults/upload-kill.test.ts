import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { send } from "../support/http.ts";
import { videoOf } from "../support/ranged-source.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const MAIN = join(import.meta.dirname, "..", "..", "src", "main.ts");
const KEY = "k".repeat(32);
const TUS = { "Tus-Resumable": "1.0.0" };
const CHUNK = { ...TUS, "Content-Type": "application/offset+octet-stream" };
const VIDEO = videoOf(3_000_000);

/** The real server, as a shell starts it. */
async function startServer(env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ["--import", "tsx", MAIN, "serve"], {
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      ...env,
      POSTHORN_PORT: "0",
      POSTHORN_API_KEY: KEY,
      POSTHORN_LOG_LEVEL: "silent",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  let said = "";
  while (!/127\.0\.0\.1:\d+/.test(said)) said += String((await once(child.stdout, "data"))[0]);
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(said)?.[1]);
  return {
    port,
    async kill() {
      child.kill("SIGKILL");
      await exit;
    },
  };
}

describe("kill -9 of the server in the middle of an upload to it", { timeout: 60_000 }, () => {
  it("loses nothing of what it had stored, and the upload goes on", async () => {
    using folder = temporaryFolder();
    const first = await startServer(folder.env);
    const begun = await send(first.port, "POST /api/v1/files/uploads", {
      key: KEY,
      headers: { ...TUS, "Upload-Length": String(VIDEO.length) },
    });
    const location = begun.headers["location"] ?? "";
    const half = {
      key: KEY,
      body: VIDEO.subarray(0, 1_000_000),
      headers: { ...CHUNK, "Upload-Offset": "0" },
    };
    expect((await send(first.port, `PATCH ${location}`, half)).headers["upload-offset"]).toBe("1000000");

    // The next chunk never ends; a part of it has come when the process dies.
    const headers = {
      ...CHUNK,
      Authorization: `Bearer ${KEY}`,
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

    const second = await startServer(folder.env);
    const { headers: head } = await send(second.port, `HEAD ${location}`, { key: KEY, headers: TUS });
    const offset = Number(head["upload-offset"]);
    expect(offset).toBeGreaterThanOrEqual(1_000_000);
    expect(offset).toBeLessThanOrEqual(1_700_000);
    const rest = {
      key: KEY,
      body: VIDEO.subarray(offset),
      headers: { ...CHUNK, "Upload-Offset": String(offset) },
    };
    const last = await send(second.port, `PATCH ${location}`, rest);
    const { file } = (await send(second.port, `GET ${last.headers["content-location"]}`, { key: KEY })).json;
    expect(file).toMatchObject({
      status: "ready",
      sizeBytes: VIDEO.length,
      sha256: createHash("sha256").update(VIDEO).digest("hex"),
    });
    await second.kill();
  });
});
