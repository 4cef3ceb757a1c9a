import { changedInWords, differing } from "../../shared/changed-fields.ts";
import { type Json, jsonOf, textOf } from "../../shared/json.ts";
import { isStatus, STATUSES } from "../../shared/statuses.ts";

/** A post as a person saw it. Its times are as the server writes them. */
interface SeenPost {
  readonly updatedAt: string;
}

interface SeenChange<Seen extends SeenPost, T> {
  /** What others may not have changed meanwhile: where they changed anything else, the change goes through. */
  readonly fields: readonly (keyof Seen & string)[];
  /** Rejects where the post was changed since then. */
  change(ifUpdatedAt: string): Promise<T>;
  read(): Promise<unknown>;
  /** A time in words. */
  when(ms: number): string;
}

/** Others changed what the person saw. It says what, and has the post as it is now. */
export class OtherThanSeen extends Error {
  readonly post: Json;

  constructor(post: Json, words: string) {
    super(`Nothing was done: the post was changed elsewhere. ${words}`);
    this.post = post;
  }
}

/** By a post as the person saw it: as others made it, which the person was told. */
const told = new WeakMap<SeenPost, Json>();

/** Changes a post only if it still is what the person saw, or was told. */
export async function changeAsSeen<Seen extends SeenPost, T>(
  seen: Seen,
  how: SeenChange<Seen, T>,
): Promise<T> {
  const known = told.get(seen) ?? jsonOf(seen);
  for (let at = textOf(known["updatedAt"]); ;) {
    try {
      return await how.change(at);
    } catch (error) {
      const post = jsonOf(await how.read().catch(() => null));
      const updatedAt = textOf(post["updatedAt"]);
      if (updatedAt === "" || updatedAt === at) throw error;
      const others = differing(how.fields, known, post);
      if (others.length > 0) {
        told.set(seen, post);
        throw new OtherThanSeen(post, othersInWords(others, post, how.when));
      }
      at = updatedAt;
    }
  }
}

function othersInWords(others: readonly string[], post: Json, when: (ms: number) => string): string {
  const status = textOf(post["status"]);
  return others.includes("status") && isStatus(status)
    ? `It has the state “${STATUSES[status].label}” now.`
    : changedInWords(others, post, when);
}
