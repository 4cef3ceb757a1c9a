import { CircleCheck, PenLine } from "lucide-preact";
import { OutcomeBadge } from "../../../features/draft/outcome-badge.tsx";
import { timeInShort } from "../../../features/draft/draft-words.ts";
import { useWork } from "../../../ui/use-work.ts";
import { may } from "../../data/session.ts";
import { useLoad } from "../../data/load.ts";
import { channelName } from "../../data/shared-data.ts";
import { shortTime } from "../../../shared/when.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Picture } from "../../post/picture.tsx";
import { Bones, Empty, Problem } from "../../../ui/states.tsx";
import { complain } from "../../../ui/toasts.tsx";
import { sentenceOf } from "../../../shared/texts.ts";
import { type Item, loadItems } from "./item.ts";

const DECIDED_STATES = ["scheduled", "repeating", "ended", "discarded"] as const;

/** Drafts that are being written, or those that are decided, last changed first. */
export function DraftList({ isDecided }: { readonly isDecided: boolean }) {
  const states = isDecided ? DECIDED_STATES : (["open"] as const);
  const { data, error, again, set } = useLoad((signal) => loadItems(states, null, signal), "list");
  const { isBusy, run } = useWork();
  if (data === null)
    return error === null ? (
      <Bones rows={5} label="Loading drafts" />
    ) : (
      <Problem sentence={error} onRetry={again} />
    );
  if (data.items.length === 0) return isDecided ? <NothingDecided /> : <NothingWritten />;
  const more = async (): Promise<void> => {
    try {
      const page = await loadItems(states, data.nextCursor);
      set({ ...page, items: [...data.items, ...page.items] });
    } catch (reason) {
      complain(sentenceOf(reason));
    }
  };
  return (
    <>
      <ul class="review-rows">
        {data.items.map((item) => (
          <Row key={item.shown.id} item={item} isDecided={isDecided} />
        ))}
      </ul>
      {data.nextCursor !== null && (
        <div class="buttons">
          <Button isBusy={isBusy} onClick={() => void run(more)}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}

function Row({ item: { raw, shown }, isDecided }: { readonly item: Item; readonly isDecided: boolean }) {
  const id = encodeURIComponent(shown.id);
  const href = isDecided ? `/app/review?show=decided&draft=${id}` : `/app/write?draft=${id}`;
  const channels = shown.targets.map(({ accountId }) => channelName(accountId)).join(", ");
  const media = raw.mediaUrl || (raw.targets.find(({ mediaUrl }) => mediaUrl)?.mediaUrl ?? "");
  const { decision } = shown;
  return (
    <li>
      <a href={href} class="review-row">
        {media !== "" && <Picture mediaUrl={media} alt="" size={96} />}
        <span class="review-row-text">
          <span class="title" dir="auto">
            {shown.title}
          </span>
          <span class="muted note" dir="auto">
            {[timeInShort(shown, shortTime), channels || "No channel yet", shown.writtenBy].join(" · ")}
          </span>
          {decision !== null && decision.note !== null && (
            <span class="note" dir="auto">
              {decision.what === "changes" ? "Changes asked for" : decision.by || "Someone"}: “{decision.note}
              ”
            </span>
          )}
        </span>
        {isDecided && <OutcomeBadge draft={shown} />}
      </a>
    </li>
  );
}

function NothingDecided() {
  return (
    <Empty
      icon={<CircleCheck aria-hidden="true" />}
      title="Nothing is decided yet"
      text="What you approve or discard is listed here, with what became of it."
    />
  );
}

function NothingWritten() {
  return (
    <Empty
      icon={<PenLine aria-hidden="true" />}
      title="No open drafts"
      text="Drafts that are still being written are listed here, and those that you sent back."
    >
      {may("draft") && <ButtonLink href="/app/write">Write a post</ButtonLink>}
    </Empty>
  );
}
