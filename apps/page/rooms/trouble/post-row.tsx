import type { ComponentChildren } from "preact";
import type { Post } from "../../../../src/domain/posts/post.ts";
import { NO_TEXT, splitText } from "../../../shared/texts.ts";
import { may } from "../../data/session.ts";
import { findAccount, platformTitle } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { shortTime } from "../../../shared/when.ts";
import { useWork } from "../../../ui/use-work.ts";
import { needsChange } from "../../post/post-facts.ts";
import { askTo, askToSendAgain, sendAgain } from "../../post/post-questions.tsx";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { ChannelLabel } from "../../channel/channel-label.tsx";
import { Picture } from "../../post/picture.tsx";
import { Problem } from "../../../ui/states.tsx";
import { say } from "../../../ui/toasts.tsx";
import { MoreMenu } from "./more-menu.tsx";
import { isUnknown, placeOutside, errorInWords, type ErrorWords } from "./error-words.ts";

interface PostRowProps {
  readonly post: Post;
  /** The reason stands above several posts already. */
  readonly isReasonSaid?: boolean;
  /** The post is in other hands now. */
  onDone(): void;
}

/** A post that failed, what happened, and what to do about it. */
export function PostRow({ post, isReasonSaid = false, onDone }: PostRowProps) {
  const { isBusy, error: refusal, run } = useWork();
  const act: PostButtonsProps["act"] = async (done, work) => {
    if (!(await run(work))) return;
    say(done);
    onDone();
  };
  const { first } = splitText(post.caption ?? titleOf(post));
  return (
    <li class="trouble-row">
      {post.mediaUrl !== "" && <Picture mediaUrl={post.mediaUrl} alt="" size={240} />}
      <div class="trouble-text">
        <p class="muted note trouble-where">
          <ChannelLabel accountId={post.accountId} />
          <span>{shortTime(Date.parse(post.scheduledAt))}</span>
        </p>
        <p class="title" dir="auto">
          {first || NO_TEXT}
        </p>
        {!isReasonSaid && <Reason told={errorInWords(post.error)} />}
        {isUnknown(post.error) && <Outside post={post} />}
        {refusal !== null && <Problem sentence={refusal} />}
      </div>
      {may("publish") && <PostButtons post={post} title={first || NO_TEXT} {...{ isBusy, act, onDone }} />}
    </li>
  );
}

function titleOf({ metadata }: Post): string {
  const title = metadata?.["title"];
  return typeof title === "string" ? title : "";
}

export function Reason({ told: { sentence, quote } }: { readonly told: ErrorWords }) {
  return (
    <>
      <p dir="auto">{sentence}</p>
      {quote !== null && (
        <blockquote class="trouble-quote" dir="auto">
          {quote.words}
          <footer class="muted">{quote.who}</footer>
        </blockquote>
      )}
    </>
  );
}

interface PostButtonsProps {
  readonly post: Post;
  readonly title: string;
  readonly isBusy: boolean;
  act(done: string, work: () => Promise<unknown>): Promise<void>;
  onDone(): void;
}

function PostButtons({ post, title, isBusy, act, onDone }: PostButtonsProps) {
  const { id } = post;
  const resolve = (outcome: "published" | "not_published", done: string): void =>
    void act(done, () => call("resolve_post", { id, outcome }));
  const retry = (): void => {
    const besides = isUnknown(post.error)
      ? `Only if ${platformTitle(post.provider)} says that it is not there.`
      : "";
    askToSendAgain([post], () => sendAgain(id).then(onDone), besides);
  };
  return (
    <div class="buttons trouble-buttons">
      {isUnknown(post.error) ? (
        <>
          <Button isSmall isBusy={isBusy} onClick={() => resolve("published", "Noted: it is published.")}>
            It is there
          </Button>
          <Button
            isSmall
            isBusy={isBusy}
            onClick={() => resolve("not_published", "Noted: it did not go out. You can send it again.")}
          >
            It is not there
          </Button>
        </>
      ) : (
        <RetryButtons id={id} isToChange={needsChange(post)} retry={retry} />
      )}
      <MoreMenu about={title}>
        <PostMore post={post} retry={retry} dismiss={() => askTo("dismiss", post, onDone)} />
      </MoreMenu>
    </div>
  );
}

interface RetryButtonsProps {
  readonly id: string;
  readonly isToChange: boolean;
  retry(): void;
}

/** Both ways to mend it, the one first that its reason asks for. */
function RetryButtons({ id, isToChange, retry }: RetryButtonsProps) {
  const change = (
    <ButtonLink
      isSmall
      kind={isToChange ? "main" : "plain"}
      href={`/app/write?post=${encodeURIComponent(id)}`}
    >
      Change it
    </ButtonLink>
  );
  return (
    <>
      {isToChange && change}
      <Button isSmall onClick={retry}>
        Send again
      </Button>
      {!isToChange && change}
    </>
  );
}

function PostMore({
  post,
  retry,
  dismiss,
}: {
  readonly post: Post;
  retry(): void;
  dismiss(): void;
}): ComponentChildren {
  const id = encodeURIComponent(post.id);
  return (
    <>
      <Outside post={post} />
      {isUnknown(post.error) && (
        <button type="button" onClick={retry}>
          Ask {platformTitle(post.provider)}, and send it if it is not there
        </button>
      )}
      <a href={`/app/plan?post=${id}`}>Open in the plan</a>
      <button type="button" onClick={dismiss}>
        Dismiss
      </button>
    </>
  );
}

function Outside({ post }: { readonly post: Post }) {
  const place = placeOutside(post, findAccount(post.accountId)?.profileUrl ?? null);
  if (place === null) return null;
  return (
    <a href={place.url} target="_blank" rel="noreferrer noopener">
      {place.isPost ? `Look at it on ${platformTitle(post.provider)}` : "Look at the channel"}
    </a>
  );
}
