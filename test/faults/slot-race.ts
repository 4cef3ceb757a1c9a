import { startServers, type ServersOptions } from "./killed-servers.ts";

const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/** Every quarter of an hour. */
const TIMES = Array.from({ length: 96 }, (_, at) => {
  const [hour, minute] = [Math.floor(at / 4), (at % 4) * 15];
  return `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
});

export interface SlotRace extends ServersOptions {
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

/** Callers at several processes ask for the next free slot of one channel, over and over. */
export async function raceForSlots(race: SlotRace): Promise<SlotRaceResult> {
  await using servers = await startServers(race);
  const accountId = servers.accounts[0] ?? "";
  const slots = [{ days: DAYS, times: TIMES }];
  await servers.call(0, "update_account", { accountId, schedule: { timezone: "Europe/Berlin", slots } });
  const given = new Map<string, string>();
  let [next, kills] = [0, 0];
  const caller = async (at: number): Promise<void> => {
    while (next < race.requests) {
      const n = next++;
      const args = { accountId, slot: "next", caption: `Post ${n}` };
      const { post } = await servers.call(at, "schedule_post", args, `slot-${n}`);
      given.set(post.id, post.scheduledAt);
      if (race.kills > kills && n >= ((kills + 1) * race.requests) / (race.kills + 1)) {
        await servers.kill(kills++);
      }
    }
  };
  await Promise.all(Array.from({ length: race.callers }, (_, at) => caller(at)));
  const times = new Map<string, string>();
  for (let cursor: string | null = null; ;) {
    const page = await servers.call(0, "list_posts", { limit: 500, ...(cursor === null ? {} : { cursor }) });
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
