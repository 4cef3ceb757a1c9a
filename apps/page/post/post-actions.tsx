import { useState } from "preact/hooks";
import type { Post } from "../../../src/domain/posts/post.ts";
import { may } from "../data/session.ts";
import { findAccount, platformTitle } from "../data/shared-data.ts";
import { call } from "../data/tools.ts";
import { Ask } from "../../ui/ask.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Problem } from "../../ui/states.tsx";
import { say } from "../../ui/toasts.tsx";
import { isUnknown, needsChange } from "./post-facts.ts";
import { MovePost } from "./post-move.tsx";
import { ResolvePost } from "./post-resolve.tsx";
import { type PostActionsProps, useChange } from "./use-change.ts";

const QUESTIONS = {
  cancel: {
    tool: "cancel_post",
    args: {},
    button: "Cancel post",
    question: "Cancel this post?",
    text: "It will not go out.",
    yes: "Yes, cancel it",
    no: "Keep it",
    said: "The post is cancelled.",
  },
  takeDown: {
    tool: "cancel_post",
    args: { fromPlatform: true },
    button: "Take down",
    question: "Take this post down?",
    text: "It is deleted on the platform and cannot be brought back.",
    yes: "Yes, take it down",
    no: "Leave it there",
    said: "The post is taken down.",
  },
  putAway: {
    tool: "resolve_post",
    args: { outcome: "dismissed" },
    button: "Dismiss",
    question: "Dismiss this post?",
    text: "It will never be sent, and does not count as failed any more.",
    yes: "Yes, dismiss it",
    no: "Leave it",
    said: "The post is dismissed.",
  },
} as const;
type QuestionName = keyof typeof QUESTIONS;

/** What the person may do with it. */
export function PostActions({ post, onChanged }: PostActionsProps) {
  const [asked, setAsked] = useState<QuestionName | null>(null);
  const { doing, error, change } = useChange(onChanged);
  const mayChange = may("publish");
  const copy = may("draft") && (
    <ButtonLink href={`/app/write?copy=${encodeURIComponent(post.id)}`}>Duplicate</ButtonLink>
  );
  const ask = (what: QuestionName) => (
    <Button kind="quiet" onClick={() => setAsked(what)}>
      {QUESTIONS[what].button}
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
        {mayChange && post.status === "failed" && ask("putAway")}
      </div>
      {mayChange && post.status === "published" && !canTakeDown(post) && (
        <p class="muted note">
          Posthorn cannot take posts down on {platformTitle(post.provider)}. Delete it there.
        </p>
      )}
      {asked !== null && (
        <Ask
          {...QUESTIONS[asked]}
          isDanger
          onYes={async () => {
            const { tool, args, said } = QUESTIONS[asked];
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
