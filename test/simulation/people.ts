import { AppError } from "../../src/domain/errors.ts";
import type { Caller } from "../../src/domain/permissions.ts";
import type { Deed, Version, Wish } from "./history.ts";
import type { Machine } from "./host.ts";
import type { Publication } from "./platforms.ts";
import { OUTSIDE, type World } from "./world.ts";

/** Nobody waits longer for an answer. */
const PATIENCE_MS = 90_000;

export interface Channel {
  readonly id: string;
  readonly provider: string;
  readonly schedule: {
    readonly timezone: string;
    readonly slots: readonly { readonly days: readonly string[]; readonly times: readonly string[] }[];
  };
}

interface Asked {
  readonly deed: Deed;
  readonly over: Promise<Deed>;
}

type Act = (people: People) => Promise<void>;

/** People and their agents: what they do is chosen, and they remember what they did. */
export class People {
  readonly wishes: Wish[] = [];
  readonly deeds: Deed[] = [];
  /** What was answered and is no sentence of ours. */
  readonly bugs: string[] = [];
  readonly world: World;
  readonly machine: Machine;
  readonly channels: readonly Channel[];
  readonly caller: Caller;
  #names = 0;

  readonly published: readonly Publication[];

  constructor(
    machine: Machine,
    channels: readonly Channel[],
    caller: Caller,
    published: readonly Publication[],
  ) {
    this.published = published;
    this.world = machine.world;
    this.machine = machine;
    this.channels = channels;
    this.caller = caller;
  }

  /** One thing after another, at random, until the time is over. */
  async live(forMs: number): Promise<void> {
    const { world } = this;
    const end = world.elapsed + forMs;
    while (world.elapsed < end) {
      await world.sleep(world.between(100, 25_000));
      const { name, act } = world.pick(TURNS);
      if (this.machine.living.length > 0 && world.allows(name)) await act(this);
    }
  }

  newName(): string {
    return `post ${(this.#names += 1)}`;
  }

  /** Asks some process that lives. Null: none does. */
  ask(tool: string, args: Record<string, unknown>): Asked | null {
    const { world, machine } = this;
    if (machine.living.length === 0) return null;
    const host = world.pick(machine.living);
    const deed: Deed = {
      tool,
      args,
      invokedAt: world.now,
      clockAt: Math.floor(world.now + machine.skewMs),
      answeredAt: null,
      outcome: "unknown",
      answer: {},
    };
    this.deeds.push(deed);
    world.note(`asks ${host.realm.name}: ${tool} ${JSON.stringify(args)}`);
    const over = new Promise<Deed>((resolve) => {
      let isOver = false;
      const end = (): void => {
        if (isOver) return;
        isOver = true;
        const { error } = deed.answer;
        const why = error === undefined ? "" : `: ${String(error)}`;
        world.note(`${tool} → ${deed.outcome}${why}`);
        resolve(deed);
      };
      world.after(PATIENCE_MS, end);
      const note = (error: unknown): void => {
        const isOurs = error instanceof AppError || host.realm.isDead;
        if (!isOurs) this.bugs.push(`${tool}: ${String(error)}`);
      };
      const settle = (outcome: Deed["outcome"], answer: Record<string, unknown>): void => {
        // The answer may get lost on its way, and so does one that comes too late.
        if (host.realm.isDead || (!machine.isCalm && world.chance(0.02))) return;
        world.after(world.between(1, 20), () => {
          if (isOver) return;
          Object.assign(deed, { answeredAt: world.now, outcome, answer });
          end();
        });
      };
      world.after(world.between(1, 20), () => {
        if (host.realm.isDead) return;
        host.call(tool, args, this.caller).then(
          ({ result }) => world.in(OUTSIDE, () => settle("done", result)),
          (error: unknown) =>
            world.in(OUTSIDE, () => {
              note(error);
              settle(isUnknown(error) ? "unknown" : "refused", { error: String(error) });
            }),
        );
      });
    });
    return { deed, over };
  }

  /** The same, until it is over. */
  async askAndWait(tool: string, args: Record<string, unknown>): Promise<Deed | null> {
    return (await this.ask(tool, args)?.over) ?? null;
  }

  /** Whether it can be seen on its channel. */
  isOut(wish: Wish): boolean {
    return this.published.some(({ text }) => wish.versions.some((version) => version.text === text));
  }

