import type { ComponentChildren } from "preact";
import type { CalendarPost } from "./posts.ts";
import type { Day } from "../../shared/zone.ts";

/** What a person asked to see. */
export type CalendarItem =
  | { readonly kind: "post"; readonly id: string; readonly day: Day }
  | { readonly kind: "draft"; readonly id: string; readonly day: Day }
  | { readonly kind: "day"; readonly day: Day }
  | { readonly kind: "slot"; readonly accountId: string; readonly at: number };

/** What the page around the calendar draws or says itself. The MCP App sets none of it. */
export interface CalendarOptions {
  /** Posts are tiles of two lines with these. Left out: one line each. */
  readonly tiles?: {
    pictureUrl(mediaUrl: string): string;
    /** The marks of channels' platforms. `provider`: used if a channel is unknown. */
    markOf(accountIds: readonly string[], provider: string | null): ComponentChildren;
    /** What a channel is called, with its platform. */
    nameOf(accountId: string): string;
    /** Distinguishes a channel from others of its platform. Null: it is the only one. */
    placeOf(accountId: string): string | null;
    /** Whether the channel is paused, so that its posts wait. */
    isPaused(accountId: string): boolean;
  };
  /** Each day has dots for its posts: there is no room for words. */
  readonly hasDots?: boolean;
  /** Where a series is shown. */
  seriesAddress?(draftId: string): string;
  /** False: posts stay where they are. */
  readonly mayMove?: boolean;
  /** Replaces the calendar's own panel, toolbar and legend. */
  onOpen?(opened: CalendarItem): void;
  onMoved?(post: CalendarPost, sentence: string, undo: () => void): void;
  onComplaint?(sentence: string): void;
  /** After a change that was made. */
  onHint?(sentence: string): void;
}
