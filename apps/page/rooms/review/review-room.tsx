import { Inbox, PenLine } from "lucide-preact";
import { useLocation } from "preact-iso";
import { may } from "../../data/session.ts";
import { waitingDrafts } from "../../data/shared-data.ts";
import { useLoad } from "../../data/load.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Room } from "../../ui/room.tsx";
import { Bones, Empty, Problem } from "../../ui/states.tsx";
import { DeskView } from "./desk-view.tsx";
import { DraftList } from "./draft-list.tsx";
import { type Item, loadAll, loadItem } from "./item.ts";

const TABS = { waiting: "Waiting", written: "Being written", decided: "Decided" } as const;
type Tab = keyof typeof TABS;

/** What waits for a decision, what is being written, and what became of the others. */
export function ReviewRoom() {
  const { query } = useLocation();
  const asked = query["show"] ?? "";
  const tab: Tab = asked === "written" || asked === "decided" ? asked : "waiting";
  const id = query["draft"] ?? null;
  return (
    <Room title="Review" lead="Nothing of a draft goes out before someone approves it.">
      <nav class="tabs" aria-label="Drafts">
        {(["waiting", "written", "decided"] as const).map((one) => (
          <a
            key={one}
            href={one === "waiting" ? "/app/review" : `/app/review?show=${one}`}
            aria-current={one === tab ? "page" : undefined}
          >
            {TABS[one]}
            {one === "waiting" && waitingDrafts.value > 0 && <span class="count">{waitingDrafts.value}</span>}
          </a>
        ))}
      </nav>
      {!may("publish") && tab === "waiting" && (
        <p class="hint">
          You can read what waits. To decide takes a key that may publish: ask the person who runs Posthorn.
        </p>
      )}
      {tab === "waiting" ? (
        <Waiting wanted={id} />
      ) : id !== null && tab === "decided" ? (
        <One key={id} id={id} />
      ) : (
        <DraftList key={tab} isDecided={tab === "decided"} />
      )}
    </Room>
  );
}

/** All that wait, and the one that was asked for, whatever its state is. */
function Waiting({ wanted }: { readonly wanted: string | null }) {
  const { data, error, reload, set } = useLoad(async (signal) => {
    const items = await loadAll(["waiting"], signal);
    // Who was asked first is answered first.
    const inOrder = items.toReversed();
    if (wanted === null || items.some(({ shown }) => shown.id === wanted)) return inOrder;
    return [await loadItem(wanted, signal), ...inOrder];
  }, `waiting ${waitingDrafts.value}`);
  const { route } = useLocation();
  if (data === null)
    return error === null ? (
      <Bones rows={3} label="Loading what waits" />
    ) : (
      <Problem sentence={error} onRetry={reload} />
    );
  if (data.length === 0) return <NothingWaits />;
  const leave = ({ shown }: Item): void => {
    const at = data.findIndex((one) => one.shown.id === shown.id);
    const left = data.filter((one) => one.shown.id !== shown.id);
    const next = left[Math.min(at, left.length - 1)];
    set(left);
    const where = next === undefined ? "" : `?draft=${encodeURIComponent(next.shown.id)}`;
    route(`/app/review${where}`, true);
    window.scrollTo({ top: 0 });
  };
  return (
    <>
      {error !== null && <Problem sentence={error} onRetry={reload} />}
      <DeskView items={data} whenDecided={leave} />
    </>
  );
}

function NothingWaits() {
  return (
    <Empty
      icon={<Inbox aria-hidden="true" />}
      title="Nothing waits for you"
      text="Drafts that people or assistants submit stand here until you approve them, ask for changes or discard them."
    >
      {may("draft") && (
        <ButtonLink href="/app/write">
          <PenLine aria-hidden="true" />
          Write a post
        </ButtonLink>
      )}
    </Empty>
  );
}

/** A draft that is decided: what became of it. */
function One({ id }: { readonly id: string }) {
  const { data, error, reload } = useLoad((signal) => loadItem(id, signal), id);
  if (data === null)
    return error === null ? (
      <Bones rows={3} label="Loading the draft" />
    ) : (
      <Problem sentence={error} onRetry={reload} />
    );
  return (
    <>
      <p>
        <a href="/app/review?show=decided">All that is decided</a>
      </p>
      <DeskView key={data.shown.revision} items={[data]} whenDecided={reload} />
    </>
  );
}
