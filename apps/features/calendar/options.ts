import type { ComponentChildren } from "preact";
import type { CalendarPost } from "./posts.ts";
import type { Day } from "../../shared/zone.ts";

/** What a person asked to see. */
export type Opened =
  | { readonly kind: "post"; readonly id: string; readonly day: Day }
  | { readonly kind: "draft"; readonly id: string; readonly day: Day }
  | { readonly kind: "day"; readonly day: Day }
  | { readonly kind: "slot"; readonly accountId: string; readonly at: number };

/** What a page around the calendar draws or tells itself. The MCP App leaves all of it out. */
export interface CalendarOptions {
  /** Posts are tiles of two lines with these. Left out: one line each. */
  readonly tiles?: {
    pictureUrl(mediaUrl: string): string;
    /** The mark of a channel's platform. `provider`: where nothing is known of the channel. */
    markOf(accountId: string, provider: string | null): ComponentChildren;
    /** What tells a channel from others of its platform. Null: there is no other. */
    placeOf(accountId: string): string | null;
  };
  /** Each day has dots for its posts: there is no room for words. */
  readonly hasDots?: boolean;
  /** Where a series is shown. */
  seriesAddress?(draftId: string): string;
  /** False: posts stay where they are. */
  readonly mayMove?: boolean;
  /** In the place of the calendar's own panel, toolbar and legend. */
  onOpen?(opened: Opened): void;
  onMoved?(post: CalendarPost, sentence: string, undo: () => void): void;
  onComplaint?(sentence: string): void;
  /** After a change that was made. */
  onHint?(sentence: string): void;
}
