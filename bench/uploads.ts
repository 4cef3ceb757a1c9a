import { longFilm, type MadeFile } from "../test/support/hostile-media.ts";
import { buildProgram } from "../test/support/built-program.ts";
import { serveFiles, startBuiltServer, type BuiltServer, type Told } from "../test/support/built-server.ts";
import { print } from "./support/report.ts";

/**
 * What films cost the server in memory while they come, each work on a server of its own. The floor is the
 * same server before the work.
 *
 *   npx tsx bench/uploads.ts
 */
const MiB = 1024 * 1024;
const MANY = 16;
const EACH_OF_MANY = 300 * MiB;
const SAMPLE_MS = 50;

type Work = (server: BuiltServer) => Promise<unknown>;

function upload(server: BuiltServer, body: MadeFile): Promise<Told> {
  return server.ask("POST /api/v1/files?name=file", { headers: { "Content-Type": "video/mp4" }, body });
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
  [
    "16 uploads of 300 MB",
    600,
    async (server) => (await Promise.all(films.map((film) => upload(server, film)))).forEach(isStored),
  ],
  [
    "16 imports of 300 MB",
    600,
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

using program = await buildProgram();
print(["work", "idle MiB", "server MiB", "goal", "with its children MiB"], await measureMemory(program.file));
