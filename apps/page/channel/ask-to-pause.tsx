import { useEffect } from "preact/hooks";
import { now } from "../../shared/clock.ts";
import { sentenceOf, waitingPosts } from "../../shared/texts.ts";
import { channelName, loadAccounts, loadStatus } from "../data/shared-data.ts";
import { listAllPosts } from "../data/list-posts.ts";
import { call } from "../data/tools.ts";
import { useRefusal } from "../../ui/use-work.ts";
import { Ask } from "../../ui/ask.tsx";
import { say } from "../../ui/toasts.tsx";
import { followPosts } from "./follow-posts.ts";

interface AskProps {
  readonly account: { readonly id: string; readonly queuedCount: number };
  /** Said first. */
  readonly told?: string;
  onDone?(): void;
  onClose(): void;
}

/** Before a channel is paused: how many posts wait, and until when they can go out. */
export function AskToPause({ account: { id, queuedCount }, onDone, onClose }: AskProps) {
  const told = useForecast(id, true);
  const name = channelName(id);
  const waiting = queuedCount === 0 ? "No post waits for this channel." : (told ?? "…");
  return (
    <Ask
      question={`Pause “${name}”?`}
      text={`${waiting} Nothing goes out until you resume it. New posts can still be planned.`}
      yes="Pause"
      no="Keep it going"
      onYes={async () => {
        await setPaused(id, true);
        say(`“${name}” is paused.`);
        onDone?.();
      }}
      onClose={onClose}
    />
  );
}

/** Before a paused channel goes on: which posts go out at once, and which are too late. */
export function AskToResume({ account: { id, queuedCount }, told = "", onDone, onClose }: AskProps) {
  const late = useForecast(id, false);
  const name = channelName(id);
  const waiting = queuedCount === 0 ? "No post waits" : `${waitingPosts(queuedCount)}`;
  return (
    <Ask
      question={`Resume “${name}”?`}
      text={`${told} ${waiting} on it.${releaseInWords(queuedCount, late)}`.trim()}
      yes="Resume"
      no="Leave it paused"
      onYes={async () => {
        const due = await listAllPosts({
          accountId: [id],
          status: ["scheduled"],
          to: new Date(now()).toISOString(),
        });
        await setPaused(id, false);
        say(`“${name}” goes on.`);
        if (due.length > 0) followPosts(due);
        onDone?.();
      }}
      onClose={onClose}
    />
  );
}

async function setPaused(accountId: string, paused: boolean): Promise<void> {
  await call("update_account", { accountId, paused });
  await Promise.all([loadAccounts(), loadStatus()]);
}

/** What the server says would become of the posts. Null: it has not answered yet. */
export function useForecast(accountId: string, paused: boolean): string | null {
  const [told, setTold] = useRefusal();
  useEffect(() => {
    call("update_account", { accountId, paused, dryRun: true }).then(
      ({ warnings = [] }) => setTold(warnings.join(" ")),
      (reason: unknown) => setTold(sentenceOf(reason)),
    );
  }, [accountId, paused]);
  return told;
}

/** `late`: what becomes of late posts. Null: not known yet. */
function releaseInWords(queuedCount: number, late: string | null): string {
  if (queuedCount === 0) return "";
  if (late === null) return " …";
  return late === "" ? " Each goes out at its time." : ` ${late} The others go out at their times.`;
}
