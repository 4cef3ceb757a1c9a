import { ExternalLink } from "lucide-preact";
import { useEffect } from "preact/hooks";
import type { Post, Preparing } from "../../../src/domain/posts/post.ts";
import { useLoad } from "../data/load.ts";
import { useLookAgain } from "../data/look-again.ts";
import { may } from "../data/session.ts";
import { learnedPosts } from "../data/learned-posts.ts";
import { isPaused, platformTitle } from "../data/shared-data.ts";
import { call } from "../data/tools.ts";
import { newestOf } from "../../shared/newest.ts";
import { shortTime } from "../../shared/when.ts";
import { isDismissed } from "../../shared/statuses.ts";
import { StatusBadge } from "../../ui/badges.tsx";
import { closeQuestion } from "../../ui/ask.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { ChannelLabel } from "../channel/channel-label.tsx";
import { Picture } from "./picture.tsx";
import { PostPreview } from "./preview.tsx";
import { Sheet } from "../../ui/sheet.tsx";
import { Bones, Problem } from "../../ui/states.tsx";
import { historyLines } from "./history.ts";
import { PostActions } from "./post-actions.tsx";
import { besidePause, isUnknown, mediaOf, pastReason, threadOf } from "./post-facts.ts";
import { askToResume } from "./post-questions.tsx";
import { seriesAddress, SeriesPart } from "./series-part.tsx";
import { PostInsights } from "./post-insights.tsx";

interface PostViewProps {
  readonly id: string;
  onClose(): void;
  /** Another one: look at it anew. */
  readonly round?: number;
  /** Something was done to it. */
  onChanged?(): void;
}

/** One post, beside the room: what its channel shows, what became of it, and what can be done. */
export function PostView({ id, round = 0, onClose, onChanged }: PostViewProps) {
  const loaded = useLoad((signal) => call("get_post", { id, history: true }, { signal }), id);
  const { data: found, error, again, reload } = loaded;
  const data = found && { ...found, post: newestOf(found.post, learnedPosts.value) };
  useLookAgain(reload);
  useEffect(() => {
    if (round > 0) reload();
  }, [round]);
  useEffect(() => closeQuestion, []);
  const changed = (): void => {
    reload();
    onChanged?.();
  };
  return (
    <Sheet
      title={data === null ? "Post" : shortTime(Date.parse(data.post.scheduledAt))}
      isDrawer
      onClose={onClose}
    >
      {data === null ? (
        error === null ? (
          <Bones rows={4} label="Loading the post" />
        ) : (
          <Problem sentence={error} onRetry={again} />
        )
      ) : (
        <div class="post-view">
          {error !== null && <Problem sentence={error} onRetry={again} />}
          <Facts post={data.post} labels={data.labels ?? []} />
          <Paused post={data.post} onResumed={changed} />
          <Outcome post={data.post} />
          {data.preparing && <FilmState preparing={data.preparing} onLook={reload} />}
          <ChannelView key={`${id} ${data.post.updatedAt}`} post={data.post} />
          {data.draftId && <SeriesPart key={data.draftId} draftId={data.draftId} onChanged={changed} />}
          <Links post={data.post} draftId={data.draftId ?? null} />
          {data.note && (
            <section>
              <h3>Note</h3>
              <p class="post-note" dir="auto">
                {data.note}
              </p>
            </section>
          )}
          <PostActions post={data.post} onChanged={changed} />
          {data.post.status === "published" && <PostInsights post={data.post} />}
          <History attempts={data.history ?? []} post={data.post} />
        </div>
      )}
    </Sheet>
  );
}

function Facts({ post, labels }: { readonly post: Post; readonly labels: readonly string[] }) {
  return (
    <div class="post-facts">
      <StatusBadge
        post={post}
        scheduledAt={Date.parse(post.scheduledAt)}
        isPaused={isPaused(post.accountId)}
      />
      <ChannelLabel accountId={post.accountId} />
      {labels.map((label) => (
        <span key={label} class="badge" dir="auto">
          <span class="unseen">Label </span>
          {label}
        </span>
      ))}
    </div>
  );
}

/** That it waits for its channel, and the way on. */
function Paused({ post, onResumed }: { readonly post: Post; onResumed(): void }) {
  if (post.status !== "scheduled" || !isPaused(post.accountId)) return null;
  return (
    <div class="hint">
      <p>The channel is paused: the post waits until it is resumed.</p>
      {may("accounts") && (
        <Button isSmall onClick={() => askToResume(post.accountId, onResumed)}>
          Resume the channel
        </Button>
      )}
    </div>
  );
}

