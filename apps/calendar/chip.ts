import { element } from "../shared/dom.ts";
import { DRAFT_STATES } from "../shared/drafts.ts";
import { standingOf } from "../shared/statuses.ts";
import {
  channelOf,
  placeOf,
  pressingFirst,
  type CalendarDraft,
  type CalendarPost,
  type FreeSlot,
} from "./posts.ts";
import { isMovable, type State } from "./state.ts";

/** A post in a cell. `isReachable`: whether the Tab key stops here. */
export function renderChip(state: State, post: CalendarPost, isReachable: boolean): HTMLElement {
  const { label, sign } = standingOf(post, state.now);
  const time = state.formats.time(post.scheduledAt);
  const { tiles } = state.options;
  const place = tiles === undefined ? placeOf(state.calendar, post) : tiles.placeOf(post.accountId);
  const doing = state.busy.get(post.id) ?? null;
  const canBeMoved = isMovable(state, post);
  const name = [time, place, post.title, label, channelOf(state.calendar, post), doing]
    .filter((text) => text !== null)
    .join(", ");
  return element(
    "button",
    {
      type: "button",
      class: [
        "chip",
        post.status,
        place !== null && "placed",
        canBeMoved && "movable",
        tiles !== undefined && "tile",
        doing !== null && "busy",
        state.move?.id === post.id && "taken",
      ]
        .filter((one) => one !== false)
        .join(" "),
      "data-key": `chip:${post.id}`,
      "data-action": "post",
      "data-id": post.id,
      tabindex: isReachable ? 0 : -1,
      title: name,
      "aria-label": name,
      "aria-keyshortcuts": canBeMoved ? "M" : null,
    },
    ...renderMedia(state, post),
    element("span", { class: "sign", "aria-hidden": true }, sign),
    element("span", { class: "time" }, time),
    " ",
    ...renderPlace(place),
    tiles?.markOf(post.accountId, post.provider) ?? null,
    element("span", { class: "title", dir: "auto" }, post.title),
  );
}

const TAIL_CHARS = 5;

/** Cut in the middle: where there is no room, names still differ by their ends. */
function renderPlace(place: string | null): readonly (HTMLElement | string)[] {
  if (place === null) return [];
  const letters = [...place];
  const tail = letters.splice(-TAIL_CHARS).join("");
  return [
    element(
      "span",
      { class: "place", dir: "auto" },
      element("span", { class: "start" }, letters.join("")),
      element("span", {}, tail),
    ),
    " ",
  ];
}

function renderMedia({ options }: State, { mediaUrl }: CalendarPost): readonly HTMLElement[] {
  if (options.tiles === undefined || mediaUrl === "") return [];
  // Drawn anew with every change: from the cache and at once, or it would flicker.
  const src = options.tiles.pictureUrl(mediaUrl);
  const picture = element("img", { class: "thumb", src, alt: "", decoding: "sync", draggable: "false" });
  // A film has none, nor has what cannot be read.
  picture.addEventListener("error", () => picture.remove());
  return [picture];
}

/** A draft in a cell: nothing of it goes out before a person approves it. */
export function renderDraftChip(state: State, draft: CalendarDraft, isReachable: boolean): HTMLElement {
  const { label, sign } = DRAFT_STATES[draft.state];
  const { tiles } = state.options;
  const first = draft.targets[0]?.accountId ?? "";
  const time = state.formats.time(draft.at);
  const place = tiles?.placeOf(first) ?? null;
  const name = [time, place, draft.title, label].filter((text) => text !== null).join(", ");
  return element(
    "button",
    {
      type: "button",
      class: `chip draft ${draft.state}${tiles === undefined ? "" : " tile"}`,
      "data-key": `chip:${draft.id}`,
      "data-action": "draft",
      "data-id": draft.id,
      tabindex: isReachable ? 0 : -1,
      title: name,
      "aria-label": name,
    },
    element("span", { class: "sign", "aria-hidden": true }, sign),
    element("span", { class: "time" }, time),
    " ",
    ...renderPlace(place),
    tiles?.markOf(first, null) ?? null,
    element("span", { class: "title", dir: "auto" }, draft.title),
  );
}

/** A free time, where a click begins a post. */
export function renderSlot(state: State, { accountId, at }: FreeSlot, isReachable: boolean): HTMLElement {
  const channel = state.calendar.names.get(accountId) ?? accountId;
  const time = state.formats.time(at);
  const { tiles } = state.options;
  const place = tiles?.placeOf(accountId) ?? null;
  // What is seen comes first in the name.
  const name = `${time}${place === null ? "" : ` ${place},`} free on ${channel}, write a post`;
  return element(
    "button",
    {
      type: "button",
      class: "slot",
      "data-key": `slot:${accountId}:${at}`,
      "data-action": "slot",
      "data-account": accountId,
      "data-at": at,
      tabindex: isReachable ? 0 : -1,
      title: name,
      "aria-label": name,
    },
    element("span", { class: "time" }, time),
    " ",
    tiles?.markOf(accountId, null) ?? null,
    ...(place === null ? [element("span", { class: "word" }, "free")] : renderPlace(place)),
  );
}

const DOTS_SHOWN = 3;

/** A dot for each of the first posts and drafts; the cell's name says the rest. */
export function renderDots(cell: Cell): HTMLElement {
  const states = pressingFirst(cell).map((one) => ("status" in one ? one.status : one.state));
  const more = states.length - DOTS_SHOWN;
  return element(
    "span",
    { class: "dots", "aria-hidden": true },
    ...states.slice(0, DOTS_SHOWN).map((state) => element("i", { class: state })),
    more > 0 ? element("span", { class: "more" }, `+${more}`) : null,
  );
}

export interface Cell {
  readonly posts: readonly CalendarPost[];
  readonly drafts: readonly CalendarDraft[];
  readonly slots: readonly FreeSlot[];
}

/** What is in a cell, in words. */
export function countOf({ posts, drafts, slots }: Cell): string {
  const counts = [
    posts.length === 1 ? "1 post" : `${posts.length === 0 ? "no" : posts.length} posts`,
    drafts.length === 0 ? null : drafts.length === 1 ? "1 draft" : `${drafts.length} drafts`,
    slots.length === 0 ? null : `${slots.length} free`,
  ];
  return counts.filter((count) => count !== null).join(", ");
}
