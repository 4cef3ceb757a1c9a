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
    super(`Nothing was done: the post was changed elsewhere meanwhile. ${words}`);
    this.post = post;
  }
}

/** Changes a post only if it still is what the person saw. */
export async function changeAsSeen<Seen extends SeenPost, T>(
  seen: Seen,
  how: SeenChange<Seen, T>,
): Promise<T> {
  try {
    return await how.change(seen.updatedAt);
  } catch (error) {
    const post = jsonOf(await how.read().catch(() => null));
    const updatedAt = textOf(post["updatedAt"]);
    if (updatedAt === "" || updatedAt === seen.updatedAt) throw error;
    const others = differing(how.fields, jsonOf(seen), post);
    if (others.length === 0) return changeAsSeen({ ...seen, updatedAt }, how);
    const status = textOf(post["status"]);
    const isOther = others.includes("status") && isStatus(status);
    throw new OtherThanSeen(
      post,
      isOther ? `It has the state “${STATUSES[status].label}” now.` : changedInWords(others, post, how.when),
    );
  }
}
