import { isJson } from "../../../shared/json.ts";
import type { DraftSnapshot } from "../../../features/draft/changes.ts";

const KEY = "posthorn.review.looks";

/** More drafts than anybody reviews at once; the oldest looks make room. */
const MAX_LOOKS = 60;

/** A browser's storage, as far as it is used. */
interface SnapshotStorage {
  getItem(key: string): string | null;
  setItem(key: string, text: string): void;
}

/** What was last seen of each draft, kept in this browser. */
export class DraftSnapshots {
  readonly #storage: SnapshotStorage;
  /** The version that each draft is compared with while the page is open. */
  readonly #bases = new Map<string, DraftSnapshot | null>();

  constructor(storage: SnapshotStorage) {
    this.#storage = storage;
  }

  /** The version that was seen when the page was last open. Null: the draft is new to this person. */
  baseOf(id: string): DraftSnapshot | null {
    const known = this.#bases.get(id);
    if (known !== undefined) return known;
    const found = this.#read().find((one) => one.id === id) ?? null;
    this.#bases.set(id, found);
    return found;
  }

  /** Records what the screen shows now. */
  record(seen: DraftSnapshot): void {
    this.baseOf(seen.id);
    this.#write([seen, ...this.#read().filter(({ id }) => id !== seen.id)]);
  }

  /** Compares the next versions with this one. */
  compareWith(seen: DraftSnapshot): void {
    this.#bases.set(seen.id, seen);
  }

  forget(id: string): void {
    this.#bases.delete(id);
    this.#write(this.#read().filter((one) => one.id !== id));
  }

  #read(): readonly DraftSnapshot[] {
    try {
      const value: unknown = JSON.parse(this.#storage.getItem(KEY) ?? "[]");
      // Only this page writes it. What an older one wrote is not compared with.
      return Array.isArray(value) ? value.filter(isSnapshot) : [];
    } catch {
      return [];
    }
  }

  #write(looks: readonly DraftSnapshot[]): void {
    try {
      this.#storage.setItem(KEY, JSON.stringify(looks.slice(0, MAX_LOOKS)));
    } catch {
      // The storage is full or forbidden: nothing is marked next time.
    }
  }
}

function isSnapshot(value: unknown): value is DraftSnapshot {
  return (
    isJson(value) &&
    typeof value["id"] === "string" &&
    typeof value["revision"] === "number" &&
    Array.isArray(value["labels"]) &&
    Array.isArray(value["channels"]) &&
    value["channels"].every(
      (one) => isJson(one) && Array.isArray(one["texts"]) && Array.isArray(one["media"]),
    )
  );
}
