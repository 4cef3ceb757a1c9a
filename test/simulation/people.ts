import type { Caller } from "../../src/domain/permissions.ts";
import type { Deed, Version, Wish } from "./history.ts";
import type { Machine } from "./host.ts";
import type { Publication } from "./platforms.ts";
import { OUTSIDE, type World } from "./world.ts";

/** Nobody waits longer for an answer. */
const PATIENCE_MS = 90_000;

interface Channel {
  readonly id: string;
  readonly provider: string;
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
      if (this.machine.living.length > 0) await world.pick(ACTS)(this);
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
        const why = deed.outcome === "refused" ? `: ${String(deed.answer["error"])}` : "";
        world.note(`${tool} → ${deed.outcome}${why}`);
        resolve(deed);
      };
      world.after(PATIENCE_MS, end);
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
            world.in(OUTSIDE, () =>
              settle(isUnknown(error) ? "unknown" : "refused", { error: String(error) }),
            ),
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

function idIn(deed: Deed, key: "post" | "draft"): string | null {
  const found = deed.answer[key] as { id?: string } | undefined;
  return found?.id ?? null;
}

async function schedule(people: People): Promise<void> {
  const { world } = people;
  const channel = world.pick(people.channels);
  const name = people.newName();
  const isNow = world.chance(0.2);
  const at = momentIn(people, world.between(5_000, 8 * 60_000));
  const hasKey = world.chance(0.4);
  const args = {
    accountId: channel.id,
    caption: `${name} v1`,
    ...(isNow ? {} : { scheduledAt: iso(at) }),
    ...(hasKey ? { idempotencyKey: `key ${name}` } : {}),
  };
  const asked = [people.ask("schedule_post", args)];
  // Impatient ones ask twice, with one key.
  if (hasKey && world.chance(0.5)) asked.push(people.ask("schedule_post", args));
  const first = asked[0]?.deed;
  if (first === undefined) return;
  const version = { text: args.caption, scheduledAt: isNow ? first.clockAt - 120_000 : at, deed: first };
  const wish = newWish(name, channel.provider, [version]);
  people.wishes.push(wish);
  const deeds = await Promise.all(asked.map((one) => one?.over));
  for (let tries = 0; hasKey && tries < 3 && deeds.every((deed) => deed?.outcome === "unknown"); tries += 1)
    deeds.push((await people.askAndWait("schedule_post", args)) ?? undefined);
  const ids = new Set(deeds.flatMap((deed) => (deed?.outcome === "done" ? (idIn(deed, "post") ?? []) : [])));
  if (ids.size > 1) throw new Error(`One key gave two posts: ${[...ids].join(", ")}.`);
  wish.id = [...ids][0] ?? null;
  // With one key they are one wish.
  if (wish.id !== null) first.outcome = "done";
  else if (deeds.some((deed) => deed?.outcome === "unknown")) first.outcome = "unknown";
}

function newWish(name: string, channel: string, versions: Version[], approvals: Deed[] | null = null): Wish {
  return { name, channel, id: null, versions, cancels: [], approvals };
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
  // They look at the channel, and tell what they see.
  if (post.error?.startsWith("outcome unknown") === true)
    await people.askAndWait("resolve_post", {
      id: wish.id,
      outcome: people.isOut(wish) ? "published" : "not_published",
    });
  else await people.askAndWait("retry_post", { id: wish.id });
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

const ACTS: readonly Act[] = [schedule, schedule, schedule, schedule, update, update, cancel, retry, pause];
