import { randomBytes } from "node:crypto";
import { createServer, request, type ClientRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { filmOf, interlacedPng } from "../support/hostile-media.ts";
import { listen } from "../support/listen.ts";

/** What clients that mean no good have at hand. */
export interface Target {
  readonly port: number;
  /** Keys of an owner of their own. */
  readonly keys: { readonly full: string; readonly files: string; readonly read: string };
  /** The hostile owner's channel. */
  readonly accountId: string;
  /** A public feed, of somebody honest. */
  readonly feedId: string;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

type Lane = (target: Target & { readonly source: HostileSource }) => Promise<void>;

/** A source of media that is silent, slow or serves what harms. */
interface HostileSource extends AsyncDisposable {
  readonly url: string;
}

/** A picture just small enough to be unpacked. */
const LARGE_SIDE = 9_400;

/** Nobody is waited for longer than this: what should have been cut is held on to so long. */
const HOLD_MS = 20_000;

/** Each of them goes on until the signal and ends its round; what a single try throws is part of the game. */
export async function runHostileClients(target: Target): Promise<Record<string, number>> {
  await using source = await startHostileSource();
  const rounds: Record<string, number> = {};
  const lanes = Object.entries(LANES).map(async ([name, lane]) => {
    rounds[name] = 0;
    while (!target.signal.aborted) {
      await lane({ ...target, source }).catch(() => {});
      rounds[name] += 1;
      await sleep(50 + target.random() * 200);
    }
  });
  await Promise.all(lanes);
  return rounds;
}

const LANES: Readonly<Record<string, Lane>> = {
  "silent sockets": async ({ port, signal }) => {
    await holdSockets(
      port,
      signal,
      Array.from({ length: 150 }, () => ""),
    );
  },
  "unread pages": async ({ port, signal, feedId }) => {
    const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
    const pages = [`/feed/${feedId}.html`, `/feed/${feedId}.rss`, "/api/v1/openapi.json", "/api/v1/docs"];
    await holdSockets(
      port,
      signal,
      Array.from({ length: 40 }, (_, at) => get(pages[at % pages.length] ?? "/").repeat(20)),
    );
  },
  "unread lists": async ({ port, signal, keys }) => {
    const get = `GET /api/v1/posts?limit=500 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${keys.read}\r\n\r\n`;
    await holdSockets(
      port,
      signal,
      Array.from({ length: 12 }, () => get.repeat(5)),
    );
  },
  "unread event stream": async ({ port, signal, keys }) => {
    const sse = `GET /sse HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${keys.full}\r\nAccept: text/event-stream\r\n\r\n`;
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    socket.write(sse);
    const [head] = await Promise.race([onData(socket), sleep(5_000).then(() => [""])]);
    socket.pause();
    const path = /data: (\/messages\S+)/.exec(String(head))?.[1];
    const call = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "list_posts", arguments: { limit: 500 } },
    };
    for (let at = 0; path !== undefined && at < 200 && !signal.aborted; at += 1)
      await ask(port, `POST ${path}`, { key: keys.full, json: { ...call, id: at } });
    socket.destroy();
  },
  "films with a large index": async ({ port, keys, random }) => {
    const film = filmWithIndex(500_000 + Math.floor(random() * 8_000_000));
    await ask(port, "POST /api/v1/files?name=film.mp4", { key: keys.files, type: "video/mp4", body: film });
  },
  "interlaced pictures": async ({ port, keys }) => {
    const picture = await interlacedPng(LARGE_SIDE, LARGE_SIDE, 8);
    const upload = (): Promise<unknown> =>
      ask(port, "POST /api/v1/files?name=picture.png", { key: keys.files, type: "image/png", body: picture });
    await Promise.all(Array.from({ length: 6 }, upload));
    await sleep(2_000);
  },
  "broken-off uploads": async ({ port, keys, random }) => {
    const outgoing = begin(port, "POST /api/v1/files?name=film.mp4", {
      key: keys.files,
      type: "video/mp4",
      length: 50_000_000,
    });
    outgoing.write(filmWithIndex(1_000));
    outgoing.write(randomBytes(1_000_000));
    await sleep(random() * 3_000);
    outgoing.destroy();
  },
  "abandoned resumable uploads": async ({ port, keys }) => {
    const tus = { "Tus-Resumable": "1.0.0", "Upload-Length": "1000000000" };
    const begun = await ask(port, "POST /api/v1/files/uploads", { key: keys.files, headers: tus });
    const patch = {
      key: keys.files,
      type: "application/offset+octet-stream",
      headers: { "Tus-Resumable": "1.0.0", "Upload-Offset": "0" },
      body: randomBytes(500_000),
    };
    const twice = [1, 2].map(() => ask(port, `PATCH ${begun.location}`, patch));
    await Promise.all(twice);
    await sleep(1_000);
  },
  "imports of a silent server": async ({ port, keys, source }) => {
    const json = { url: `${source.url}/silent` };
    await Promise.all(
      Array.from({ length: 40 }, () => ask(port, "POST /api/v1/files", { key: keys.files, json })),
    );
  },
  "posts whose media harms": async ({ port, keys, accountId, source, random }) => {
    const what = ["bomb.mp4", "picture.png", "trickle", "silent", "endless"][Math.floor(random() * 5)];
    const json = { accountId, mediaUrl: `${source.url}/${what}`, caption: "harm" };
    await ask(port, "POST /api/v1/posts", { key: keys.full, json });
    await sleep(3_000);
  },
  "posts by the hundred": async ({ port, keys, accountId, random }) => {
    const scheduledAt = new Date(Date.now() + 3_600_000 * Math.ceil(random() * 3)).toISOString();
    const posts = Array.from({ length: 100 }, () => ({ accountId, caption: "x".repeat(1_500), scheduledAt }));
    await ask(port, "POST /api/v1/tools/schedule_posts", { key: keys.full, json: { posts } });
    await sleep(1_000);
  },
  "batches of calls": async ({ port, keys }) => {
    const call = (id: number): object => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "list_posts", arguments: { limit: 50 } },
    });
    await ask(port, "POST /mcp", {
      key: keys.full,
      headers: { Accept: "application/json, text/event-stream", "MCP-Protocol-Version": "2025-03-26" },
      json: Array.from({ length: 100 }, (_, id) => call(id)),
    });
  },
  garbage: async ({ port, random }) => {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    socket.write(randomBytes(Math.ceil(random() * 5_000)));
    await sleep(200);
    socket.destroy();
  },
  "wrong keys and wide words": async ({ port, keys, accountId }) => {
    await ask(port, "GET /api/v1/posts", { key: `phk_${"0".repeat(40)}` });
    const metadata = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`key${at}`, 1]));
    await ask(port, "POST /api/v1/posts", { key: keys.full, json: { accountId, caption: "a", metadata } });
  },
};

