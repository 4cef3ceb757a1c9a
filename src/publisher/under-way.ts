import type { AppContext } from "../services/context.ts";
import type { ClaimedPost, FullOwners, Room } from "../store/engine/claims.ts";
import type { Lease } from "../store/engine/ledger.ts";

/** Posts one process works on at a time. */
const MAX_RUNNING = 2_048;

/** Those of them that may bring media, which hold files and pictures besides. */
const MAX_RUNNING_WITH_MEDIA = 512;

/** Of both, one owner has this share at most: whose receivers are silent holds up nobody else. */
const SHARE_OF_OWNER = 0.75;

const NOTHING = { posts: 0, withMedia: 0 };

/** What a publisher works on. */
export class UnderWay {
  #count = 0;
  #withMedia = 0;
  readonly #byOwner = new Map<string, { posts: number; withMedia: number }>();
  /** Called when nothing runs any more. */
  #onIdle: (() => void) | null = null;

  get count(): number {
    return this.#count;
  }

  /** How many more may be taken up, and how many of them with media. */
  room(): Room {
    return { posts: MAX_RUNNING - this.#count, withMedia: MAX_RUNNING_WITH_MEDIA - this.#withMedia };
  }

  /** The same of one owner. */
  roomOf(ownerId: string): Room {
    const { posts, withMedia } = this.#byOwner.get(ownerId) ?? NOTHING;
    return {
      posts: MAX_RUNNING * SHARE_OF_OWNER - posts,
      withMedia: MAX_RUNNING_WITH_MEDIA * SHARE_OF_OWNER - withMedia,
    };
  }

  /** Owners that have their share, of posts or of those with media. */
  fullOwners(): FullOwners {
    const owners = [...this.#byOwner.keys()];
    return {
      posts: owners.filter((ownerId) => this.roomOf(ownerId).posts <= 0),
      withMedia: owners.filter((ownerId) => this.roomOf(ownerId).withMedia <= 0),
    };
  }

  begin(claimed: ClaimedPost): void {
    this.#add(claimed, 1);
  }

  end(claimed: ClaimedPost): void {
    this.#add(claimed, -1);
    if (this.#count === 0) this.#onIdle?.();
  }

  #add({ post }: ClaimedPost, by: 1 | -1): void {
    const withMedia = post.is_light === 0 ? by : 0;
    this.#count += by;
    this.#withMedia += withMedia;
    const own = this.#byOwner.get(post.owner_id) ?? NOTHING;
    const now = { posts: own.posts + by, withMedia: own.withMedia + withMedia };
    if (now.posts === 0) this.#byOwner.delete(post.owner_id);
    else this.#byOwner.set(post.owner_id, now);
  }

  /** Resolves when nothing runs any more. */
  async idle(): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }
}

/** Leases on posts whose end could not be written (a full disk); given back once writing works again. */
export class UnwrittenEnds {
  #leases: readonly Lease[] = [];

  add(lease: Lease): void {
    this.#leases = [...this.#leases, lease];
  }

  async abandon({ store, clock }: AppContext): Promise<void> {
    const leases = this.#leases;
    if (leases.length === 0) return;
    await store.claims.abandon(leases, clock.now());
    this.#leases = this.#leases.filter((lease) => !leases.includes(lease));
  }
}
