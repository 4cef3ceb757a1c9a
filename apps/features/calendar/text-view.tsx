import { STATUSES } from "../../shared/statuses.ts";
import { inOrder } from "./posts.ts";
import { comingInWords } from "./coming.ts";
import { countByStatus, periodDrafts, periodPosts, periodTitle, type State, comingLines } from "./state.ts";
import { Sign } from "../../ui/tool.tsx";

/**
 * The period in a few lines, for a host with little room: what needs attention first, then what comes
 * next.
 */
export function TextView({ state }: { readonly state: State }) {
  const posts = periodPosts(state);
  const counts = countByStatus(posts).map(
    ([status, count]) => `${count} ${STATUSES[status].label.toLowerCase()}`,
  );
  const drafts = periodDrafts(state).length;
  if (drafts > 0) counts.push(drafts === 1 ? "1 draft" : `${drafts} drafts`);
  const failed = posts.filter((post) => post.status === "failed");
  const coming = posts.filter((post) => post.status === "scheduled" && post.scheduledAt >= state.now);
  return (
    <div class="brief">
      <h1>{periodTitle(state)}</h1>
      <p>{counts.length === 0 ? "No posts." : `${counts.join(", ")} (${state.zone.name})`}</p>
      {comingLines(state)
        .map(comingInWords)
        .map((line) => (
          <p key={line} dir="auto">
            {line}
          </p>
        ))}
      <ul>
        {[...inOrder(failed), ...inOrder(coming)].map((post) => (
          <li key={post.id} class={post.status}>
            <Sign sign={STATUSES[post.status].sign} />
            {`${state.formats.shortDay(state.zone.read(post.scheduledAt).day)} ${state.formats.time(post.scheduledAt)} `}
            <span dir="auto">{post.title}</span>
            {post.error !== null && (
              <span class="error" dir="auto">
                {` ${post.error}`}
              </span>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
