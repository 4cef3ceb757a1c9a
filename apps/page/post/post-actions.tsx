import type { Post } from "../../../src/domain/posts/post.ts";
import { may } from "../data/session.ts";
import { findAccount, isPaused, platformTitle } from "../data/shared-data.ts";
import { type AskedChange, POST_CHANGES } from "../../features/post/post-changes.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { isUnknown, needsChange } from "./post-facts.ts";
import { MovePost } from "./post-move.tsx";
import { askTo, askToSendAgain, askToSendNow, sendAgain } from "./post-questions.tsx";
import { ResolvePost } from "./post-resolve.tsx";

export interface PostActionsProps {
  readonly post: Post;
  onChanged(): void;
}

/** What the person may do with it. */
export function PostActions({ post, onChanged }: PostActionsProps) {
  const mayChange = may("publish");
  const copy = may("draft") && (
    <ButtonLink href={`/app/write?copy=${encodeURIComponent(post.id)}`}>Duplicate</ButtonLink>
  );
  const ask = (what: AskedChange) => (
    <Button kind="quiet" onClick={() => askTo(what, post, onChanged)}>
      {POST_CHANGES[what].button}
    </Button>
  );
  const edit = (text: string, kind: "plain" | "main" = "plain") => (
    <ButtonLink kind={kind} href={`/app/write?post=${encodeURIComponent(post.id)}`}>
      {text}
    </ButtonLink>
  );
  const isToChange = needsChange(post);
  // Who may not resume a paused channel can send nothing on it.
  const maySend = !isPaused(post.accountId) || may("accounts");
  const sendIt = async (): Promise<void> => {
    await sendAgain(post.id);
    onChanged();
  };
  return (
    <section class="post-actions" aria-label="What you can do">
      {mayChange && isUnknown(post) && <ResolvePost post={post} onChanged={onChanged} />}
      {mayChange && post.status === "scheduled" && <MovePost post={post} onChanged={onChanged} />}
      <div class="buttons">
        {mayChange && post.status === "scheduled" && (
          <>
            {edit("Edit")}
            {maySend && <Button onClick={() => askToSendNow(post, onChanged)}>Send now</Button>}
          </>
        )}
        {mayChange && post.status === "failed" && !isUnknown(post) && (
          <>
            {isToChange && edit("Change it", "main")}
            <Button kind={isToChange ? "quiet" : "main"} onClick={() => askToSendAgain([post], sendIt)}>
              Send again
            </Button>
            {!isToChange && edit("Change it")}
          </>
        )}
        {copy}
        {mayChange && post.status === "scheduled" && ask("cancel")}
        {mayChange && canTakeDown(post) && ask("takeDown")}
        {mayChange && post.status === "failed" && ask("dismiss")}
      </div>
      {mayChange && post.status === "published" && !canTakeDown(post) && (
        <p class="muted note">
          Posthorn cannot take posts down on {platformTitle(post.provider)}. Delete it there.
        </p>
      )}
    </section>
  );
}

function canTakeDown({ status, accountId }: Post): boolean {
  const remove = findAccount(accountId)?.capabilities.remove;
  return (
    (status === "published" && remove?.published === true) ||
    (status === "uploaded" && remove?.uploaded === true)
  );
}