  pickWish(): Wish | null {
    const known = this.wishes.filter(({ id }) => id !== null);
    return known.length === 0 ? null : this.world.pick(known);
  }
}

/** It may have been done. */
function isUnknown(error: unknown): boolean {
  return (
    !(error instanceof Error) ||
    error.name !== "AppError" ||
    /may have been done|unavailable/.test(String(error))
  );
}

/** A moment in whole seconds by the machine's clock. */
function momentIn(people: People, ms: number): number {
  return Math.ceil((people.world.now + people.machine.skewMs + ms) / 1_000) * 1_000;
}

const iso = (ms: number): string => new Date(ms).toISOString();

function timeIn(deed: Deed | undefined): number | null {
  const post = deed?.answer["post"] as { scheduledAt?: string } | undefined;
  return post?.scheduledAt === undefined ? null : Date.parse(post.scheduledAt);
}

function idIn(deed: Deed, key: "post" | "draft"): string | null {
  const found = deed.answer[key] as { id?: string } | undefined;
  return found?.id ?? null;
}

async function schedule(people: People): Promise<void> {
  const { world } = people;
  const channel = world.pick(people.channels);
  const name = people.newName();
  const when = world.pick(["time", "time", "time", "now", "slot"] as const);
  const at = momentIn(people, world.between(5_000, 8 * 60_000));
  const hasKey = world.chance(0.4);
  const args = {
    accountId: channel.id,
    caption: `${name} v1`,
    ...(when === "time" ? { scheduledAt: iso(at) } : {}),
    ...(when === "slot" ? { slot: "next" } : {}),
    ...(hasKey ? { idempotencyKey: `key ${name}` } : {}),
  };
  const asked = [people.ask("schedule_post", args)];
  // Impatient ones ask twice, with one key.
  if (hasKey && world.chance(0.5)) asked.push(people.ask("schedule_post", args));
  const first = asked[0]?.deed;
  if (first === undefined) return;
  const version = { text: args.caption, scheduledAt: when === "time" ? at : -Infinity, deed: first };
  const wish = newWish(name, channel, [version]);
  people.wishes.push(wish);
  const deeds = await Promise.all(asked.map((one) => one?.over));
  for (let tries = 0; hasKey && tries < 3 && deeds.every((deed) => deed?.outcome === "unknown"); tries += 1)
    deeds.push((await people.askAndWait("schedule_post", args)) ?? undefined);
  const ids = new Set(deeds.flatMap((deed) => (deed?.outcome === "done" ? (idIn(deed, "post") ?? []) : [])));
  if (ids.size > 1) throw new Error(`One key gave two posts: ${[...ids].join(", ")}.`);
  wish.id = [...ids][0] ?? null;
  // With one key they are one wish.
  if (wish.id !== null) first.outcome = "done";
  if (when === "slot") wish.slotAt = timeIn(deeds.find((deed) => deed?.outcome === "done"));
  if (wish.id !== null) return;
  if (deeds.some((deed) => deed?.outcome === "unknown")) first.outcome = "unknown";
}

function newWish(name: string, channel: Channel, versions: Version[], approvals: Deed[] | null = null): Wish {
  return {
    name,
    channel: channel.provider,
    channelId: channel.id,
    id: null,
    versions,
    cancels: [],
    repeats: [],
    approvals,
    slotAt: null,
    isForgotten: false,
  };
}

async function update(people: People): Promise<void> {
  const { world } = people;
  const wish = people.pickWish();
  if (wish === null || wish.approvals !== null) return;
  const last = wish.versions.findLast(({ deed }) => deed.outcome !== "refused");
  if (last === undefined) return;
  const isNewText = world.chance(0.5);
  const isNewTime = !isNewText || world.chance(0.3);
  const at = momentIn(people, world.between(2_000, 6 * 60_000));
  const text = isNewText ? `${wish.name} v${wish.versions.length + 1}` : last.text;
  const args = {
    id: wish.id,
    ...(isNewText ? { caption: text } : {}),
    ...(isNewTime ? { scheduledAt: iso(at) } : {}),
  };
  const asked = people.ask("update_post", args);
  if (asked === null) return;
  wish.versions.push({
    text,
    scheduledAt: isNewTime ? at : last.scheduledAt,
    deed: asked.deed,
  });
  wish.slotAt = null;
  await asked.over;
}

