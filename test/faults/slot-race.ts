import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { runCli } from "../support/cli.ts";
import { send } from "../support/http.ts";

const KEY = "a-fixed-key-of-forty-characters-or-so-00";
const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/** Every quarter of an hour. */
const TIMES = Array.from({ length: 96 }, (_, at) => {
  const [hour, minute] = [Math.floor(at / 4), (at % 4) * 15];
  return `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
});

export interface SlotRace {
  /** The built program. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  readonly processes: number;
  readonly callers: number;
  readonly requests: number;
  /** How often one of the processes is killed meanwhile, and started again. */
  readonly kills: number;
}

export interface SlotRaceResult {
  /** Posts that there are at the end, and how many times they have. */
  readonly posts: number;
  readonly times: number;
  /** Posts that an answer named and that are not there with that time. */
  readonly lost: readonly string[];
  /** Slots before the last post's that nobody has. */
  readonly gaps: number;
  readonly kills: number;
}

interface Running {
  readonly child: ChildProcess;
  readonly port: number;
}

async function start({ program, env }: SlotRace): Promise<Running> {
  const child = spawn(process.execPath, [program, "serve"], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const port = await new Promise<number>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`A server ended (${code}): ${output}`)));
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const found = /listening on http:\/\/[^\s:]+:(\d+)/.exec(output)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
  });
  return { child, port };
}

/** Callers at several processes ask for the next free slot of one channel, over and over. */
export async function raceForSlots(race: SlotRace): Promise<SlotRaceResult> {
  const env = {
    ...race.env,
    POSTHORN_PORT: "0",
    POSTHORN_API_KEY: KEY,
    POSTHORN_RATE_LIMIT: "1000000",
    POSTHORN_LOG_LEVEL: "error",
  };
  const { accounts } = JSON.parse((await runCli(["accounts"], { env })).stdout) as {
    accounts: { id: string }[];
  };
  const accountId = accounts[0]?.id ?? "";
  const servers = await Promise.all(Array.from({ length: race.processes }, () => start({ ...race, env })));
  try {
    return await run({ ...race, env }, accountId, servers);
  } finally {
    for (const { child } of servers) child.kill("SIGKILL");
    await Promise.all(servers.map(({ child }) => child.exitCode ?? child.signalCode ?? once(child, "exit")));
  }
}

async function run(race: SlotRace, accountId: string, servers: Running[]): Promise<SlotRaceResult> {
  const call = async (at: number, tool: string, args: object, idempotencyKey?: string): Promise<any> => {
    for (;;) {
      const server = servers[at % servers.length];
      const answer = await send(server?.port ?? 0, `POST /api/v1/tools/${tool}`, {
        key: KEY,
        json: args,
        headers: idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey },
      }).catch(() => null);
      if (answer?.status === 200) return answer.json.result;
      // It was killed, or the call is under way still in another one that was.
      const isPassing =
        answer === null || answer.status === 503 || /still running|may have been/.test(answer.text);
      if (!isPassing) throw new Error(`${answer.status} ${answer.text}`);
      await delay(20);
    }
  };
  const slots = [{ days: DAYS, times: TIMES }];
  await call(0, "update_account", { accountId, schedule: { timezone: "Europe/Berlin", slots } });
  const given = new Map<string, string>();
  let [next, kills] = [0, 0];
  const caller = async (at: number): Promise<void> => {
    while (next < race.requests) {
      const n = next++;
      const args = { accountId, slot: "next", caption: `Post ${n}` };
      const { post } = await call(at, "schedule_post", args, `slot-${n}`);
      given.set(post.id, post.scheduledAt);
      if (race.kills > kills && n >= ((kills + 1) * race.requests) / (race.kills + 1)) {
        const victim = kills++ % servers.length;
        servers[victim]?.child.kill("SIGKILL");
        servers[victim] = await start(race);
      }
    }
  };
  await Promise.all(Array.from({ length: race.callers }, (_, at) => caller(at)));
  const times = new Map<string, string>();
  for (let cursor: string | null = null; ;) {
    const page = await call(0, "list_posts", { limit: 500, ...(cursor === null ? {} : { cursor }) });
    for (const post of page.posts) times.set(post.id, post.scheduledAt);
    cursor = page.nextCursor;
    if (cursor === null) break;
  }
  const taken = [...new Set(times.values())].map((time) => Date.parse(time)).sort((a, b) => a - b);
  const gaps = taken.filter((at, index) => index > 0 && at - (taken[index - 1] ?? 0) > 15 * 60_000);
  return {
    posts: times.size,
    times: taken.length,
    lost: [...given].filter(([id, time]) => times.get(id) !== time).map(([id]) => id),
    gaps: gaps.length,
    kills,
  };
}
