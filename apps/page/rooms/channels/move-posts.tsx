import { ArrowRight } from "lucide-preact";
import { NO_TEXT, splitText, countPosts } from "../../../shared/texts.ts";
import { call } from "../../data/tools.ts";
import { shortTime } from "../../../shared/when.ts";
import { useWork } from "../../../ui/use-work.ts";
import { Button } from "../../../ui/button.tsx";
import { Sheet } from "../../../ui/sheet.tsx";
import { Problem } from "../../../ui/states.tsx";

/** A post that would have another time. */
export interface PostMove {
  readonly id: string;
  readonly text: string;
  /** Null where it is not known any more. */
  readonly from: string | null;
  readonly to: string;
}

interface Change {
  readonly accountId: string;
  readonly schedule: object | null;
}

/** What moving the posts that wait in slots would do. Nothing is changed. */
export async function previewMoves(change: Change): Promise<readonly PostMove[]> {
  const { moved } = await call("update_account", { ...change, move: true, dryRun: true });
  if (moved.length === 0) return [];
  const { posts } = await call("list_posts", {
    accountId: [change.accountId],
    status: ["scheduled"],
    limit: 500,
  });
  const byId = new Map(posts.map((post) => [post.id, post]));
  return moved.map(({ id, scheduledAt }) => {
    const post = byId.get(id);
    return {
      id,
      text: splitText(post?.caption ?? "").first || NO_TEXT,
      from: post?.scheduledAt ?? null,
      to: scheduledAt,
    };
  });
}

interface MovePostsProps {
  readonly moves: readonly PostMove[];
  /** `move`: whether the posts go to the new slots. */
  onChoose(move: boolean): Promise<void>;
  onClose(): void;
}

/** Before slots change that posts wait in. */
export function MovePosts({ moves, onChoose, onClose }: MovePostsProps) {
  const { isBusy, error, run } = useWork();
  const choose = (move: boolean): Promise<boolean> => run(() => onChoose(move));
  const them = moves.length === 1 ? "it" : "them";
  return (
    <Sheet title="Move posts that wait in slots, too?" onClose={onClose}>
      <p>
        {countPosts(moves.length)} {moves.length === 1 ? "waits" : "wait"} in slots of before. Moved to the
        new ones, {moves.length === 1 ? "it goes" : "they go"} out at these times:
      </p>
      <ul class="moves">
        {moves.map(({ id, text, from, to }) => (
          <li key={id}>
            <span class="moves-text" dir="auto">
              {text}
            </span>
            <span class="note">
              <span class="muted">{from === null ? "" : shortTime(Date.parse(from))}</span>
              <ArrowRight role="img" aria-label="to" size={14} />
              <strong>{shortTime(Date.parse(to))}</strong>
            </span>
          </li>
        ))}
      </ul>
      {error !== null && <Problem sentence={error} />}
      <div class="sheet-foot">
        <Button kind="quiet" onClick={onClose}>
          Back
        </Button>
        <Button isBusy={isBusy} onClick={() => choose(false)}>
          Save, and leave {them} there
        </Button>
        <Button kind="main" isBusy={isBusy} onClick={() => choose(true)}>
          Save and move {them}
        </Button>
      </div>
    </Sheet>
  );
}
