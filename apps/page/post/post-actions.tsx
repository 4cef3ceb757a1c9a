import { useState } from "preact/hooks";
import type { Post } from "../../../src/domain/posts/post.ts";
import { may } from "../data/session.ts";
import { findAccount, platformTitle } from "../data/shared-data.ts";
import { call } from "../data/tools.ts";
import { type AskedChange, POST_CHANGES } from "../../features/post/post-changes.ts";
import { Ask } from "../../ui/ask.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Problem } from "../../ui/states.tsx";
import { say } from "../../ui/toasts.tsx";
import { isUnknown, needsChange } from "./post-facts.ts";
import { MovePost } from "./post-move.tsx";
import { ResolvePost } from "./post-resolve.tsx";
import { type PostActionsProps, useChange } from "./use-change.ts";

/** What the person may do with it. */
export function PostActions({ post, onChanged }: PostActionsProps) {
  const [asked, setAsked] = useState<AskedChange | null>(null);
  const { doing, error, change } = useChange(onChanged);
  const mayChange = may("publish");
  const copy = may("draft") && (
    <ButtonLink href={`/app/write?copy=${encodeURIComponent(post.id)}`}>Duplicate</ButtonLink>
  );
  const ask = (what: AskedChange) => (
    <Button kind="quiet" onClick={() => setAsked(what)}>
      {POST_CHANGES[what].button}
    </Button>
  );
  const edit = (text: string, kind: "plain" | "main" = "plain") => (
    <ButtonLink kind={kind} href={`/app/write?post=${encodeURIComponent(post.id)}`}>
      {text}
    </ButtonLink>
  );
  const isToChange = needsChange(post);
  const isHeld = findAccount(post.accountId)?.schedule?.paused === true;
  const held = isHeld ? "The channel is paused: the post waits until it is resumed." : null;
  return (
    <section class="post-actions" aria-label="What you can do">
      {error !== null && <Problem sentence={error} />}
      {mayChange && isUnknown(post) && <ResolvePost post={post} onChanged={onChanged} />}
      {mayChange && post.status === "scheduled" && <MovePost post={post} onChanged={onChanged} />}
      <div class="buttons">
        {mayChange && post.status === "scheduled" && (
          <>
            {edit("Edit")}
            <Button
              isBusy={doing === "update_post"}
              onClick={() =>
                void change(
                  "update_post",
                  { id: post.id, scheduledAt: new Date().toISOString() },
                  held ?? "The post goes out now.",
                )
              }
            >
              Send now
            </Button>
          </>
        )}
        {mayChange && post.status === "failed" && !isUnknown(post) && (
          <>
            {isToChange && edit("Change it", "main")}
            <Button
              kind={isToChange ? "quiet" : "main"}
              isBusy={doing === "retry_post"}
              onClick={() => void change("retry_post", { id: post.id }, held ?? "The post is sent again.")}
            >
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
      {asked !== null && (
        <Ask
          {...POST_CHANGES[asked]}
          isDanger
          onYes={async () => {
            const { tool, args, said } = POST_CHANGES[asked];
            await call(tool, { id: post.id, ...args });
            say(said);
            onChanged();
          }}
          onClose={() => setAsked(null)}
        />
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
