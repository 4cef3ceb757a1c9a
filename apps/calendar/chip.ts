import { element } from "../shared/dom.ts";
import { STATUSES } from "../shared/statuses.ts";
import { canMove, channelOf, placeOf, type CalendarPost } from "./posts.ts";
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

export function countOf(posts: readonly CalendarPost[]): string {
  return posts.length === 1 ? "1 post" : `${posts.length === 0 ? "no" : posts.length} posts`;
}
