import { useEffect, useRef, useState } from "preact/hooks";
import { now } from "../../shared/clock.ts";
import type { Post } from "../../../src/domain/posts/post.ts";
import { sentenceOf } from "../../shared/texts.ts";
import { longTime, shortTime } from "../../shared/when.ts";
import { fromWall, toWall, wallProblem } from "../../shared/wall-time.ts";
import { timezone, zone } from "../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { DayField } from "../../ui/field.tsx";
import { UNSAVED, useLoss } from "../../ui/leaving.ts";
import { complain, say } from "../../ui/toasts.tsx";
import { useWork } from "../../ui/use-work.ts";
import type { PostActionsProps } from "./post-actions.tsx";
import { updateAsSeen } from "./update-as-seen.ts";

/** Moves a post that was not moved elsewhere meanwhile. It can be taken back. */
async function moveTo(post: Post, scheduledAt: string, onChanged: () => void): Promise<void> {
  const moved = await updateAsSeen(post, { scheduledAt }, ["scheduledAt"]);
  say(`Moved to ${longTime(Date.parse(moved.scheduledAt))}.`, () =>
    moveTo(moved, post.scheduledAt, onChanged).catch((error: unknown) => {
      complain(sentenceOf(error));
      onChanged();
    }),
  );
  onChanged();
}

/** Another time for a waiting post. */
export function MovePost({ post, onChanged }: PostActionsProps) {
  const planned = toWall(Date.parse(post.scheduledAt), zone.value);
  const [value, setValue] = useState(planned);
  const [wrong, setWrong] = useState<string | null>(null);
  const { isBusy, error, setError, run } = useWork();
  const before = useRef(planned);
  // The post with its new time comes a moment later.
  const [moved, setMoved] = useState(planned);
  useLoss(value === planned || value === moved ? null : UNSAVED);
  useEffect(() => {
    const [was, isMine] = [before.current, moved === planned];
    before.current = planned;
    if (was === planned || isMine) return;
    if (value === was) setValue(planned);
    // Where a move was refused for it, the refusal says so.
    else if (!isBusy)
      setWrong(`It was moved elsewhere meanwhile, to ${shortTime(Date.parse(post.scheduledAt))}.`);
  }, [planned]);
  const move = async (event: Event): Promise<void> => {
    event.preventDefault();
    const at = fromWall(value, zone.value);
    if (at === null) return setWrong(wallProblem(value));
    if (at < now()) return setWrong("That time has passed. Choose a later one, or “Send now”.");
    setWrong(null);
    const isMoved = await run(() => moveTo(post, new Date(at).toISOString(), onChanged));
    if (isMoved) setMoved(value);
    // What others made of it meanwhile is shown.
    else onChanged();
  };
  return (
    <form class="post-move" onSubmit={(event) => void move(event)} noValidate>
      <DayField
        label="Time"
        help={timezone.value}
        error={wrong ?? error}
        type="datetime-local"
        value={value}
        onText={(text) => {
          setValue(text);
          setWrong(null);
          setError(null);
        }}
      />
      <Button type="submit" isBusy={isBusy} disabled={value === planned}>
        Move
      </Button>
    </form>
  );
}
