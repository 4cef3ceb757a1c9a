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
import { type FinalPost, SETTLED_WITHIN_MS } from "./history.ts";
import { type Host, Machine } from "./host.ts";
import { judge, type Outcome } from "./judge.ts";
import { wishesOf } from "./acts-series.ts";
import { TURNS } from "./acts.ts";
import { offsetChangeAfter } from "./judge-times.ts";
import { ALL_FAULTS, type Arrived, Network } from "./network.ts";
import { type Channel, People } from "./people.ts";
import { Platforms } from "./platforms.ts";
import { connectPages, RenewedPlatform } from "./renewed-platform.ts";
import { Receivers } from "./receivers.ts";
import { PLATFORMS } from "./thread-platform.ts";
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

/** In some worlds nothing fails, and what goes out is held to the second; in some, platforms slow down. */
const MOODS = ["calm", "limits", "wild", "wild", "wild", "wild"] as const;
export type Mood = (typeof MOODS)[number];

const CLASSES = Object.keys(PLATFORMS);
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"] as const;
const FIRST_DAY = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

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
    if (mood === "wild") wake(machine, network);
    if (mood === "limits") network.faults = ["slowDown", "rejected"];
    const people = new People(machine, channels, callerOf(), platforms.published);
    const forMs = Math.min(world.between(3, 15), minutes) * 60_000;
    const around =
      mood === "wild"
        ? [unrest(people, zone, forMs), ...(world.chance(0.2) ? [restore(people, forMs)] : [])]
        : [company(machine, zone)];
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
      sent: mood === "wild" ? [] : network.sent,
      isCalm: mood === "calm",
      zone,
      channels,
      jumps: machine.jumps,
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

/** From here on everything may fail. In some worlds, the process that sends certain posts. */
function wake(machine: Machine, network: Network): void {
  const { world } = machine;
  machine.isCalm = false;
  network.faults = ALL_FAULTS;
  network.end = (realm) => {
    machine.living.find((host) => host.realm === realm)?.crash();
    // The rest with it, for a while: what was under way may be too late by then.
    if (world.chance(0.1) && world.allows("downtime")) void downtime(machine);
  };
  if (world.chance(0.2)) network.kills = (request) => isGuilty(world, request);
}

/** As it goes to its platform: who tells of a post does not carry it. */
const GUILTY = /post \d*7 v/;

function isGuilty(world: World, { body, method, headers }: Arrived): boolean {
  const isPost = method !== "GET" && headers["x-account"] !== undefined && GUILTY.test(body);
  return isPost && world.allows("guilty") && world.chance(0.9);
}

/** Others join it, and everything works. */
async function company(machine: Machine, zone: string): Promise<void> {
  for (let left = machine.world.between(0, 2); left > 0; left -= 1) {
    await machine.world.sleep(machine.world.between(0, 60_000));
    machine.boot(zone);
  }
}

/** As the system does that a service runs under. */
async function keepOneRunning(machine: Machine, zone: string): Promise<void> {
  for (;;) {
    if (machine.living.length === 0) machine.boot(zone);
    await machine.world.sleep(5_000);
  }
}

/** What happens to machines, and how often beside each other. The rest of the time nothing does. */
const UNREST = {
  boot: 22,
  crash: 28,
  stop: 8,
  freeze: 14,
  jump: 5,
  cut: 10,
  downtime: 4,
  copy: 8,
  putBack: 6,
} as const;
export const UNREST_NAMES = [...Object.keys(UNREST), "guilty"];
const CHANCES = Object.entries(UNREST).flatMap(([name, share]) => Array.from({ length: share }, () => name));

