import type { Post } from "../../../../src/domain/posts/post.ts";
import { NO_TEXT, splitText } from "../../../shared/texts.ts";
import { may } from "../../data/session.ts";
import { channelName } from "../../data/shared-data.ts";
import { shortTime } from "../../../shared/when.ts";
import { askTo, askToSendNow } from "../../post/post-questions.tsx";
import { StatusBadge } from "../../../ui/badges.tsx";
import { Button } from "../../../ui/button.tsx";
import { Reason } from "./post-row.tsx";
import { errorInWords } from "./error-words.ts";

/** A post that Posthorn goes on with. One that waits can be sent at once or cancelled. */
export function TryingRow({ post, onDone }: { readonly post: Post; onDone(): void }) {
  const { id, accountId, caption, error, scheduledAt, status } = post;
  const at = Date.parse(scheduledAt);
  return (
    <li class="trouble-row">
      <div class="trouble-text">
        <p class="title">
          <a href={`/app/plan?view=list&post=${encodeURIComponent(id)}`} dir="auto">
            {splitText(caption ?? "").first || NO_TEXT}
          </a>
        </p>
        <p class="muted note">
          <bdi>{channelName(accountId)}</bdi>, {shortTime(at)} <StatusBadge post={post} scheduledAt={at} />
        </p>
        <Reason told={errorInWords(error)} />
      </div>
      {may("publish") && status === "scheduled" && (
        <div class="buttons trouble-buttons">
          <Button isSmall onClick={() => askToSendNow(post, onDone)}>
            Try now
          </Button>
          <Button isSmall kind="quiet" onClick={() => askTo("cancel", post, onDone)}>
            Cancel it
          </Button>
        </div>
      )}
    </li>
  );
}
