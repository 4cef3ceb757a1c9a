import { join } from "node:path";
import { plainCall } from "../../src/context.ts";
import { loadCatalog } from "../../src/app/setup.ts";
import { onFailure } from "../../src/domain/assertions.ts";
import type { AnyTool } from "../../src/toolkit/define-tool.ts";
import { callerOf } from "../support/context.ts";
import { freshDatabase } from "../support/fresh-schema.ts";
import { queryOf, rawOf } from "../support/handles.ts";
import { addAccount } from "../support/publishing.ts";
import { fromStoredOrNull } from "../../src/domain/sentences.ts";
import { type FinalPost, type Mood, SETTLED_WITHIN_MS } from "./history.ts";
import { type Host, Machine } from "./host.ts";
import { judge, type Outcome } from "./judge.ts";
import { wishesOf } from "./acts-series.ts";
import { TURNS } from "./acts.ts";
import { offsetChangeAfter } from "./judge-times.ts";
import { Network } from "./network.ts";
import { type Channel, People } from "./people.ts";
import { Platforms } from "./platforms.ts";
import { connectPages, RenewedPlatform } from "./renewed-platform.ts";
import { Receivers } from "./receivers.ts";
import { PLATFORMS } from "./thread-platform.ts";
import { company, restore, unrest, wake } from "./unrest.ts";
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

/** Makes a history simpler. */
export interface Shorter {
  /** Names of faults, and of what people do. */
  readonly without?: readonly string[];
  /** For so long there are faults, and people do something. */
  readonly minutes?: number;
  /** Called before anything is booted. */
  readonly watch?: (machine: Machine, network: Network) => void;
}

const MOODS: readonly Mood[] = ["calm", "limits", "wild", "wild", "wild", "wild"];

const CLASSES = Object.keys(PLATFORMS);
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"] as const;
const FIRST_DAY = Date.UTC(2026, 0, 1);
const DAY = 24 * 3_600_000;

/** One history, from the first start to long after the last fault. */
export async function tell(stage: Stage, seed: number, options: Shorter = {}): Promise<Ended> {
  const { without = [], minutes = Infinity } = options;
  const world = new World(seed, 0, without);
  const zone = world.pick(ZONES);
  const start = startIn(world, zone);
  world.skip(start);
  const mood = world.pick(MOODS);
  using _ = enter(world);
  const network = new Network(world);
  const platforms = new Platforms(world);
  for (const [name, server] of platforms.servers()) network.servers.set(name, server);
  const renewed = new RenewedPlatform(world, (request) => platforms.withKey("h", request));
  network.servers.set("class-h.example", (request) => renewed.serve(request));
  const receivers = new Receivers(world);
  network.servers.set("hook.example", (request) => receivers.serve(request));
  const folder = join(stage.folder, "data");
  const machine = new Machine({
    world,
    network,
    folder,
    tools: stage.tools,
    database: stage.database,
    hasServer: world.chance(0.5),
  });
  options.watch?.(machine, network);
  const stray: string[] = [];
  const onStray = (error: unknown): void => {
    if (!/not open|is closed|destroyed/.test(String(error))) stray.push(String(error));
  };
  process.on("unhandledRejection", onStray);
  const stopListening = onFailure((name) => stray.push(`the check ${name} of the product's own failed`));
  try {
    calm(machine, network);
    const first = machine.boot(zone);
    await world.run(1_000);
    const channels: Channel[] = [];
    for (let left = world.between(1, 4); left > 0; left -= 1) {
      const provider = world.pick(CLASSES);
      const isKnown = provider === "class_h" && channels.some((channel) => channel.provider === provider);
      if (isKnown) continue;
      const account = { provider, name: `${provider} ${left}`, inspected_at: world.now };
      const made = world.in(first.realm, async () =>
        provider === "class_h"
          ? (await connectPages(plainCall(first.ctx, callerOf()))).ids
          : [(await addAccount(first.ctx, account)).id],
      );
      await world.run(500);
      for (const id of await made) channels.push({ id, provider, schedule: slotsOf(world, zone) });
    }
    const set = channels.map(({ id, schedule }) =>
      first.call("update_account", { accountId: id, schedule }, callerOf()),
    );
    await world.run(1_000);
    await Promise.all(set);
    const people = new People(machine, channels, callerOf(), platforms.published);
    if (mood === "wild") wake(people, network);
    if (mood === "limits") network.faults = ["slowDown", "rejected", "refused"];
    const forMs = Math.min(world.between(3, 15), minutes) * 60_000;
    const around =
      mood === "wild"
        ? [unrest(people, zone, forMs), ...(world.chance(0.2) ? [restore(people, forMs)] : [])]
        : [company(people, zone, mood === "limits")];
    const lives = [people.live(forMs, TURNS), people.live(forMs, TURNS), ...around];
    const living = Promise.all(lives).catch((error: unknown) => void stray.push(String(error)));
    await world.run(forMs + 120_000);
    calm(machine, network);
    receivers.isCalm = true;
    void keepOneRunning(machine, zone);
    await settle(machine, living);
    await Promise.race([living, world.run(1)]);
    const [last] = machine.living;
    const posts = await readPosts(last);
    const clockAt = people.clock();
    const outcome = {
      wishes: [...people.wishes, ...people.series.flatMap((one) => wishesOf(one, clockAt))],
      series: people.series,
      deeds: people.deeds,
      published: platforms.published,
      hooks: people.hooks,
      told: receivers.told,
      events:
        last === undefined
          ? []
          : await queryOf(last.ctx.store).selectFrom("webhook_deliveries").selectAll().execute(),
      figures: last === undefined ? [] : await readFigures(last, renewed.figures),
      violations: [
        ...platforms.violations,
        ...receivers.violations,
        ...(mood === "wild" ? [] : [...network.violations, ...renewed.violations]),
      ],
      sent: network.sent,
      mood,
      zone,
      channels,
      jumps: machine.jumps,
      glitches: machine.glitches,
      posts,
      clockAt,
      stray: [...stray, ...people.bugs],
    };
    const violations = judge(outcome);
    for (const host of machine.living) host.crash();
    return { seed, violations, trace: world.trace, lasted: world.now - start, posts: posts.length };
  } finally {
    process.off("unhandledRejection", onStray);
    stopListening();
  }
}