/** Sockets that say this and never read; each is held until the other side leaves, or long enough. */
async function holdSockets(port: number, signal: AbortSignal, words: readonly string[]): Promise<void> {
  const sockets = words.map((text) => {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    if (text !== "") socket.write(text);
    return socket.pause();
  });
  const left = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)));
  await Promise.race([Promise.all(left), sleep(HOLD_MS, undefined, { signal }).catch(() => {})]);
  for (const socket of sockets) socket.destroy();
}

interface Ask {
  readonly key: string;
  readonly type?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly body?: Uint8Array;
}

/** Whatever becomes of it; what is answered is thrown away. */
function ask(port: number, target: string, { json, body, ...more }: Ask): Promise<{ location: string }> {
  const bytes = json === undefined ? body : Buffer.from(JSON.stringify(json));
  const type = json === undefined ? more.type : "application/json";
  const outgoing = begin(port, target, { ...more, type, length: bytes?.length ?? 0 });
  outgoing.setTimeout(HOLD_MS, () => outgoing.destroy());
  return new Promise((resolve) => {
    outgoing.once("close", () => resolve({ location: "" }));
    outgoing.once("response", (answer) => {
      answer.resume().once("end", () => resolve({ location: answer.headers.location ?? "" }));
    });
    outgoing.end(bytes);
  });
}

function begin(
  port: number,
  target: string,
  { key, type, headers, length }: Omit<Ask, "json" | "body"> & { readonly length: number },
): ClientRequest {
  const [method, path] = target.split(" ");
  return request({
    host: "127.0.0.1",
    port,
    method,
    path,
    agent: false,
    headers: {
      Authorization: `Bearer ${key}`,
      "Content-Length": length,
      ...(type === undefined ? {} : { "Content-Type": type }),
      ...headers,
    },
  }).on("error", () => {});
}

async function startHostileSource(): Promise<HostileSource> {
  const sockets = new Set<Socket>();
  const film = filmWithIndex(12_000_000);
  const picture = await interlacedPng(LARGE_SIDE, LARGE_SIDE, 8);
  const server = createServer((incoming, response) => {
    const name = incoming.url?.slice(1);
    if (name === "silent") return;
    const isFilm = name === "bomb.mp4";
    if (isFilm || name === "picture.png")
      return void response
        .writeHead(200, { "content-type": isFilm ? "video/mp4" : "image/png" })
        .end(isFilm ? film : picture);
    response.writeHead(200, { "content-type": "video/mp4" });
    const timer = setInterval(
      () => response.write(name === "trickle" ? "x" : randomBytes(100_000)),
      name === "trickle" ? 500 : 20,
    );
    response.once("close", () => clearInterval(timer));
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
  });
  const { origin } = await listen(server);
  return {
    url: origin,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function onData(socket: Socket): Promise<string[]> {
  return new Promise((resolve) => socket.once("data", (chunk) => resolve([String(chunk)])));
}

function filmWithIndex(sizes: number): Buffer {
  return Buffer.concat([...filmOf({ sizes }).chunks()]);
}
