import { join } from "node:path";
import { loadCatalog } from "../../src/app/setup.ts";
import type { AnyTool } from "../../src/toolkit/define-tool.ts";
import { callerOf } from "../support/context.ts";
import { freshDatabase } from "../support/fresh-schema.ts";
import { queryOf } from "../support/handles.ts";
import { addAccount } from "../support/publishing.ts";
import { fromStoredOrNull } from "../../src/domain/sentences.ts";
import type { FinalPost } from "./history.ts";
import { type Host, Machine } from "./host.ts";
import { judge, SETTLED_WITHIN_MS } from "./judge.ts";
import { Network } from "./network.ts";
import { People } from "./people.ts";
import { Platforms } from "./platforms.ts";
import { enter, World } from "./world.ts";

/** What is made once for all worlds. */
export interface Stage {
  readonly tools: readonly AnyTool[];
  readonly database: Buffer;
  /** Where each world has its files: best in memory. */
  readonly folder: string;
}

export async function openStage(folder: string): Promise<Stage> {
  const { tools } = await loadCatalog();
  return { tools, database: await freshDatabase(), folder };
}

export interface Ended {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly trace: readonly string[];
  /** True time that passed, in ms. */
  readonly lasted: number;
  readonly posts: number;
}

const CLASSES = ["class_a", "class_b", "class_c", "class_d", "class_e", "class_f"] as const;
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"] as const;
const FIRST_DAY = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;

/** One history, from the first start to long after the last fault. */
export async function tell(stage: Stage, seed: number): Promise<Ended> {
  const world = new World(seed, 0);
  const start = FIRST_DAY + world.between(0, 1_000) * DAY + world.between(0, DAY - 1);
  world.skip(start);
  using _ = enter(world);
  const network = new Network(world);
  const platforms = new Platforms(world);
  for (const [name, server] of platforms.servers()) network.servers.set(name, server);
  const folder = join(stage.folder, "data");
  const machine = new Machine({ world, network, folder, tools: stage.tools, database: stage.database });
  const zone = world.pick(ZONES);
  const stray: string[] = [];
  const onStray = (error: unknown): void => {
    if (!/not open|is closed|destroyed/.test(String(error))) stray.push(String(error));
  };
  process.on("unhandledRejection", onStray);
  try {
    machine.isCalm = true;
    const first = machine.boot(zone);
    await world.run(1_000);
    machine.isCalm = false;
    const channels = [];
    for (let left = world.between(1, 4); left > 0; left -= 1) {
      const provider = world.pick(CLASSES);
      const { id } = await addAccount(first.ctx, {
        provider,
        name: `${provider} ${left}`,
        inspected_at: world.now,
      });
      channels.push({ id, provider });
    }
    const people = new People(machine, channels, callerOf(), platforms.published);
    const forMs = world.between(3, 15) * 60_000;
    const lives = [people.live(forMs), people.live(forMs), unrest(machine, zone, forMs)];
    const living = Promise.all(lives).catch((error: unknown) => void stray.push(String(error)));
    await world.run(forMs + 120_000);
    calm(machine, network);
    if (machine.living.length === 0) machine.boot(zone);
    await world.run(SETTLED_WITHIN_MS + 120_000);
    await Promise.race([living, world.run(1)]);
    const posts = await readPosts(machine.living[0]);
    const outcome = {
      wishes: people.wishes,
      published: platforms.published,
      violations: platforms.violations,
      posts,
      clockAt: Math.floor(world.now + machine.skewMs),
      stray,
    };
    const violations = judge(outcome);
    for (const host of machine.living) host.crash();
    return { seed, violations, trace: world.trace, lasted: world.now - start, posts: posts.length };
  } finally {
    process.off("unhandledRejection", onStray);
  }
}

/** No fault happens any more, and what was stopped goes on. */
function calm(machine: Machine, network: Network): void {
  machine.isCalm = network.isCalm = true;
  for (const { realm } of machine.hosts) realm.frozenUntil = 0;
}

/** What happens to machines. */
async function unrest(machine: Machine, zone: string, forMs: number): Promise<void> {
  const { world } = machine;
  const end = world.elapsed + forMs;
  while (world.elapsed < end) {
    await world.sleep(world.between(500, 90_000));
    const { living } = machine;
    const what = world.between(1, 100);
    if (living.length === 0 || (what <= 25 && living.length < 3)) machine.boot(zone);
    else if (what <= 55) world.pick(living).crash();
    else if (what <= 65) void world.pick(living).stop();
    else if (what <= 75) freeze(machine, world.pick(living));
    else if (what <= 80) jump(machine);
  }
}

function freeze({ world }: Machine, { realm }: Host): void {
  realm.frozenUntil = world.elapsed + world.between(500, 90_000);
  world.note(`${realm.name} stands still`);
}

function jump(machine: Machine): void {
  const byMs = machine.world.between(-120_000, 120_000);
  machine.setClock(byMs);
  machine.world.note(`the clock is set by ${byMs} ms`);
}

async function readPosts(host: Host | undefined): Promise<FinalPost[]> {
  if (host === undefined) throw new Error("Nothing runs at the end.");
  const { ctx } = host;
  const held = await queryOf(ctx.store).selectFrom("accounts").select("id").where("paused", "=", 1).execute();
  const rows = await queryOf(ctx.store).selectFrom("posts").selectAll().execute();
  return rows.map((row) => ({
    id: row.id,
    caption: row.caption ?? "",
    status: row.status,
    error: row.error === null ? null : String(fromStoredOrNull(row.error)),
    inDoubt: row.in_doubt === 1,
    scheduledAt: row.scheduled_at,
    isHeld: held.some(({ id }) => id === row.account_id),
  }));
}