/** Any day; now and then a few minutes before the clocks are put forward or back. */
function startIn(world: World, zone: string): number {
  const at = FIRST_DAY + world.between(0, 1_000) * DAY + world.between(0, DAY - 1);
  const change = world.chance(0.15) ? offsetChangeAfter(zone, at) : null;
  return change === null ? at : change - world.between(0, 12 * 60_000);
}

/** No fault happens any more, and what was stopped goes on. */
function calm(machine: Machine, network: Network): void {
  machine.isCalm = true;
  network.faults = [];
  for (const host of machine.hosts) host.realm.frozenUntil = host.cutUntil = 0;
}

/** As long as anything is under way or falls due, and a while more. No longer than it may take. */
async function settle(machine: Machine, living: Promise<unknown>): Promise<void> {
  const { world } = machine;
  let isOver = false;
  void living.then(() => (isOver = true));
  const end = world.elapsed + SETTLED_WITHIN_MS + 120_000;
  for (let quietFrom = world.elapsed; world.elapsed < Math.min(end, quietFrom + QUIET_MS);) {
    await world.run(QUIET_MS / 6);
    if (!isOver || isUnderWay(machine, end - world.elapsed)) quietFrom = world.elapsed;
  }
}

const QUIET_MS = 60_000;
const UNDER_WAY = `SELECT 1 FROM posts JOIN accounts ON accounts.id = account_id
    WHERE accounts.paused = 0 AND (posts.next_at < ? OR posts.lease_worker IS NOT NULL)
  UNION ALL SELECT 1 FROM webhook_deliveries WHERE next_at < ?`;

function isUnderWay({ living: [host], world, skewMs }: Machine, withinMs: number): boolean {
  const until = world.now + skewMs + withinMs;
  return host === undefined || rawOf(host.ctx.store).prepare(UNDER_WAY).get([until, until]) !== undefined;
}

/** As the system does that a service runs under. */
async function keepOneRunning(machine: Machine, zone: string): Promise<void> {
  for (;;) {
    if (machine.living.length === 0) machine.boot(zone);
    await machine.world.sleep(5_000);
  }
}

/** One each two minutes, of every day. */
function slotsOf(world: World, timezone: string): Channel["schedule"] {
  const times = Array.from({ length: 720 }, (_, at) => {
    const minute = at * 2 + world.between(0, 1);
    return `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
  });
  const minGapMinutes = world.pick([0, 0, 3, 5]);
  return {
    timezone,
    minGapMinutes,
    slots: [{ days: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], times }],
  };
}

async function readFigures(
  { ctx }: Host,
  told: ReadonlyMap<string, readonly string[]>,
): Promise<Outcome["figures"]> {
  const posts = queryOf(ctx.store).selectFrom("results as r").innerJoin("posts as p", "p.id", "r.post_id");
  const rows = await posts.select(["p.caption", "p.platform_post_id", "r.h1", "r.h24"]).execute();
  return rows.map(({ caption, platform_post_id: id, h1, h24 }) => ({
    text: caption ?? "",
    stored: `${h1 ?? ""},${h24 ?? ""}`.split(",").filter((one) => one !== ""),
    told: told.get(id ?? "") ?? [],
  }));
}

async function readPosts(host: Host | undefined): Promise<FinalPost[]> {
  if (host === undefined) throw new Error("Nothing runs at the end.");
  const { ctx } = host;
  const held = await queryOf(ctx.store)
    .selectFrom("accounts")
    .select("id")
    .where((eb) => eb.or([eb("paused", "=", 1), eb("status", "<>", "connected")]))
    .execute();
  const rows = await queryOf(ctx.store).selectFrom("posts").selectAll().execute();
  const attempts = await queryOf(ctx.store)
    .selectFrom("attempts")
    .select("post_id")
    .where("outcome", "=", "interrupted")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    channelId: row.account_id,
    caption: row.caption ?? "",
    status: row.status,
    error: row.error === null ? null : String(fromStoredOrNull(row.error)),
    inDoubt: row.in_doubt === 1,
    hasWarnings: row.warnings !== null,
    isTried: row.next_at !== null,
    wasInterrupted: attempts.some(({ post_id }) => post_id === row.id),
    updatedAt: row.updated_at,
    scheduledAt: row.scheduled_at,
    isHeld: held.some(({ id }) => id === row.account_id),
  }));
}
