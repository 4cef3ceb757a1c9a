import { Inbox, PenLine } from "lucide-preact";
import { useRef } from "preact/hooks";
import { isUndecided } from "../../../features/draft/readiness.ts";
import { useAddress } from "../../data/address.tsx";
import { may } from "../../data/session.ts";
import { waitingDrafts } from "../../data/shared-data.ts";
import { useLoad } from "../../data/load.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { Room } from "../../../ui/room.tsx";
import { Bones, Empty, Problem } from "../../../ui/states.tsx";
import { DeskView } from "./desk-view.tsx";
import { DraftList } from "./draft-list.tsx";
import { findItem, type Item, loadAll, loadItem } from "./item.ts";

const TABS = { waiting: "Waiting", written: "Being written", decided: "Decided" } as const;
type Tab = keyof typeof TABS;

/** What waits for a decision, what is being written, and what became of the others. */
export function ReviewRoom() {
  const { query } = useAddress();
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
        <WaitingDrafts wanted={id} />
      ) : id !== null && tab === "decided" ? (
        <OneDraft key={id} id={id} />
      ) : (
        <DraftList key={tab} isDecided={tab === "decided"} />
      )}
    </Room>
  );
}

/** All that wait, and the one that was asked for, whatever its state is. */
function WaitingDrafts({ wanted }: { readonly wanted: string | null }) {
  const { write } = useAddress();
  const isFirst = useRef(true);
  const { data, error, again, set } = useLoad(async (signal) => {
    const items = await loadAll(["waiting"], signal);
    // Who was asked first is answered first.
    const inOrder = items.toReversed();
    if (wanted === null || items.some(({ shown }) => shown.id === wanted))
      return { items: inOrder, missing: null };
    const found = await findItem(wanted, signal);
    // A link to what waited may be old. What is decided while one looks at it stays where it is.
    if (typeof found !== "string" && isFirst.current && !isUndecided(found.shown))
      write(`/app/review?show=decided&draft=${encodeURIComponent(wanted)}`);
    isFirst.current = false;
    return typeof found === "string"
      ? { items: inOrder, missing: found }
      : { items: [found, ...inOrder], missing: null };
  }, `waiting ${waitingDrafts.value}`);
  if (data === null)
    return error === null ? (
      <Bones rows={3} label="Loading what waits" />
    ) : (
      <Problem sentence={error} onRetry={again} />
    );
  const { items, missing } = data;
  const leave = ({ shown }: Item): void => {
    const at = items.findIndex((one) => one.shown.id === shown.id);
    const left = items.filter((one) => one.shown.id !== shown.id);
    const next = left[Math.min(at, left.length - 1)];
    set({ items: left, missing: null });
    const where = next === undefined ? "" : `?draft=${encodeURIComponent(next.shown.id)}`;
    write(`/app/review${where}`);
    window.scrollTo({ top: 0 });
  };
  return (
    <>
      {error !== null && <Problem sentence={error} onRetry={again} />}
      {missing !== null && <Problem sentence={missing} />}
      {items.length === 0 ? <NothingWaits /> : <DeskView items={items} onDecided={leave} />}
    </>
  );
}

function NothingWaits() {
  return (
    <Empty
      icon={<Inbox aria-hidden="true" />}
      title="Nothing waits for you"
      text="Drafts that people or assistants submit wait here until you approve them, ask for changes or discard them."
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
function OneDraft({ id }: { readonly id: string }) {
  const { data, error, again, reload } = useLoad((signal) => loadItem(id, signal), id);
  if (data === null)
    return error === null ? (
      <Bones rows={3} label="Loading the draft" />
    ) : (
      <>
        <NothingLeft />
        <Problem sentence={error} onRetry={again} />
      </>
    );
  return (
    <>
      <NothingLeft />
      <DeskView key={data.shown.revision} items={[data]} onDecided={reload} />
    </>
  );
}

function NothingLeft() {
  return (
    <p>
      <a href="/app/review?show=decided">All that is decided</a>
    </p>
  );
}
