import { ExternalLink } from "lucide-preact";
import { useEffect, useState } from "preact/hooks";
import type { Account } from "../../../../src/domain/accounts/account.ts";
import type { Post } from "../../../../src/domain/posts/post.ts";
import { loadAccounts, loadStatus, postChanges, status } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { useWork } from "../../../ui/use-work.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Form, Field } from "../../../ui/field.tsx";
import { Problem } from "../../../ui/states.tsx";

const ASK_EVERY_MS = 700;

const NO_PUBLISHER =
  "It waits: no publisher runs. Run posthorn serve, or posthorn service install, and it goes out.";

const ENDED: readonly Post["status"][] = ["published", "failed", "cancelled"];

/** Says something on the feed, at once, and shows where it stands. `isBegun`: something was posted already. */
export function FirstPost({ feed, isBegun }: { readonly feed: Account; readonly isBegun: boolean }) {
  const [text, setText] = useState("Hello! This is my first post.");
  const [post, setPost] = useState<Post | null>(null);
  const { isBusy, error, run } = useWork();
  useEffect(() => (post === null ? undefined : follow(post, setPost)), [post]);
  useEffect(() => {
    // The plan is below.
    if (post === null) return;
    postChanges.value += 1;
    void loadStatus();
  }, [post?.status]);
  const send = (): Promise<boolean> =>
    run(async () => setPost((await call("schedule_post", { accountId: feed.id, caption: text })).post));
  if (post !== null && post.status !== "failed") return <FirstPostResult post={post} />;
  if (isBegun && post === null) return null;
  const failure = post?.error ?? error;
  return (
    <Form class="stack tight" onSubmit={send}>
      <Field label="Say hello">
        {(control) => (
          <textarea
            {...control}
            rows={2}
            required
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
      {failure !== null && <Problem sentence={failure} />}
      <div class="buttons">
        <Button kind="main" type="submit" isBusy={isBusy}>
          Post it now
        </Button>
      </div>
    </Form>
  );
}

function FirstPostResult({ post }: { readonly post: Post }) {
  const isLive = post.status === "published";
  const cannotGo = status.value?.publisher.running === false;
  return (
    <div class="stack tight" role="status">
      <p>{isLive ? "It is live." : cannotGo ? NO_PUBLISHER : "It is on its way…"}</p>
      {isLive && post.platformUrl !== null && (
        <div class="buttons">
          <ButtonLink href={post.platformUrl} isOutside>
            <ExternalLink aria-hidden="true" />
            See your post
          </ButtonLink>
        </div>
      )}
    </div>
  );
}

/** Asks again until the post has come to an end. Answers what ends that. */
function follow(post: Post, onChange: (post: Post) => void): (() => void) | undefined {
  if (ENDED.includes(post.status)) {
    // The channel now says when it published last.
    void loadAccounts().catch(() => {});
    return undefined;
  }
  const timer = setTimeout(() => {
    // A server that does not answer now is asked again.
    call("get_post", { id: post.id }).then(
      ({ post: now }) => onChange(now),
      () => onChange({ ...post }),
    );
  }, ASK_EVERY_MS);
  return () => clearTimeout(timer);
}
