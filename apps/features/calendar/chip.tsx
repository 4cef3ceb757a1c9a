import { useState } from "preact/hooks";
import { DRAFT_STATES } from "../../shared/drafts.ts";
import { standingOf } from "../../shared/statuses.ts";
import { classes } from "../../ui/classes.ts";
import type { App } from "./app.ts";
import { openOne } from "./open.ts";
import { channelOf, placeOf, type CalendarDraft, type CalendarPost, type FreeSlot } from "./posts.ts";
import { isMovable, type State } from "./state.ts";
import { Sign } from "../../ui/tool.tsx";

interface ChipProps<One> {
  readonly app: App;
  readonly state: State;
  readonly one: One;
  /** Whether the Tab key stops here. */
  readonly isReachable: boolean;
}

/** A post in a cell, or a draft: nothing of that goes out before a person approves it. */
export function Chip({ app, state, one, isReachable }: ChipProps<CalendarPost | CalendarDraft>) {
  const { tiles } = state.options;
  const look = "status" in one ? lookOfPost(state, one) : lookOfDraft(state, one);
  const time = state.formats.time(look.at);
  const name = [time, look.place, one.title, look.label, ...look.more]
    .filter((text) => text !== null)
    .join(", ");
  return (
    <button
      type="button"
      class={classes("chip", ...look.classes, tiles !== undefined && "tile")}
      data-key={`chip:${one.id}`}
      data-id={one.id}
      tabIndex={isReachable ? 0 : -1}
      title={name}
      aria-keyshortcuts={look.canBeMoved ? "M" : undefined}
      onClick={(event) => {
        event.stopPropagation();
        openOne(app, one);
      }}
    >
      {tiles !== undefined && look.mediaUrl !== "" && (
        <Thumb key={look.mediaUrl} src={tiles.pictureUrl(look.mediaUrl)} />
      )}
      <Sign sign={look.sign} says={name} />
      <span class="time" aria-hidden="true">
        {time}
      </span>{" "}
      <PlaceName place={look.place} />
      {tiles?.markOf(look.accountIds, look.provider)}
      <span class="title" dir="auto" aria-hidden="true">
        {one.title}
      </span>
    </button>
  );
}

interface ChipContent {
  readonly at: number;
  readonly accountIds: readonly string[];
  /** Null: the channel says it. */
  readonly provider: string | null;
  readonly place: string | null;
  readonly label: string;
  readonly sign: string;
  /** What else its name says. */
  readonly more: readonly (string | null)[];
  readonly classes: readonly (string | false)[];
  readonly mediaUrl: string;
  readonly canBeMoved: boolean;
}

function lookOfPost(state: State, post: CalendarPost): ChipContent {
  const { accountId, provider, mediaUrl } = post;
  const { tiles } = state.options;
  const place = tiles === undefined ? placeOf(state.calendar, post) : tiles.placeOf(accountId);
  const doing = state.busy.get(post.id) ?? null;
  const canBeMoved = isMovable(state, post);
  const { look, ...standing } = standingOf(post, state.now, tiles?.isPaused(accountId));
  return {
    ...standing,
    at: post.scheduledAt,
    accountIds: [accountId],
    provider,
    place,
    more: [channelOf(state.calendar, post), doing],
    classes: [
      look,
      place !== null && "placed",
      canBeMoved && "movable",
      doing !== null && "busy",
      state.move?.id === post.id && "taken",
    ],
    mediaUrl,
    canBeMoved,
  };
}

function lookOfDraft({ options: { tiles }, calendar }: State, draft: CalendarDraft): ChipContent {
  const accountIds = draft.targets.map(({ accountId }) => accountId);
  const more = accountIds.length > 1 ? ` +${accountIds.length - 1}` : "";
  const [place] = accountIds.flatMap((id) => tiles?.placeOf(id) ?? []);
  return {
    ...DRAFT_STATES[draft.state],
    at: draft.at,
    accountIds,
    provider: null,
    place: place === undefined ? null : place + more,
    more: accountIds.map((id) => tiles?.nameOf(id) ?? calendar.names.get(id) ?? null),
    classes: ["draft", draft.state],
    mediaUrl: "",
    canBeMoved: false,
  };
}

const TAIL_CHARS = 5;

/** The name of what it stands in says it whole. Cut in the middle: where there is no room, names still differ by their ends. */
function PlaceName({ place }: { readonly place: string | null }) {
  if (place === null) return null;
  const letters = [...place];
  const tail = letters.splice(-TAIL_CHARS).join("");
  return (
    <>
      <span class="place" dir="auto" aria-hidden="true">
        <span class="start">{letters.join("")}</span>
        <span>{tail}</span>
      </span>{" "}
    </>
  );
}

/** Nothing for videos and for files that cannot be read. */
function Thumb({ src }: { readonly src: string }) {
  const [isMissing, setIsMissing] = useState(false);
  if (isMissing) return null;
  // From the cache and at once: on another day it is drawn anew, and would flicker.
  return (
    <img
      class="thumb"
      src={src}
      alt=""
      decoding="sync"
      draggable={false}
      onError={() => setIsMissing(true)}
    />
  );
}

/** A free time, where a click begins a post. */
export function Slot({ state, one, isReachable }: Omit<ChipProps<FreeSlot>, "app">) {
  const { accountId, at } = one;
  const { tiles, onOpen } = state.options;
  const channel = state.calendar.names.get(accountId) ?? accountId;
  const time = state.formats.time(at);
  const place = tiles?.placeOf(accountId) ?? null;
  // The visible text comes first in the name.
  const name = `${time}${place === null ? "" : ` ${place},`} free on ${channel}, write a post`;
  return (
    <button
      type="button"
      class="slot"
      data-key={`slot:${accountId}:${at}`}
      tabIndex={isReachable ? 0 : -1}
      title={name}
      onClick={(event) => {
        event.stopPropagation();
        onOpen?.({ kind: "slot", accountId, at });
      }}
    >
      <span class="time" role="img" aria-label={name}>
        {time}
      </span>{" "}
      {tiles?.markOf([accountId], null)}
      {place === null ? (
        <span class="word" aria-hidden="true">
          free
        </span>
      ) : (
        <PlaceName place={place} />
      )}
    </button>
  );
}

/** The free times of an hour where there is no room for buttons: one mark a time. */
export function FreeTimes({ state, slots }: { readonly state: State; readonly slots: readonly FreeSlot[] }) {
  const nameOf = ({ accountId }: FreeSlot): string => state.calendar.names.get(accountId) ?? accountId;
  return (
    <>
      {[...Map.groupBy(slots, ({ at }) => at)].map(([at, ones]) => (
        <span key={at} class="slot" title={ones.map(nameOf).join(", ")}>
          <span class="time">{state.formats.time(at)}</span>
          <span class="word">{ones.length === 1 ? " free" : ` ${ones.length} free`}</span>
        </span>
      ))}
    </>
  );
}
