import { EventEmitter, once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { loadCatalog } from "../../../src/app/setup.ts";
import { createMcpEndpoints, type McpEndpoints } from "../../../src/mcp/transports/endpoints.ts";
import { addAccount } from "../../support/post-rows.ts";
import { createFileContext, type FileContext } from "../../support/file-context.ts";
import { startTestServer, type TestServer } from "../../support/http.ts";
import { fixture } from "../../support/media.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { createToolbox } from "../../../src/toolkit/toolbox.ts";
import { connectPeer, type Line, type Peer, type Question, type Wire } from "../peers.ts";

const LINES: Line[] = ["sdk 1", "sdk 2, sessions", "sdk 2, stateless"];
const MIB = 1024 ** 2;

/** A picture with much behind its end, which no reader minds. */
const LARGE = Buffer.concat([fixture("photo.png"), Buffer.alloc(3 * MIB)]);

interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
}

function expectRising(seen: readonly Progress[], total: number): void {
  const numbers = seen.map(({ progress }) => progress);
  expect(numbers.length).toBeGreaterThan(0);
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  expect(numbers.at(-1)).toBe(total);
  expect(new Set(seen.map((one) => one.total))).toEqual(new Set([total]));
}

describe("over HTTP", () => {
  let ctx: FileContext;
  let endpoints: McpEndpoints;
  let http: TestServer;
  let key: string;
  let origin: string;
  const source = new EventEmitter();

  /** `/whole.png` comes in pieces, `/stuck.png` begins and never ends. */
  const files = createServer(async (request, response) => {
    const isStuck = request.url === "/stuck.png";
    response.writeHead(200, { "content-type": "image/png", "content-length": LARGE.length });
    if (isStuck) {
      response.write(LARGE.subarray(0, MIB));
      source.emit("stuck");
      return void response.once("close", () => source.emit("gone"));
    }
    await writeSlowly(response, ctx);
  });

  beforeAll(async () => {
    const { tools, platforms } = await loadCatalog();
    ctx = await createFileContext({
      platforms: new Map(platforms.map((platform) => [platform.name, platform])),
    });
    await addAccount(ctx.store, { id: "acc_1" });
    endpoints = createMcpEndpoints({ toolbox: createToolbox(ctx, tools), ctx, version: "1.2.3" });
    http = await startTestServer(ctx, tools, { mcp: endpoints });
    key = await http.keyFor("default");
    files.listen(0, "127.0.0.1");
    await once(files, "listening");
    origin = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
  });

  afterAll(async () => {
    await endpoints.close();
    await http[Symbol.asyncDispose]();
    files.closeAllConnections();
    files.close();
    await ctx[Symbol.asyncDispose]();
  });

  const connect = (line: Line, wire: Wire = "/mcp"): Promise<Peer> =>
    connectPeer({ wire, line, port: http.port, key });
  const storedFiles = async (peer: Peer): Promise<number> =>
    (await peer.call("list_files")).structuredContent.files.length;

  describe.each(LINES)("a client of %s", (line) => {
    it("is told how far an import is", async () => {
      await using peer = await connect(line);
      const seen: Progress[] = [];
      const result = await peer.call(
        "upload_file",
        { url: `${origin}/whole.png` },
        { onprogress: (one) => seen.push(one) },
      );
      expect(result.structuredContent.file).toMatchObject({ status: "ready", sizeBytes: LARGE.length });
      expectRising(seen, LARGE.length);
      expect(seen.length).toBeGreaterThan(1);
    });

    it("takes an import back, and nothing of it stays", async () => {
      await using peer = await connect(line);
      const before = await storedFiles(peer);
      const cancel = new AbortController();
      const stuck = once(source, "stuck");
      const gone = once(source, "gone");
      const call = peer
        .call("upload_file", { url: `${origin}/stuck.png` }, { signal: cancel.signal })
        .catch((error: unknown) => error);
      await stuck;
      cancel.abort("enough");
      await gone;
      expect(await call).toBeInstanceOf(Error);
      await expect.poll(() => storedFiles(peer)).toBe(before);
    });

    it("is told how far a batch is", async () => {
      await using peer = await connect(line);
      const seen: Progress[] = [];
      const posts = Array.from({ length: 30 }, (_, index) => ({
        accountId: "acc_1",
        caption: `${line} ${index}`,
        scheduledAt: "2027-01-01T00:00:00Z",
      }));
      const result = await peer.call("schedule_posts", { posts }, { onprogress: (one) => seen.push(one) });
      expect(result.structuredContent.results.length).toBe(30);
      expectRising(seen, 30);
    });

    it("takes a batch back, and nothing of it is scheduled", async () => {
      await using peer = await connect(line);
      const cancel = new AbortController();
      const post = { accountId: "acc_1", caption: `Never of ${line}`, scheduledAt: "2027-01-01T00:00:00Z" };
      const stuck = once(source, "stuck");
      const gone = once(source, "gone");
      const posts = [post, { ...post, mediaUrl: `${origin}/stuck.png` }];
      const call = peer
        .call("schedule_posts", { posts }, { signal: cancel.signal })
        .catch((error: unknown) => error);
      await stuck;
      cancel.abort("enough");
      await gone;
      expect(await call).toBeInstanceOf(Error);
      expect(
        (await peer.call("list_posts", { search: `"Never of ${line}"` })).structuredContent.posts,
      ).toEqual([]);
    });
  });
});