async function unrest(people: People, zone: string, forMs: number): Promise<void> {
  const { machine, world } = people;
  const end = world.elapsed + forMs;
  let copy: { readonly file: string; readonly at: number } | null = null;
  while (world.elapsed < end) {
    await world.sleep(world.between(500, 90_000));
    const { living } = machine;
    const [host] = living.length === 0 ? [] : [world.pick(living)];
    const what = world.pick(CHANCES);
    if (host === undefined) machine.boot(zone);
    else if (!world.allows(what)) continue;
    else if (what === "boot" && living.length < 3) machine.boot(zone);
    else if (what === "crash") host.crash();
    else if (what === "stop") void host.stop();
    else if (what === "freeze") freeze(machine, host);
    else if (what === "jump" && machine.server === null) jump(machine);
    else if (what === "cut" && machine.server !== null) cut(host, world);
    else if (what === "downtime") await downtime(machine);
    else if (what === "copy") copy = { file: (await machine.copy()) ?? "", at: world.now };
    else if (what === "putBack" && copy !== null && copy.file !== "") putBack(people, copy);
  }
}

/** For a day at most nothing runs, and often for about as long as posts may be late. */
async function downtime(machine: Machine): Promise<void> {
  for (const host of machine.living) host.crash();
  const ms = machine.world.between(60_000, machine.world.chance(0.5) ? DAY : 2 * HOUR);
  await machine.world.sleep(1_000);
  machine.world.skip(ms);
  machine.world.note(`nothing ran for ${Math.round(ms / 60_000)} minutes`);
}

/** One copy is taken, and put back later. */
async function restore(people: People, forMs: number): Promise<void> {
  const { machine, world } = people;
  await world.sleep(world.between(0, forMs / 2));
  const copy = { file: (await machine.copy()) ?? "", at: world.now };
  await world.sleep(world.between(1_000, forMs / 2));
  if (copy.file !== "" && world.allows("putBack")) putBack(people, copy);
}

/** What was done since the copy is done, and the database knows nothing of it. */
function putBack(people: People, copy: { readonly file: string; readonly at: number }): void {
  for (const host of people.machine.living) host.crash();
  people.machine.putBack(copy.file);
  people.world.note(`the database of ${new Date(copy.at).toISOString()} is put back`);
  for (const hook of people.hooks) hook.isRestored = true;
  for (const deed of people.deeds) if (deed.invokedAt > copy.at - 120_000) deed.isForgotten = true;
  for (const one of people.series)
    if ([one.saved, ...one.approvals, ...one.stops].some(({ isForgotten }) => isForgotten === true))
      one.isForgotten = true;
  for (const wish of people.wishes) {
    const deeds = [
      ...wish.versions.map(({ deed }) => deed),
      ...wish.cancels,
      ...wish.repeats,
      ...(wish.approvals ?? []),
    ];
    // A call that was under way then may be half in the copy.
    if (deeds.some(({ invokedAt }) => invokedAt > copy.at - 120_000)) wish.isForgotten = true;
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

function freeze({ world }: Machine, { realm }: Host): void {
  realm.frozenUntil = world.elapsed + world.between(500, 90_000);
  world.note(`${realm.name} stands still`);
}

function cut(host: Host, world: World): void {
  host.cutUntil = world.elapsed + world.between(500, 60_000);
  world.note(`${host.realm.name} does not reach the database`);
}

function jump(machine: Machine): void {
  const most = machine.world.chance(0.2) ? 5 * HOUR : 120_000;
  const byMs = machine.world.between(-most, most);
  machine.setClock(byMs);
  machine.world.note(`the clock is set by ${byMs} ms`);
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
  return rows.map((row) => ({
    id: row.id,
    channelId: row.account_id,
    caption: row.caption ?? "",
    status: row.status,
    error: row.error === null ? null : String(fromStoredOrNull(row.error)),
    inDoubt: row.in_doubt === 1,
    hasWarnings: row.warnings !== null,
    isTried: row.next_at !== null,
    updatedAt: row.updated_at,
    scheduledAt: row.scheduled_at,
    isHeld: held.some(({ id }) => id === row.account_id),
  }));
}
