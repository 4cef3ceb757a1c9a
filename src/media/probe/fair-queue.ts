/** What waits, by owner: owners take turns, and each owner's own come in their order. */
export class FairQueue<T> {
  /** The next owner first; none without anything. */
  readonly #byOwner = new Map<string, T[]>();

  get size(): number {
    return this.#byOwner.size;
  }

  add(ownerId: string, one: T): void {
    const own = this.#byOwner.get(ownerId);
    if (own === undefined) this.#byOwner.set(ownerId, [one]);
    else own.push(one);
  }

  take(): T | null {
    for (const [ownerId, [first, ...rest]] of this.#byOwner) {
      // Behind everybody else.
      this.#byOwner.delete(ownerId);
      if (rest.length > 0) this.#byOwner.set(ownerId, rest);
      if (first !== undefined) return first;
    }
    return null;
  }

  remove(ownerId: string, one: T): void {
    const rest = this.#byOwner.get(ownerId)?.filter((other) => other !== one) ?? [];
    if (rest.length > 0) this.#byOwner.set(ownerId, rest);
    else this.#byOwner.delete(ownerId);
  }

  /** Takes everything. */
  clear(): T[] {
    const all = [...this.#byOwner.values()].flat();
    this.#byOwner.clear();
    return all;
  }
}
