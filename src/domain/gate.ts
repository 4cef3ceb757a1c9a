import { AppError } from "./errors.ts";

export interface GateOptions {
  /** Of one owner at a time; default: all of them. */
  readonly maxPerOwner?: number;
  /** Of one owner that may wait for a place; default: any number. */
  readonly maxWaitingPerOwner?: number;
  /** What an owner hears of whom still more wait: what there is too much of, and the next step. */
  readonly tooMany?: string;
}

interface Owner {
  inside: number;
  readonly waiting: (() => void)[];
}

/**
 * A fair semaphore: lets so many through at a time, and of each owner no more than a share, so that there is
 * always a place for the others. Who finds none waits. A place that gets free goes to the owners in turn, and
 * for each of them in the order in which they came.
 */
export class Gate {
  readonly #max: number;
  readonly #options: GateOptions;
  /** Those with anybody inside or waiting; who was given a place last stands at the end. */
  readonly #owners = new Map<string, Owner>();
  #inside = 0;

  constructor(max: number, options: GateOptions = {}) {
    this.#max = max;
    this.#options = options;
  }

  /** Throws `rate_limited` where too many of this owner wait already. */
  async pass<T>(work: () => Promise<T>, ownerId = ""): Promise<T> {
    const owner = this.#owners.get(ownerId) ?? { inside: 0, waiting: [] };
    const { maxWaitingPerOwner = Infinity, tooMany } = this.#options;
    if (!this.#hasPlace(owner)) {
      if (owner.waiting.length >= maxWaitingPerOwner) {
        throw new AppError(
          "rate_limited",
          tooMany ?? "Too much of this is going on at once. Try again soon.",
        );
      }
      this.#owners.set(ownerId, owner);
      await new Promise<void>((resolve) => owner.waiting.push(resolve));
    } else this.#admit(ownerId, owner);
    try {
      return await work();
    } finally {
      this.#leave(ownerId, owner);
    }
  }

  #hasPlace(owner: Owner): boolean {
    return this.#inside < this.#max && owner.inside < (this.#options.maxPerOwner ?? this.#max);
  }

  #admit(ownerId: string, owner: Owner): void {
    this.#inside += 1;
    owner.inside += 1;
    this.#owners.delete(ownerId);
    this.#owners.set(ownerId, owner);
  }

  /** Who waited takes over the place at once, so that nobody slips in between. */
  #leave(ownerId: string, owner: Owner): void {
    this.#inside -= 1;
    owner.inside -= 1;
    if (owner.inside === 0 && owner.waiting.length === 0) this.#owners.delete(ownerId);
    for (const [nextId, next] of this.#owners) {
      if (next.waiting.length === 0 || !this.#hasPlace(next)) continue;
      this.#admit(nextId, next);
      return void next.waiting.shift()?.();
    }
  }
}
