import { interlacedPng, longFilm, type MadeFile } from "../test/support/hostile-media.ts";
import { buildProgram } from "../test/support/built-program.ts";
import { serveFiles, startBuiltServer, type BuiltServer, type Told } from "../test/support/built-server.ts";
import { percentile, print } from "./support/report.ts";

/**
 * What films cost the server in memory while they come, each work on a server of its own, and how late posts
 * go out while large pictures are looked at. The floor of memory is the same server before the work.
 *
 *   npx tsx bench/uploads.ts
 */
const MiB = 1024 * 1024;
const LARGE = 600 * MiB;
const MANY = 16;
const EACH_OF_MANY = 300 * MiB;
const SAMPLE_MS = 50;

type Work = (server: BuiltServer) => Promise<unknown>;

function upload(server: BuiltServer, body: MadeFile | Buffer, type = "video/mp4"): Promise<Told> {
  return server.ask("POST /api/v1/files?name=file", { headers: { "Content-Type": type }, body });
}

async function importFrom(server: BuiltServer, url: string): Promise<Told> {
  const body = Buffer.from(JSON.stringify({ url }));
  return server.ask("POST /api/v1/files", { headers: { "Content-Type": "application/json" }, body });
}

const isStored = ({ status, body }: Told): void => {
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
};

const films = Array.from({ length: MANY }, () => longFilm(EACH_OF_MANY));
const WORKS: readonly (readonly [string, number, Work])[] = [
  ["one upload of 600 MB", 220, async (server) => isStored(await upload(server, longFilm(LARGE)))],
  [
    "one import of 600 MB",
    220,
    async (server) => {
      await using source = await serveFiles([longFilm(LARGE)]);
      isStored(await importFrom(server, source.url(0)));
    },
  ],
  [
    "16 uploads of 300 MB",
    300,
    async (server) => (await Promise.all(films.map((film) => upload(server, film)))).forEach(isStored),
  ],
  [
    "16 imports of 300 MB",
    300,
    async (server) => {
      await using source = await serveFiles(films);
      (await Promise.all(films.map((_, at) => importFrom(server, source.url(at))))).forEach(isStored);
    },
  ],
];

async function measureMemory(file: string): Promise<string[][]> {
  const rows: string[][] = [];
  for (const [name, goal, work] of WORKS) {
    await using server = await startBuiltServer(file);
    const idle = server.memoryMiB().server;
    let [most, all] = [0, 0];
    const timer = setInterval(() => {
      const now = server.memoryMiB();
      [most, all] = [Math.max(most, now.server), Math.max(all, now.all)];
    }, SAMPLE_MS);
    await work(server).finally(() => clearInterval(timer));
    rows.push(
      [name, idle, most, goal, all].map((cell) => (typeof cell === "number" ? cell.toFixed(0) : cell)),
    );
  }
  return rows;
}

/** Milliseconds by which posts of text and of a picture start late while eight large pictures are looked at. */
async function measureLateness(file: string): Promise<{ text: number[]; picture: number[] }> {
  await using server = await startBuiltServer(file);
  const headers = { "Content-Type": "application/json" };
  const call = async (target: string, json?: object): Promise<any> =>
    (await server.ask(target, json ? { headers, body: Buffer.from(JSON.stringify(json)) } : {})).body;
  const accounts: string[] = [];
  for (let at = 0; at < 10; at += 1)
    accounts.push((await call("POST /api/v1/tools/connect_channel", { provider: "feed" })).result.account.id);
  const small = (await upload(server, await interlacedPng(64, 64, 8), "image/png")).body.file.url;
  const large = await interlacedPng(9_400, 9_400, 8);
  const late = { text: [] as number[], picture: [] as number[] };
  const busy = Array.from({ length: 8 }, () => upload(server, large, "image/png"));
  const ids: [keyof typeof late, string][] = [];
  for (const [at, accountId] of accounts.entries()) {
    const kind = at % 2 === 0 ? "text" : "picture";
    const scheduledAt = new Date(Date.now() + 1_000 + at * 200).toISOString();
    const media = kind === "picture" ? { mediaUrl: small } : {};
    ids.push([
      kind,
      (await call("POST /api/v1/posts", { accountId, caption: "Due", scheduledAt, ...media })).post.id,
    ]);
  }
  await Promise.all(busy);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  for (const [kind, id] of ids) {
    const { post } = await call(`GET /api/v1/posts/${id}`);
    late[kind].push(Date.parse(post.publishedAt) - Date.parse(post.scheduledAt));
  }
  return late;
}

using program = await buildProgram();
print(["work", "idle MiB", "server MiB", "goal", "with its children MiB"], await measureMemory(program.file));
const { text, picture } = await measureLateness(program.file);
print(
  ["post while 8 pictures are looked at", "p50 ms late", "most"],
  [
    ["text", text],
    ["picture", picture],
  ].map(([name, times]) => [
    String(name),
    ...[50, 100].map((share) => percentile(times as number[], share).toFixed(0)),
  ]),
);
