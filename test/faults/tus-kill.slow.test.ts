import { readdir, readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { FileStore } from "@tus/file-store";
import { Server } from "@tus/server";
import { beforeAll, describe, expect, it } from "vitest";
import { addPost } from "../support/publishing.ts";
import { startRangedSource, videoOf, type RangedSource } from "../support/ranged-source.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { buildWorker, makeDataFolder, openFolder, readOutcome, runWorker } from "./fault-runner.ts";
import { CHUNK_BYTES } from "./tus-platform.ts";
import { queryOf } from "../support/handles.ts";

const VIDEO = videoOf(5 * CHUNK_BYTES + 12_345);
const CHUNKS = 6;

/** Headers and the like of all requests of one run. */
const OVERHEAD_BYTES = 20_000;

/** When the publisher is killed, on its n-th chunk. */
type Moment = "before the chunk is taken" | "halfway through it" | "when it is stored, before the answer";

interface TusServer extends AsyncDisposable {
  readonly url: string;
  readonly folder: string;
  /** Everything that came in over the network. */
  bytesIn(): number;
  /** Called on each chunk, before it is taken and after it was stored. */
  onChunk: (chunk: number, when: "begun" | "stored") => Promise<void>;
}

/** A real tus server. */
async function startTusServer(): Promise<TusServer> {
  const folder = temporaryFolder();
  const tus = new Server({
    path: "/files",
    datastore: new FileStore({ directory: folder.path }),
    relativeLocation: true,
  });
  const sockets = new Set<Socket>();
  let chunks = 0;
  const server = createServer((request, response) => void serve(request, response));
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "PATCH") return void (await tus.handle(request, response));
    const chunk = (chunks += 1);
    await result.onChunk(chunk, "begun");
    const end = response.end.bind(response);
    response.end = ((...args: Parameters<typeof end>) => {
      void result.onChunk(chunk, "stored").then(() => end(...args));
      return response;
    }) as typeof response.end;
    await tus.handle(request, response).catch(() => {});
  }
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const result: TusServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/files`,
    folder: folder.path,
    bytesIn: () => [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    onChunk: async () => {},
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      folder[Symbol.dispose]();
    },
  };
  return result;
}

async function uploads(server: TusServer): Promise<Buffer[]> {
  const names = (await readdir(server.folder)).filter((name) => !name.endsWith(".json"));
  return Promise.all(names.map((name) => readFile(join(server.folder, name))));
}

async function addDuePost(folder: string, source: RangedSource): Promise<void> {
  await using ctx = await openFolder(folder);
  const account = await queryOf(ctx.store).selectFrom("accounts").selectAll().executeTakeFirstOrThrow();
  const due = Date.now() - 50;
  await addPost(ctx, account, {
    media_url: `${source.origin}/clip.mp4`,
    scheduled_at: due,
    due_at: due,
    next_at: due,
  });
}

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("tus-worker");
});

describe("kill -9 in the middle of a resumable upload", { timeout: 60_000 }, () => {
  const cases: readonly (readonly [number, Moment])[] = [
    [1, "before the chunk is taken"],
    [3, "before the chunk is taken"],
    [1, "halfway through it"],
    [CHUNKS - 1, "halfway through it"],
    [2, "when it is stored, before the answer"],
    [CHUNKS, "when it is stored, before the answer"],
  ];

  it.each(cases)(
    "of chunk %i, %s: goes on with at most one chunk sent again, and fetches the film once",
    async (n, moment) => {
      await using source = await startRangedSource(VIDEO);
      await using platform = await startTusServer();
      await using folder = await makeDataFolder("tus", { count: 0, accounts: 1 });
      await addDuePost(folder.path, source);
      const args = [folder.path, platform.url];

      const first = runWorker(worker, args);
      const kill = async (): Promise<void> => {
        platform.onChunk = async () => {};
        first.child.kill("SIGKILL");
        await first.exit;
      };
      platform.onChunk = async (chunk, when) => {
        if (chunk !== n || when !== (moment === "when it is stored, before the answer" ? "stored" : "begun"))
          return;
        if (moment === "halfway through it") void killWhenIn(platform, kill);
        else await kill();
      };
      expect(await first.exit).toMatchObject({ signal: "SIGKILL" });

      const second = runWorker(worker, args);
      const { code, stderr } = await second.exit;
      expect([code, await readOutcome(folder.path)]).toMatchObject([
        0,
        [{ status: "published", inDoubt: false, error: null }],
      ]);
      expect(stderr).not.toContain('"level":"error"');
      expect(source.requests.length).toBe(1);
      expect(await readdir(join(folder.path, "spool"))).toEqual([".temporary"]);
      expect((await uploads(platform)).map((bytes) => bytes.equals(VIDEO))).toEqual([true]);
      expect(platform.bytesIn() - VIDEO.length).toBeLessThanOrEqual(CHUNK_BYTES + OVERHEAD_BYTES);
    },
  );
});

/** Kills as soon as a part of the chunk has come. */
async function killWhenIn(platform: TusServer, kill: () => Promise<void>): Promise<void> {
  const before = platform.bytesIn();
  while (platform.bytesIn() < before + 1_000) await new Promise((resolve) => setImmediate(resolve));
  await kill();
}
