import { element } from "../shared/dom.ts";
import { DRAFT_STATES } from "../shared/drafts.ts";
import { STATUSES } from "../shared/statuses.ts";
import {
  canMove,
  channelOf,
  placeOf,
  type CalendarDraft,
  type CalendarPost,
  type FreeSlot,
} from "./posts.ts";
import type { State } from "./state.ts";

/** A post in a cell. `isReachable`: whether the Tab key stops here. */
export function renderChip(state: State, post: CalendarPost, isReachable: boolean): HTMLElement {
  const { label, sign } = STATUSES[post.status];
  const time = state.formats.time(post.scheduledAt);
  const place = placeOf(state.calendar, post);
  const doing = state.busy.get(post.id) ?? null;
  const isMovable = canMove(post) && state.abilities.callsTools && doing === null;
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
        isMovable && "movable",
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
      "aria-keyshortcuts": isMovable ? "M" : null,
    },
    element("span", { class: "sign", "aria-hidden": true }, sign),
    element("span", { class: "time" }, time),
    " ",
    place === null ? null : element("span", { class: "place", dir: "auto" }, place),
    place === null ? null : " ",
    element("span", { class: "title", dir: "auto" }, post.title),
  );
}

/** A draft in a cell: nothing of it goes out before a person approves it. */
export function renderDraftChip(state: State, draft: CalendarDraft, isReachable: boolean): HTMLElement {
  const { label, sign } = DRAFT_STATES[draft.state];
  const time = state.formats.time(draft.at);
  const name = `${time}, ${draft.title}, ${label}`;
  return element(
    "button",
    {
      type: "button",
      class: `chip draft ${draft.state}`,
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
    element("span", { class: "title", dir: "auto" }, draft.title),
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
