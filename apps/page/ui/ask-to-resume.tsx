import { useEffect, useState } from "preact/hooks";
import { countPosts } from "../../shared/texts.ts";
import { channelName, loadAccounts, loadStatus } from "../data/shared-data.ts";
import { call } from "../data/tools.ts";
import { sentenceOf } from "../wire.ts";
import { Ask } from "./ask.tsx";
import { say } from "./toasts.tsx";

interface AskToResumeProps {
  readonly account: { readonly id: string; readonly queuedCount: number };
  onDone?(): void;
  onClose(): void;
}

/** Before a paused channel goes on: which posts go out at once, and which are too late. */
export function AskToResume({ account: { id, queuedCount }, onDone, onClose }: AskToResumeProps) {
  const [late, setLate] = useState<string | null>(null);
  const name = channelName(id);
  useEffect(() => {
    call("update_account", { accountId: id, paused: false, dryRun: true }).then(
      ({ warnings = [] }) => setLate(warnings.join(" ")),
      (reason: unknown) => setLate(sentenceOf(reason)),
    );
  }, [id]);
  const waiting =
    queuedCount === 0
      ? "No post waits"
      : `${countPosts(queuedCount)} ${queuedCount === 1 ? "waits" : "wait"}`;
  return (
    <Ask
      question={`Resume “${name}”?`}
      text={`${waiting} on it.${tellWhen(queuedCount, late)}`}
      yes="Resume"
      no="Leave it paused"
      onYes={async () => {
        await call("update_account", { accountId: id, paused: false });
        await Promise.all([loadAccounts(), loadStatus()]);
        say(`“${name}” goes on.`);
        onDone?.();
      }}
      onClose={onClose}
    />
  );
}

/** `late`: what becomes of late posts. Null: not known yet. */
function tellWhen(queuedCount: number, late: string | null): string {
  if (queuedCount === 0) return "";
  if (late === null) return " …";
  return late === "" ? " Each goes out at its time." : ` ${late} The others go out at their times.`;
}
