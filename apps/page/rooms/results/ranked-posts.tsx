import { formats } from "../../data/session.ts";
import { channelName } from "../../data/shared-data.ts";
import { ChannelLabel } from "../../channel/channel-label.tsx";
import { Picture } from "../../post/picture.tsx";
import { FEW_POSTS } from "./counts.ts";
import { Downloads } from "./downloads.tsx";
import { AGES, type Age, type Figures, METRIC_NAMES, METRICS, type Metric, ranked } from "./metrics.ts";
import { Part } from "./part.tsx";
import { countPosts } from "../../../shared/texts.ts";

const SHOWN = 5;

interface RankedProps {
  readonly posts: readonly Figures[];
  readonly metric: Metric;
  readonly at: Age;
}

/** The posts that did best and, where there are enough, those that did worst. */
export function RankedPosts({ posts, metric, at }: RankedProps) {
  const all = ranked(posts, metric);
  const isEnough = all.length >= FEW_POSTS;
  const title = `Posts by ${METRIC_NAMES[metric].toLowerCase()}`;
  return (
    <Part
      title={title}
      basis={`${countPosts(all.length)} of ${posts.length} have it, ${AGES[at]} after each`}
      actions={<Downloads title={title} rows={() => postRows(all)} />}
    >
      <h3>{isEnough ? "Best" : "All, best first"}</h3>
      <PostList posts={all.slice(0, isEnough ? SHOWN : FEW_POSTS)} first={1} metric={metric} />
      {isEnough ? (
        <>
          <h3>Weakest</h3>
          <PostList posts={all.slice(-SHOWN)} first={all.length - SHOWN + 1} metric={metric} />
        </>
      ) : (
        <p class="note muted">Of fewer than {FEW_POSTS} posts, the order may be chance.</p>
      )}
    </Part>
  );
}

interface PostListProps {
  readonly posts: ReturnType<typeof ranked>;
  readonly first: number;
  readonly metric: Metric;
}

function PostList({ posts, first, metric }: PostListProps) {
  return (
    <ol class="ranked" start={first}>
      {posts.map(({ id, accountId, at, text, mediaUrl, value, values }, place) => (
        <li key={id}>
          <span class="rank">{first + place}</span>
          {mediaUrl === "" ? (
            <span class="picture none" aria-hidden="true" />
          ) : (
            <Picture mediaUrl={mediaUrl} alt="" size={96} />
          )}
          <span class="about">
            <a href={`/app/plan?post=${encodeURIComponent(id)}`} dir="auto">
              {text === "" ? "A post without a text" : text}
            </a>
            <span class="note muted">
              <ChannelLabel accountId={accountId} />{" "}
              {formats.value.shortDay(new Date(at).toISOString().slice(0, 10))}
            </span>
          </span>
          <span class="worth">
            <span>
              <b>{value.toLocaleString("en")}</b> {metric}
            </span>
            <span class="note muted">
              {METRICS.flatMap((one) =>
                one === metric || values[one] === undefined
                  ? []
                  : `${values[one].toLocaleString("en")} ${one}`,
              ).join(", ")}
            </span>
          </span>
        </li>
      ))}
    </ol>
  );
}

function postRows(posts: ReturnType<typeof ranked>): readonly (readonly (string | number | null)[])[] {
  return [
    ["id", "channel", "text", "publishedAt", ...METRICS],
    ...posts.map(({ id, accountId, text, at, values }) => [
      id,
      channelName(accountId),
      text,
      new Date(at).toISOString(),
      ...METRICS.map((metric) => values[metric] ?? null),
    ]),
  ];
}