/** Why it did not go out. */
function Outcome({ post }: { readonly post: Post }) {
  const text = besidePause(post.error ?? "").replace(/^outcome unknown:\s*/i, "");
  if (text === "") return null;
  if (isDismissed(post)) return <p class="muted note">{pastReason(post)}</p>;
  return (
    <div class={isUnknown(post) ? "hint" : "problem"}>
      <p dir="auto">
        {text}
        {isUnknown(post) && <strong> No one knows whether it went out.</strong>}
      </p>
    </div>
  );
}

const LOOK_AGAIN_MS = 3_000;

/** Progress of a video's conversion for the channel. */
function FilmState({
  preparing: { percent, problem },
  onLook,
}: {
  readonly preparing: Preparing;
  onLook(): void;
}) {
  useEffect(() => {
    if (problem !== null) return;
    const timer = setTimeout(onLook, LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  });
  if (problem !== null) return <p class="problem">{problem}</p>;
  return (
    <label class="muted note">
      The video is converted for the channel: {percent} % <progress max={100} value={percent} />
    </label>
  );
}

/** What the channel shows of it: of a waiting post as the server works it out, else its text and media. */
function ChannelView({ post }: { readonly post: Post }) {
  const isWaiting = post.status === "scheduled" && may("publish");
  const { data, isLoading } = useLoad(
    async (signal) =>
      // The preview is a help: without it the text is shown as it is.
      isWaiting
        ? await call("update_post", { id: post.id, dryRun: true }, { signal }).catch(() => null)
        : null,
    post.id,
  );
  if (isWaiting && isLoading) return <Bones rows={2} label="Loading the preview" />;
  return (
    <section class="post-shown" aria-label="What it shows">
      {data?.preview !== undefined ? <PostPreview preview={data.preview} /> : <PlainContent post={post} />}
      {data?.warnings?.map(besidePause).map((warning) => (
        <p key={warning} class="muted note">
          {warning}
        </p>
      ))}
    </section>
  );
}

function PlainContent({ post }: { readonly post: Post }) {
  const title = post.metadata?.["title"];
  const media = mediaOf(post);
  return (
    <div class="preview">
      {typeof title === "string" && (
        <p class="post-title" dir="auto">
          {title}
        </p>
      )}
      {post.caption !== null && post.caption !== "" && (
        <p class="preview-text" dir="auto">
          {post.caption}
        </p>
      )}
      {media.length > 0 && (
        <div class={`preview-media of-${Math.min(media.length, 4)}`}>
          {media.map(({ url, alt }) => (
            <Picture key={url} mediaUrl={url} alt={alt} size={480} />
          ))}
        </div>
      )}
      {threadOf(post).map((text, at) => (
        <p key={at} class="preview-text preview-part" dir="auto">
          {text}
        </p>
      ))}
    </div>
  );
}

function Links({ post, draftId }: { readonly post: Post; readonly draftId: string | null }) {
  const isWeb = post.platformUrl !== null && /^https?:\/\//i.test(post.platformUrl);
  if (!isWeb && draftId === null) return null;
  return (
    <p class="buttons">
      {isWeb && (
        <ButtonLink href={post.platformUrl ?? ""} isOutside isSmall>
          <ExternalLink aria-hidden="true" />
          Open on {platformTitle(post.provider)}
        </ButtonLink>
      )}
      {draftId !== null && (
        <ButtonLink href={seriesAddress(draftId)} isSmall kind="quiet">
          The draft it came from
        </ButtonLink>
      )}
    </p>
  );
}

function History({
  attempts,
  post,
}: {
  readonly attempts: Parameters<typeof historyLines>[0];
  readonly post: Post;
}) {
  const lines = historyLines(attempts, platformTitle(post.provider), post, shortTime);
  return (
    <section class="post-history">
      <h3>History</h3>
      <ol>
        {lines.map(({ at: ms, text, isBad }, index) => (
          <li key={index} class={isBad ? "bad" : undefined}>
            <time dateTime={new Date(ms).toISOString()}>{shortTime(ms)}</time>
            <p dir="auto">{text}</p>
          </li>
        ))}
      </ol>
      {attempts.length === 0 && post.status === "scheduled" && (
        <p class="muted note">It was not tried yet.</p>
      )}
    </section>
  );
}
