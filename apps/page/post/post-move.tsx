import { useEffect, useRef, useState } from "preact/hooks";
import { now } from "../../shared/clock.ts";
import { shortTime } from "../../shared/when.ts";
import { readWallTime, writeWallTime } from "../../shared/wall-time.ts";
import { timezone, zone } from "../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { UNSAVED, useLoss } from "../../ui/leaving.ts";
import { type PostActionsProps, useChange } from "./use-change.ts";

/** Another time for a waiting post. */
export function MovePost({ post, onChanged }: PostActionsProps) {
  const planned = writeWallTime(zone.value.read(Date.parse(post.scheduledAt)));
  const [value, setValue] = useState(planned);
  const [wrong, setWrong] = useState<string | null>(null);
  const { doing, error, change } = useChange(onChanged);
  const before = useRef(planned);
  // The post with its new time comes a moment later.
  const [moved, setMoved] = useState(planned);
  useLoss(value === planned || value === moved ? null : UNSAVED);
  useEffect(() => {
    const [was, isMine] = [before.current, moved === planned];
    before.current = planned;
    if (was === planned || isMine) return;
    if (value === was) setValue(planned);
    else setWrong(`It was moved elsewhere meanwhile, to ${shortTime(Date.parse(post.scheduledAt))}.`);
  }, [planned]);
  const move = async (event: Event): Promise<void> => {
    event.preventDefault();
    const to = readWallTime(value);
    if (to === null) return setWrong("Give a date and a time.");
    const at = zone.value.toMs(to);
    if (at < now()) return setWrong("That time has passed. Choose a later one, or “Send now”.");
    setWrong(null);
    const scheduledAt = new Date(at).toISOString();
    if (await change("update_post", { id: post.id, scheduledAt }, "The post is moved.")) setMoved(value);
  };
  return (
    <form class="post-move" onSubmit={(event) => void move(event)} noValidate>
      <TextField
        label="Time"
        help={timezone.value}
        error={wrong ?? error}
        type="datetime-local"
        value={value}
        onText={setValue}
      />
      <Button type="submit" isBusy={doing !== null} disabled={value === planned}>
        Move
      </Button>
    </form>
  );
}
