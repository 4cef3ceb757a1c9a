import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import { createMediaProbe } from "../../src/media/probe/media-reader.ts";
import { createMediaSource } from "../../src/media/source/source.ts";
import { createFolderStore } from "../../src/media/stores/folder-store.ts";
import { assertFreeSpace, DiskFull } from "../../src/ports/disk-space.ts";
import { MediaUnavailable } from "../../src/ports/media.ts";
import { startCanary } from "../support/canary.ts";
import { FakeClock } from "../support/clock.ts";
import { fixture } from "../support/media.ts";
import { videoOf } from "../support/ranged-source.ts";
import { type RealServer, startRealServer } from "../support/real-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { mountSmallDisk } from "./small-disk.ts";

const MiB = 1024 ** 2;
const DISK_MB = 48;
// Without this Node's client asks to close, and is cut off in the midst of sending what is refused.
const KEEP_ALIVE = { Connection: "keep-alive" };
const TUS = { ...KEEP_ALIVE, "Tus-Resumable": "1.0.0" };
const CHUNK = { ...TUS, "Content-Type": "application/offset+octet-stream" };
const PHOTO = { body: fixture("photo.png"), headers: { "Content-Type": "image/png" } };
const TOO_LARGE = videoOf(60_000_000);
const FULL = /[Tt]he disk is full/;

async function onSmallDisk(
  skip: (why: string) => void,
  work: (path: string, env: Readonly<Record<string, string>>) => Promise<void>,
): Promise<void> {
  using temporary = temporaryFolder();
  await using disk = await mountSmallDisk(temporary.path, DISK_MB);
  if (disk === null) return skip("This process may not mount a disk.");
  await work(join(temporary.path, "data"), {
    ...temporary.env,
    POSTHORN_ALLOWED_HOSTS: "127.0.0.1",
    POSTHORN_UPLOAD_FOLDERS: temporary.path,
  });
}

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/** Takes all that is free but so many bytes. */
function fill(path: string, left: number): void {
  writeFileSync(join(path, "ballast"), Buffer.alloc(Math.max(freeBytes(path) - left, 0), "x"));
}

async function canWork(server: RealServer): Promise<void> {
  expect(await server.ask("POST /api/v1/files", PHOTO)).toMatchObject({ status: 201 });
  expect((await server.ask("GET /readyz")).status).toBe(200);
  const { accounts } = (await server.ask("GET /api/v1/accounts")).json;
  const made = await server.ask("POST /api/v1/posts", {
    json: { accountId: accounts[0].id, caption: "It goes out." },
  });
  expect(made.status).toBe(201);
  await expect
    .poll(async () => (await server.ask(`GET /api/v1/posts/${made.json.post.id}`)).json.post.status, {
      timeout: 15_000,
    })
    .toBe("published");
}

it("refuses a file beside which too little would be left free", async () => {
  using folder = temporaryFolder();
  await assertFreeSpace(folder.path, 1);
  await expect(assertFreeSpace(folder.path, freeBytes(folder.path) - 1)).rejects.toBeInstanceOf(DiskFull);
});

describe("media of a post that has no room", () => {
  it("is tried again later, with a sentence that says why", async () => {
    using folder = temporaryFolder();
    await using outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
    const announced = freeBytes(folder.path) + 1;
    await using source = await startCanary((_request, response) =>
      response.writeHead(200, { "content-length": announced }).write("x"),
    );
    const media = createMediaSource({
      outbound,
      files: createFolderStore(join(folder.path, "files")),
      probe: createMediaProbe(),
      clock: new FakeClock(),
      folder: join(folder.path, "spool"),
      maxBytes: announced,
      findFile: async () => null,
      downloadUrl: async () => "",
      copyUrl: async () => "",
    });
    const post = media.forPost({ ownerId: "default", postId: "post_1" }, new AbortController().signal);
    const error = await post.item(source.origin).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(MediaUnavailable);
    expect(String(error)).toMatch(FULL);
  });
});

describe("a disk of 48 MB", { timeout: 120_000 }, () => {
  it("refuses what does not fit, leaves nothing of it, and goes on", ({ skip }) =>
    onSmallDisk(skip, async (path, env) => {
      await using server = await startRealServer(env);
      await using source = await startCanary((_request, response) => {
        response.writeHead(200, { "Content-Type": "video/mp4", "Content-Length": TOO_LARGE.length });
        response.end(TOO_LARGE);
      });
      await using endless = await startCanary((_request, response) => {
        response.writeHead(200, { "Content-Type": "video/mp4" });
        response.end(TOO_LARGE);
      });
      const video = { ...KEEP_ALIVE, "Content-Type": "video/mp4" };
      const begun = (headers: Record<string, string>) =>
        server.ask("POST /api/v1/files/uploads", { headers: { ...TUS, ...headers } });
      const { uploadUrl } = (await server.ask("POST /api/v1/tools/upload_file", { json: {} })).json.result;
      const signed = new URL(uploadUrl);

      const announced = await begun({ "Upload-Length": "1000000000" });
      const unknown = (await begun({ "Upload-Defer-Length": "1" })).headers["location"] ?? "";
      const answers = [
        announced,
        await server.ask(`PATCH ${unknown}`, {
          headers: { ...CHUNK, "Upload-Offset": "0" },
          body: TOO_LARGE,
        }),
        await server.ask("POST /api/v1/files", { headers: video, body: TOO_LARGE }),
        await server.ask("POST /api/v1/files", {
          headers: { ...video, "Transfer-Encoding": "chunked" },
          body: TOO_LARGE,
        }),
        await server.ask("POST /api/v1/files", { json: { url: source.origin } }),
        await server.ask("POST /api/v1/files", { json: { url: endless.origin } }),
        await server.ask(`PUT ${signed.pathname}${signed.search}`, {
          key: null,
          headers: video,
          body: TOO_LARGE,
        }),
      ];
      for (const { status, json } of answers) {
        expect({ status, error: json.error }).toEqual({ status: 507, error: expect.stringMatching(FULL) });
      }
      expect(freeBytes(path)).toBeGreaterThan(30 * MiB);
      await canWork(server);
    }));

  it("is not ready while nothing can be written, and goes on by itself", ({ skip }) =>
    onSmallDisk(skip, async (path, env) => {
      await using server = await startRealServer(env);
      await canWork(server);
      const { accounts } = (await server.ask("GET /api/v1/accounts")).json;
      const schedule = async (scheduledAt: string) =>
        (
          await server.ask("POST /api/v1/posts", {
            json: { accountId: accounts[0].id, caption: "word ".repeat(1_000), scheduledAt },
          })
        ).status;
      await schedule(new Date(Date.now() + 5_000).toISOString());
      fill(path, 0);
      const statusOf = async () => (await server.ask("GET /readyz")).status;
      // What the database has already it uses up first.
      const filled = async () => {
        for (let n = 0; n < 50; n += 1) if ((await schedule("2099-01-01T00:00:00Z")) === 503) break;
        return statusOf();
      };
      await expect.poll(filled, { timeout: 40_000, interval: 100 }).toBe(503);
      // The database is asked first. Where it has room for so small a row left, the file has none.
      const refused = await server.ask("POST /api/v1/files", PHOTO);
      expect([503, 507]).toContain(refused.status);
      if (refused.status === 507) expect(refused.json.error).toMatch(FULL);
      rmSync(join(path, "ballast"));
      await expect.poll(statusOf, { timeout: 14_000, interval: 200 }).toBe(200);
      await canWork(server);
    }));
});
