import type { ClaimedPost } from "../store/engine/claims.ts";

/** Posts one process works on at a time. */
const MAX_RUNNING = 2_048;

/** Those of them that may bring media, which hold files and pictures besides. */
const MAX_RUNNING_WITH_MEDIA = 512;

/** What a publisher works on. */
export class UnderWay {
  #count = 0;
  #withMedia = 0;
  /** Called when nothing runs any more. */
  #onIdle: (() => void) | null = null;

  get count(): number {
    return this.#count;
  }

  /** How many more may be taken up, and how many of them with media. */
  room(): { readonly posts: number; readonly withMedia: number } {
    return { posts: MAX_RUNNING - this.#count, withMedia: MAX_RUNNING_WITH_MEDIA - this.#withMedia };
  }

  begin({ post }: ClaimedPost): void {
    this.#count += 1;
    if (post.is_light === 0) this.#withMedia += 1;
  }

  end({ post }: ClaimedPost): void {
    this.#count -= 1;
    if (post.is_light === 0) this.#withMedia -= 1;
    if (this.#count === 0) this.#onIdle?.();
  }

  /** Resolves when nothing runs any more. */
  async idle(): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }
}
