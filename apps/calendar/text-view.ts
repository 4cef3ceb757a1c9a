import { element } from "../shared/dom.ts";
import { STATUSES } from "../shared/statuses.ts";
import { inOrder } from "./posts.ts";
import { countByStatus, periodDrafts, periodPosts, periodTitle, type State, tellComing } from "./state.ts";

/**
 * The period in a few lines, for a host that gives little room: what needs a look first, then what comes
 * next.
 */
export function renderText(state: State): HTMLElement {
  const posts = periodPosts(state);
  const counts = countByStatus(posts).map(
    ([status, count]) => `${count} ${STATUSES[status].label.toLowerCase()}`,
  );
  const drafts = periodDrafts(state).length;
  if (drafts > 0) counts.push(drafts === 1 ? "1 draft" : `${drafts} drafts`);
  const failed = posts.filter((post) => post.status === "failed");
  const coming = posts.filter((post) => post.status === "scheduled" && post.scheduledAt >= state.now);
  return element(
    "div",
    { class: "brief" },
    element("h1", {}, periodTitle(state)),
    element("p", {}, counts.length === 0 ? "No posts." : `${counts.join(", ")} (${state.zone.name})`),
    ...tellComing(state).map((line) => element("p", { dir: "auto" }, line)),
    element(
      "ul",
      {},
      ...[...inOrder(failed), ...inOrder(coming)].map((post) =>
        element(
          "li",
          { class: post.status },
          element("span", { class: "sign", "aria-hidden": true }, STATUSES[post.status].sign),
          `${state.formats.shortDay(state.zone.read(post.scheduledAt).day)} ${state.formats.time(post.scheduledAt)} `,
          element("span", { dir: "auto" }, post.title),
          post.error === null ? null : element("span", { class: "error", dir: "auto" }, ` ${post.error}`),
        ),
      ),
    ),
  );
}
