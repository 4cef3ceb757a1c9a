import { followPosts } from "../../channel/follow-posts.ts";
import { countPosts } from "../../../shared/texts.ts";
import { may } from "../../data/session.ts";
import { learnPosts } from "../../data/learned-posts.ts";
import { platformTitle } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { needsChange } from "../../post/post-facts.ts";
import { askToSendAgain } from "../../post/post-questions.tsx";
import { Button } from "../../../ui/button.tsx";
import type { Post } from "../../../../src/domain/posts/post.ts";
import type { Failure } from "./grouping.ts";
import { PostRow, Reason } from "./post-row.tsx";
import { errorInWords } from "./error-words.ts";

/** Failed posts, those with the same reason together. */
export function FailureList({ failures, onDone }: { readonly failures: readonly Failure[]; onDone(): void }) {
  return (
    <>
      {failures.map((failure) => (
        <SameReason key={failure.posts[0]?.id} failure={failure} onDone={onDone} />
      ))}
    </>
  );
}

function SameReason({
  failure: { provider, error, posts },
  onDone,
}: {
  readonly failure: Failure;
  onDone(): void;
}) {
  const [first] = posts;
  if (first === undefined) return null;
  if (posts.length === 1)
    return (
      <ul class="trouble-rows">
        <PostRow post={first} onDone={onDone} />
      </ul>
    );
  const askToSendAll = (): void => {
    // One after another, earliest first, so that they stay in their order.
    const left = posts.toReversed();
    const sent: Post[] = [];
    const sendAll = async (): Promise<void> => {
      try {
        for (let next = left[0]; next !== undefined; next = left[0]) {
          const { post } = await call("retry_post", { id: next.id });
          learnPosts([post]);
          sent.push(post);
          left.shift();
        }
      } finally {
        if (sent.length > 0) followPosts(sent.splice(0), true);
        onDone();
      }
    };
    askToSendAgain(posts, sendAll);
  };
  return (
    <div class="trouble-rows">
      <div class="trouble-same">
        <div class="trouble-text">
          <p class="title">
            {countPosts(posts.length)} on {platformTitle(provider)} failed for the same reason
          </p>
          <Reason told={errorInWords(error)} />
        </div>
        {may("publish") && !needsChange(first) && (
          <Button isSmall onClick={askToSendAll}>
            Send all {posts.length} again
          </Button>
        )}
      </div>
      <ul>
        {posts.map((post) => (
          <PostRow key={post.id} post={post} isReasonSaid onDone={onDone} />
        ))}
      </ul>
    </div>
  );
}
