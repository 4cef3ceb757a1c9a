import { rawOf } from "../support/handles.ts";
import type { Host, Machine } from "./host.ts";
import { ALL_FAULTS, type Arrived, type Network } from "./network.ts";
import type { People } from "./people.ts";
import type { World } from "./world.ts";

/* What happens to machines and their processes while people and agents work with them. */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** From here on everything may fail. In some worlds, the process that sends certain posts. */
export function wake(people: People, network: Network): void {
  const { machine, world } = people;
  machine.isCalm = false;
  network.faults = ALL_FAULTS;
  network.end = (realm) => {
    machine.living.find((host) => host.realm === realm)?.crash();
    // The rest with it, for a while: what was under way may be too late by then.
    if (world.chance(0.1) && world.allows("downtime")) void downtime(people);
  };
  if (world.chance(0.2)) network.kills = (request) => isGuilty(world, request);
}

/** As it goes to its platform: who tells of a post does not carry it. */
const GUILTY = /post \d*7 v/;

function isGuilty(world: World, { body, method, headers }: Arrived): boolean {
  const isPost = method !== "GET" && headers["x-account"] !== undefined && GUILTY.test(body);
  return isPost && world.allows("guilty") && world.chance(0.9);
}

/** Others join it, some are asked to end, and everything works. Where that does no harm, nothing runs for a while. */
export async function company(people: People, zone: string, isDown: boolean): Promise<void> {
  const { machine, world } = people;
  for (let left = world.between(0, 2); left > 0; left -= 1) {
    await world.sleep(world.between(0, 60_000));
    machine.boot(zone);
  }
  await world.sleep(world.between(1_000, 120_000));
  if (machine.living.length > 1 && world.allows("stop")) await dismiss(people, machine.living[0]);
  if (!isDown || world.chance(0.5) || !world.allows("downtime")) return;
  await Promise.all(machine.living.map((host) => dismiss(people, host)));
  world.skip(world.between(60_000, HOUR));
  world.note("nothing ran for a while");
  machine.boot(zone);
}

/** It is given no more calls, and then asked to end, best while it is at work. */
async function dismiss(people: People, host: Host | undefined): Promise<void> {
  if (host === undefined) return;
  const { world, wishes } = people;
  host.isDismissed = true;
  await world.sleep(1_000);
  const times = wishes
    .flatMap(({ versions }) => versions.at(-1)?.scheduledAt ?? [])
    .toSorted((a, b) => a - b);
  const due = times.find((at) => at > people.clock());
  if (due !== undefined && due < people.clock() + 3 * 60_000) await people.sleepUntil(due);
  await world.sleep(world.between(40, 120));
  await host.stop();
}

/** What happens to machines, and how often beside each other. The rest of the time nothing does. */
const UNREST = {
  boot: 22,
  crash: 28,
  stop: 8,
  freeze: 14,
  jump: 5,
  glitch: 4,
  cut: 10,
  downtime: 4,
  copy: 8,
  putBack: 6,
} as const;
export const UNREST_NAMES = [...Object.keys(UNREST), "guilty"];
const CHANCES = Object.entries(UNREST).flatMap(([name, share]) => Array.from({ length: share }, () => name));

export async function unrest(people: People, zone: string, forMs: number): Promise<void> {
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
    else if (what === "glitch" && machine.server === null) await glitch(machine);
    else if (what === "cut" && machine.server !== null) cut(host, world);
    else if (what === "downtime") await downtime(people);
    else if (what === "copy") copy = { file: (await machine.copy()) ?? "", at: world.now };
    else if (what === "putBack" && copy !== null && copy.file !== "") putBack(people, copy);
  }
}

/** For a day at most nothing runs, and often until a post may hardly go out any more. */
async function downtime(people: People): Promise<void> {
  const { machine, world, wishes } = people;
  for (const host of machine.living) host.crash();
  await world.sleep(1_000);
  const times = wishes.flatMap(({ versions }) => versions.at(-1)?.scheduledAt ?? []).filter(Number.isFinite);
  const limits = times.map((at) => at + HOUR - people.clock()).filter((leftMs) => leftMs > 60_000);
  const isClose = limits.length > 0 && world.chance(0.6);
  const ms = isClose ? world.pick(limits) - world.between(0, 45_000) : world.between(60_000, DAY);
  world.skip(ms);
  world.note(`nothing ran for ${Math.round(ms / 60_000)} minutes`);
}

/** One copy is taken, often while something is in doubt, and put back later. */
export async function restore(people: People, forMs: number): Promise<void> {
  const { machine, world } = people;
  await world.sleep(world.between(0, forMs / 2));
  for (let tries = world.chance(0.7) ? 300 : 0; tries > 0 && !isInDoubt(machine); tries -= 1)
    await world.sleep(1_000);
  const copy = { file: (await machine.copy()) ?? "", at: world.now };
  await world.sleep(world.between(1_000, forMs / 2));
  if (copy.file !== "" && world.allows("putBack")) putBack(people, copy);
}

const IN_DOUBT =
  "SELECT 1 FROM effects JOIN posts ON posts.id = post_id WHERE state = 'intent' AND in_doubt = 1";

function isInDoubt({ living: [host] }: Machine): boolean {
  const store = host?.store ?? null;
  return store !== null && rawOf(store).prepare(IN_DOUBT).get([]) !== undefined;
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

/** The clock is wrong for some seconds, as by a bad answer of a time server. */
async function glitch(machine: Machine): Promise<void> {
  const { world } = machine;
  const byMs = world.between(2 * 60_000, 5 * HOUR);
  const one = { from: world.now, to: Infinity, byMs, hosts: machine.living.map(({ realm }) => realm.name) };
  machine.glitches.push(one);
  machine.setClock(byMs);
  world.note(`the clock is wrong by ${byMs} ms`);
  await world.sleep(world.between(500, 8_000));
  one.to = world.now;
  machine.setClock(-byMs);
  world.note("the clock is right again");
}