/** In eight pieces, with time enough between them for the clock of progress. */
async function writeSlowly(response: ServerResponse, ctx: FileContext): Promise<void> {
  const size = Math.ceil(LARGE.length / 8);
  for (let start = 0; start < LARGE.length; start += size) {
    await new Promise((resolve) => response.write(LARGE.subarray(start, start + size), resolve));
    await ctx.clock.advance(200);
  }
  response.end();
}

describe.each(LINES)("the product on standard streams, with a client of %s", (line) => {
  const folder = temporaryFolder();
  const path = join(folder.path, "large.png");
  const asked: Question[] = [];
  let peer: Peer;

  beforeAll(async () => {
    writeFileSync(path, LARGE);
    const env = {
      PATH: process.env["PATH"] ?? "",
      POSTHORN_DATA_DIR: join(folder.path, "data"),
      POSTHORN_LOG_LEVEL: "warn",
      POSTHORN_UPLOAD_FOLDERS: folder.path,
    };
    const args = [inject("program"), "stdio"];
    const person = (question: Question) => {
      asked.push(question);
      return { action: "decline" } as const;
    };
    peer = await connectPeer({
      wire: "stdio",
      line,
      port: 0,
      key: "",
      person,
      process: { command: process.execPath, args, env },
    });
  });

  afterAll(async () => {
    await peer[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  it("tells how far a file of this machine is read", async () => {
    const seen: Progress[] = [];
    const result = await peer.call("upload_file", { path }, { onprogress: (one) => seen.push(one) });
    expect(result.structuredContent.file).toMatchObject({ name: "large.png", status: "ready" });
    expectRising(seen, LARGE.length);
  });

  it("publishes nothing that the person declined, and connects nothing", async () => {
    const { accounts } = (await peer.call("list_accounts")).structuredContent;
    const declined = await peer.call("schedule_post", { accountId: accounts[0].id, caption: "Now?" });
    expect(declined).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("nothing was done") }],
    });
    expect((await peer.call("list_posts")).structuredContent.posts).toEqual([]);
    const connecting = await peer.call("connect_channel", { provider: "webhook" });
    expect(connecting).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("nothing is connected") }],
    });
    expect(asked.map(({ message }) => message)).toEqual([
      "Publish now on My feed: “Now?”?",
      expect.stringContaining("Open this page of Posthorn"),
    ]);
    expect(asked[1]?.url).toMatch(/^http:\/\/localhost:\d+\/connect\//);
  });
});
