import {
  CalendarDays,
  ChartNoAxesColumn,
  Inbox,
  Menu,
  PenLine,
  Radio,
  Settings as Gear,
  TriangleAlert,
} from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type RoomName, useRoomName } from "./data/address.tsx";
import { dropEdits, hasEdits } from "./data/kept-edits.ts";
import { may, session, signOut } from "./data/session.ts";
import { loadStatus, status, troubleCount, waitingDrafts } from "./data/shared-data.ts";
import { closeQuestion } from "../ui/ask.tsx";
import { Mark } from "../ui/mark.tsx";
import { Button, ButtonLink } from "../ui/button.tsx";
import { leave, lossIn, saveAll, UNSAVED } from "../ui/leaving.ts";
import { Sheet } from "../ui/sheet.tsx";
import { closeComplaints, complain } from "../ui/toasts.tsx";
import { sentenceOf } from "../shared/texts.ts";
import { offline } from "../shared/reach.ts";

export const ROOMS = {
  plan: { title: "Plan", icon: CalendarDays },
  write: { title: "Write", icon: PenLine },
  review: { title: "Review", icon: Inbox },
  trouble: { title: "Trouble", icon: TriangleAlert },
  results: { title: "Results", icon: ChartNoAxesColumn },
  channels: { title: "Channels", icon: Radio },
  settings: { title: "Settings", icon: Gear },
} as const satisfies Record<RoomName, object>;

const ON_EVERY_SCREEN: readonly RoomName[] = ["plan", "write", "review", "trouble"];
const ELSEWHERE: readonly RoomName[] = ["results", "channels", "settings"];

/** Navigation around the room that is shown. */
export function Frame({ children }: { readonly children: ComponentChildren }) {
  const room = useRoomName();
  useEffect(() => {
    // Refresh the badges when the room changes. The first time they are being loaded anyway.
    if (status.value !== null) void loadStatus();
    return () => {
      closeComplaints();
      closeQuestion();
    };
  }, [room]);
  return (
    <div class="frame">
      <nav class="side" aria-label="Rooms">
        <a class="brand" href="/app/plan">
          <Mark />
          Posthorn
        </a>
        {may("draft") && (
          <ButtonLink href="/app/write" kind="main" class="write">
            <PenLine aria-hidden="true" />
            New post
          </ButtonLink>
        )}
        <Links />
        <Pulse />
      </nav>
      <div>
        {offline.value !== null && (
          <p class="offline" role="status">
            {offline.value} What you see may be old.
          </p>
        )}
        {children}
      </div>
    </div>
  );
}

function Links() {
  const here = useRoomName();
  const [isOpen, setIsOpen] = useState(false);
  const isElsewhere = ELSEWHERE.some((name) => name === here);
  return (
    <div class="rooms">
      {ON_EVERY_SCREEN.map((name) => (
        <RoomLink key={name} name={name} isHere={name === here} />
      ))}
      {ELSEWHERE.map((name) => (
        <RoomLink key={name} name={name} isHere={name === here} class="wide-only" />
      ))}
      <Button
        kind="quiet"
        class={isElsewhere ? "more here" : "more"}
        aria-haspopup="dialog"
        onClick={() => setIsOpen(true)}
      >
        <Menu aria-hidden="true" />
        More
      </Button>
      {isOpen && (
        <Sheet title="More" onClose={() => setIsOpen(false)}>
          <div class="rooms in-sheet" onClick={() => setIsOpen(false)}>
            {ELSEWHERE.map((name) => (
              <RoomLink key={name} name={name} isHere={name === here} />
            ))}
          </div>
          <SignOut />
        </Sheet>
      )}
    </div>
  );
}

function RoomLink({
  name,
  isHere,
  ...rest
}: {
  readonly name: RoomName;
  readonly isHere: boolean;
  readonly class?: string;
}) {
  const { title, icon: Icon } = ROOMS[name];
  const count = name === "review" ? waitingDrafts.value : name === "trouble" ? troubleCount.value : 0;
  return (
    <a href={`/app/${name}`} class={rest.class} aria-current={isHere ? "page" : undefined}>
      <Icon aria-hidden="true" />
      {title}
      {count > 0 && (
        <span class={name === "trouble" ? "count bad" : "count"}>
          {count > 99 ? "99+" : count}
          <span class="unseen">
            {name === "trouble"
              ? count === 1
                ? " needs you"
                : " need you"
              : count === 1
                ? " waits for you"
                : " wait for you"}
          </span>
        </span>
      )}
    </a>
  );
}

/** Whether posts go out. A page that lost the network before its first answer says so too. */
function Pulse() {
  const isKnown = offline.value === null;
  if (status.value === null && isKnown) return null;
  const running = status.value?.publisher.running ?? false;
  return (
    <>
      <p class={!isKnown ? "pulse unknown" : running ? "pulse" : "pulse bad"}>
        <span class="dot" aria-hidden="true" />
        {!isKnown
          ? "Not known now whether publishing is on"
          : running
            ? "Publishing is on"
            : "Nothing goes out: no publisher runs"}
      </p>
      <SignOut />
    </>
  );
}

const EDITS_LOST = {
  ...UNSAVED,
  text: "What you wrote and did not save is kept in this browser alone, and goes.",
};

/** What was typed a moment ago is saved first. What cannot be saved is asked about. */
export function SignOut() {
  const [isBusy, setIsBusy] = useState(false);
  const name = session.value?.name ?? "";
  const end = (): void =>
    void signOut()
      .then(() => dropEdits(name))
      .catch((error: unknown) => complain(sentenceOf(error)));
  const begin = async (): Promise<void> => {
    setIsBusy(true);
    const isSaved = await saveAll();
    setIsBusy(false);
    leave(() => (isSaved ? (lossIn(null) ?? (hasEdits(name) ? EDITS_LOST : null)) : UNSAVED), end);
  };
  return (
    <Button kind="quiet" isSmall class="sign-out" isBusy={isBusy} onClick={begin}>
      Sign out
    </Button>
  );
}
