import { SECOND } from "../domain/time.ts";
import type { AppContext } from "../services/context.ts";
import { createPublishRun, type PublishRun, type RunOptions } from "../services/publishing/publish-io.ts";
import { leaseFor, type ClaimedPost } from "../store/publishing/claims.ts";
import { readCandidates, readDueHeads, type Candidate, type DueHead } from "../store/publishing/due-posts.ts";

/** How long before its time a post is read: ten thousand take half a second on a machine that does nothing else. */
export const READ_AHEAD_MS = 2 * SECOND;

/** Posts kept at most: what they take is some ten kilobytes each. */
const MAX_KEPT = 10_240;

/** Read at once; whatever else is due meanwhile waits no longer than this takes, some three milliseconds. */
const READ_AT_ONCE = 100;

/**
 * The posts of the next two seconds, read before their time, and what their platforms get made ready: where ten thousand are due at one
 * moment, that takes longer than claiming them. Nothing is decided by it: whoever claims a post finds out whether it is still as it
 * was, and only then is anything of it used.
 */
export class ReadAhead {
  readonly #ctx: AppContext;
  readonly #options: RunOptions;
  #kept: Candidate[] = [];
  readonly #runs = new Map<string, { readonly run: PublishRun; readonly fence: number }>();
  #readUntil = 0;
  #reading: Promise<void> | null = null;
  #isClosing = false;

  constructor(ctx: AppContext, options: RunOptions) {
    this.#ctx = ctx;
    this.#options = options;
  }

  /** The first that want attention by this moment. */
  dueBy(moment: number, limit: number): readonly Candidate[] {
    const due = this.#kept.slice(0, limit);
    const later = due.findIndex(({ post }) => (post.next_at ?? 0) > moment);
    return later === -1 ? due : due.slice(0, later);
  }

  /** What was made for the post as it was claimed. */
  runOf({ lease }: ClaimedPost): PublishRun | undefined {
    const made = this.#runs.get(lease.postId);
    return made?.fence === lease.fence ? made.run : undefined;
  }

  /** Forgets what `dueBy` gave: what could not be claimed of it is read anew. False where it was found elsewhere. */
  drop(found: readonly Candidate[]): boolean {
    if (found[0] === undefined || found[0] !== this.#kept[0]) return false;
    for (const { post } of this.#kept.splice(0, found.length)) this.#runs.delete(post.id);
    return true;
  }

  /** Reads on, beside other work. */
  start(): void {
    if (this.#isClosing) return;
    this.#reading ??= this.#read()
      .catch((error: unknown) =>
        this.#ctx.log.warn({ err: error }, "the next posts could not be read ahead of their time"),
      )
      .finally(() => {
        this.#reading = null;
      });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#reading;
  }

  async #read(): Promise<void> {
    const { clock, db } = this.#ctx;
    const after = Math.max(this.#readUntil, clock.now());
    const until = clock.now() + READ_AHEAD_MS;
    const limit = MAX_KEPT - this.#kept.length;
    if (until <= after || limit <= 0) return;
    this.#readUntil = until;
    let heads: readonly DueHead[] = readDueHeads(db.raw, { after, until, limit, isLightOnly: false });
    while (heads.length > 0 && !this.#isClosing) {
      const next = heads.slice(0, READ_AT_ONCE);
      heads = heads.slice(READ_AT_ONCE);
      // In a transaction: what another one on this connection has not finished yet must not be taken for the post.
      const candidates = await db.commit((raw) => readCandidates(raw, next));
      // Its time has come: from now on they are read when they are claimed.
      if (candidates.some(({ post }) => (post.next_at ?? 0) <= clock.now())) return;
      for (const candidate of candidates) await this.#keep(candidate);
    }
  }

  async #keep(candidate: Candidate): Promise<void> {
    const lease = leaseFor(this.#ctx.workerId, candidate);
    // Where it fails, it fails again when the post is worked on, and is told then.
    const run = await createPublishRun(this.#ctx, { ...candidate, lease }, this.#options).catch(() => null);
    this.#kept.push(candidate);
    if (run !== null) this.#runs.set(lease.postId, { run, fence: lease.fence });
  }
}
