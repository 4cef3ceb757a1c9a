import { computed } from "@preact/signals";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { PostPage } from "../../../../src/domain/posts/post-lists.ts";
import { type CalendarPost, readPost } from "../../../features/calendar/posts.ts";
import { now } from "../../../shared/clock.ts";
import type { Json } from "../../../shared/json.ts";
import { zone } from "../../data/session.ts";
import { learnedPosts } from "../../data/learned-posts.ts";
import { LARGEST_PAGE, listAllPosts } from "../../data/list-posts.ts";
import { call } from "../../data/tools.ts";
import { newestOf } from "../../../shared/newest.ts";
import { sentenceOf } from "../../../shared/texts.ts";
import { type PlanQuery, statusesOf } from "./plan-query.ts";

const PAGE = 100;

/** What is known of posts by now, as the plan shows them. */
export const learnedRows = computed<ReadonlyMap<string, CalendarPost>>(
  () =>
    new Map(
      [...learnedPosts.value.values()].flatMap((post) => readPost(post) ?? []).map((post) => [post.id, post]),
    ),
);

interface Posts {
  readonly posts: readonly CalendarPost[];
  readonly cursor: string | null;
  readonly error: string | null;
  readonly isLoading: boolean;
}

/** Past posts by page, upcoming ones at once. A new `round` reloads. */
export function usePosts(query: PlanQuery, round: number): Posts & { more(): void } {
  const [state, setState] = useState<Posts>({ posts: [], cursor: null, error: null, isLoading: true });
  const latest = useRef(state);
  latest.current = state;
  const run = useRef(0);
  const key = JSON.stringify([argsOf(query), query.isUpcoming]);
  const load = useCallback(
    async (before: readonly CalendarPost[], cursor: string | null, limit: number): Promise<void> => {
      const mine = ++run.current;
      setState((one) => ({ ...one, isLoading: true, error: null }));
      try {
        const page = await loadPage(query, cursor, limit);
        const posts = [...before, ...page.posts.flatMap((post) => readPost(post) ?? [])];
        if (mine === run.current) setState({ posts, cursor: page.nextCursor, error: null, isLoading: false });
      } catch (reason) {
        const error = sentenceOf(reason);
        if (mine === run.current) setState((one) => ({ ...one, error, isLoading: false }));
      }
    },
    [key],
  );
  useEffect(() => {
    setState((one) => ({ ...one, posts: [] }));
    void load([], null, PAGE);
  }, [load]);
  useEffect(() => {
    // As many as are shown, so that no one loses their place.
    if (round > 0) void load([], null, Math.min(LARGEST_PAGE, Math.max(PAGE, latest.current.posts.length)));
  }, [round]);
  const more = useCallback(() => {
    const { posts, cursor, isLoading } = latest.current;
    if (!isLoading) void load(cursor === null ? [] : posts, cursor, PAGE);
  }, [load]);
  return { ...state, posts: state.posts.map((post) => newestOf(post, learnedRows.value)), more };
}

function argsOf({ channels, states, label, search, isUpcoming }: PlanQuery): Json {
  const statuses = statusesOf(states);
  return {
    ...(channels.length > 0 && { accountId: channels }),
    ...(statuses !== null && statuses.length > 0 && { status: statuses }),
    ...(label !== "" && { label: [label] }),
    ...(search !== "" && { search }),
    ...(isUpcoming && { from: zone.value.read(now()).day }),
  };
}

async function loadPage(query: PlanQuery, cursor: string | null, limit: number): Promise<PostPage> {
  const args = argsOf(query);
  // The server lists the latest first, so the next ones are at the end of its last page.
  if (query.isUpcoming) return { posts: (await listAllPosts(args)).reverse(), nextCursor: null };
  return call("list_posts", { ...args, limit, ...(cursor !== null && { cursor }) });
}
