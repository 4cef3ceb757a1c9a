import { AppError } from "../../src/domain/errors.ts";
import type { Caller } from "../../src/domain/permissions.ts";
import type { Deed, Hook, Series, Version, Wish } from "./history.ts";
import type { Host, Machine } from "./host.ts";
import type { Publication } from "./platforms.ts";
import { OUTSIDE, type World } from "./world.ts";

/** Nobody waits longer for an answer. */
const PATIENCE_MS = 90_000;

export interface Channel {
  readonly id: string;
  readonly provider: string;
  readonly schedule: {
    readonly timezone: string;
    readonly minGapMinutes?: number;
    readonly slots: readonly { readonly days: readonly string[]; readonly times: readonly string[] }[];
  };
}

export interface Asked {
  readonly deed: Deed;
  readonly over: Promise<Deed>;
}

export type Act = (people: People) => Promise<void>;

export interface Turn {
  readonly name: string;
  readonly act: Act;
}

/** People and their agents: what they do is chosen, and they remember what they did. */
export class People {
  readonly wishes: Wish[] = [];
  readonly series: Series[] = [];
  readonly hooks: Hook[] = [];
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
  async live(forMs: number, turns: readonly Turn[]): Promise<void> {
    const { world } = this;
    const end = world.elapsed + forMs;
    while (world.elapsed < end) {
      await world.sleep(world.between(100, 25_000));
      const { name, act } = world.pick(turns);
      if (this.machine.open.length > 0 && world.allows(name)) await act(this);
    }
  }

  /** What the machines' clock shows. */
  clock(): number {
    return Math.floor(this.world.now + this.machine.skewMs);
  }

  /** Until some milliseconds before or after that moment of the machines' clock. */
  async sleepUntil(at: number): Promise<void> {
    await this.world.sleep(Math.max(0, at - this.clock() + this.world.between(-70, 50)));
  }

  newName(): string {
    return `post ${(this.#names += 1)}`;
  }

  /** Asks some process that lives. Null: none does. */
  ask(
    tool: string,
    args: Record<string, unknown>,
    work: (host: Host) => Promise<Record<string, unknown>> = async (host) =>
      (await host.call(tool, args, this.caller)).result,
  ): Asked | null {
    const { world, machine } = this;
    if (machine.open.length === 0) return null;
    const host = world.pick(machine.open);
    const deed: Deed = {
      tool,
      args,
      invokedAt: world.now,
      clockAt: this.clock(),
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
        const answered = world.in(host.realm, () => work(host));
        answered.then(
          (result) => world.in(OUTSIDE, () => settle("done", result)),
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
export function momentIn(people: People, ms: number): number {
  return Math.ceil((people.clock() + ms) / 1_000) * 1_000;
}

export const iso = (ms: number): string => new Date(ms).toISOString();

export function timeIn(deed: Deed | undefined): number | null {
  const post = deed?.answer["post"] as { scheduledAt?: string } | undefined;
  return post?.scheduledAt === undefined ? null : Date.parse(post.scheduledAt);
}

export function idIn(deed: Deed, key: "post" | "draft"): string | null {
  const found = deed.answer[key] as { id?: string } | undefined;
  return found?.id ?? null;
}

export function newWish(
  name: string,
  channel: Channel,
  versions: Version[],
  approvals: Deed[] | null = null,
): Wish {
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