async function cancel(people: People): Promise<void> {
  const wish = people.pickWish();
  const asked = wish === null ? null : people.ask("cancel_post", { id: wish.id });
  if (wish === null || asked === null) return;
  wish.cancels.push(asked.deed);
  await asked.over;
}

async function retry(people: People): Promise<void> {
  const wish = people.pickWish();
  if (wish === null) return;
  const got = await people.askAndWait("get_post", { id: wish.id });
  const post = got?.answer["post"] as { status?: string; error?: string } | undefined;
  if (post?.status !== "failed") return;
  // They look at the channel, and tell what they see. Some just try.
  const isUnknownYet = post.error?.startsWith("outcome unknown") === true && people.world.chance(0.8);
  const asked = isUnknownYet
    ? people.ask("resolve_post", { id: wish.id, outcome: people.isOut(wish) ? "published" : "not_published" })
    : people.ask("retry_post", { id: wish.id });
  if (asked === null) return;
  wish.repeats.push(asked.deed);
  await asked.over;
}

/** One writes, somebody changes it meanwhile perhaps, and a person decides about what they saw. */
async function draft(people: People): Promise<void> {
  const { world } = people;
  const channel = world.pick(people.channels);
  const name = people.newName();
  const isTimed = world.chance(0.6);
  const at = momentIn(people, world.between(30_000, 8 * 60_000));
  const text = (version: number): string => `${name} v${version}`;
  const wish = newWish(name, channel, [], []);
  people.wishes.push(wish);
  const save = async (more: Record<string, unknown>): Promise<Deed | null> => {
    const caption = text(wish.versions.length + 1);
    const asked = people.ask("save_draft", { caption, submit: true, ...more });
    if (asked === null) return null;
    const version: Version = {
      text: caption,
      scheduledAt: isTimed ? at : -Infinity,
      deed: asked.deed,
      revision: null,
    };
    wish.versions.push(version);
    const deed = await asked.over;
    version.revision = (deed.answer["draft"] as { revision?: number } | undefined)?.revision ?? null;
    return deed;
  };
  const first = await save({
    targets: [{ accountId: channel.id }],
    ...(isTimed ? { scheduledAt: iso(at) } : {}),
  });
  const id = first === null ? null : idIn(first, "draft");
  if (id === null) return;
  const edits = async (): Promise<void> => {
    for (let left = world.between(0, 2); left > 0; left -= 1) {
      await world.sleep(world.between(0, 20_000));
      await save({ id });
    }
  };
  const decides = async (): Promise<void> => {
    await world.sleep(world.between(0, 30_000));
    for (let tries = 0; tries < 4; tries += 1) {
      const seen = wish.versions.findLast(({ revision }) => typeof revision === "number");
      if (seen?.revision === undefined || seen.revision === null) return;
      const isNo = world.chance(0.15);
      const args = { id, revision: seen.revision, decision: isNo ? "discard" : "approve" };
      const asked = people.ask("decide_draft", args);
      if (asked === null) return;
      if (!isNo) wish.approvals?.push(asked.deed);
      const deed = await asked.over;
      const posts = (deed.answer["draft"] as { posts?: { id: string }[] } | undefined)?.posts ?? [];
      wish.id ??= posts[0]?.id ?? null;
      if (deed.outcome === "done") return;
      await world.sleep(world.between(100, 10_000));
    }
  };
  // Two people may decide at the same moment.
  await Promise.all([edits(), decides(), ...(world.chance(0.3) ? [decides()] : [])]);
}

async function pause(people: People): Promise<void> {
  const channel = people.world.pick(people.channels);
  await people.askAndWait("update_account", { accountId: channel.id, paused: true });
  await people.world.sleep(people.world.between(1_000, 60_000));
  for (let tries = 0; tries < 20; tries += 1) {
    const deed = await people.askAndWait("update_account", {
      accountId: channel.id,
      paused: false,
    });
    if (deed?.outcome === "done") return;
    await people.world.sleep(10_000);
  }
}

/** What people do, and how often beside each other. */
const ACTS: readonly (readonly [name: string, share: number, act: Act])[] = [
  ["schedule", 5, schedule],
  ["update", 2, update],
  ["cancel", 1, cancel],
  ["retry", 1, retry],
  ["draft", 2, draft],
  ["pause", 1, pause],
];
export const ACT_NAMES = ACTS.map(([name]) => name);
const TURNS = ACTS.flatMap(([name, share, act]) => Array.from({ length: share }, () => ({ name, act })));
