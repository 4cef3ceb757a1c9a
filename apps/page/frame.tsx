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
import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import { may, signOut } from "./data/session.ts";
import { offline, status, troubleCount, waitingDrafts } from "./data/shared-data.ts";
import { Mark } from "./ui/mark.tsx";
import { Button, ButtonLink } from "./ui/button.tsx";
import { Sheet } from "./ui/sheet.tsx";
import { complain } from "./ui/toasts.tsx";
import { sentenceOf } from "./wire.ts";

const ROOMS = {
  plan: { title: "Plan", icon: CalendarDays },
  write: { title: "Write", icon: PenLine },
  review: { title: "Review", icon: Inbox },
  trouble: { title: "Trouble", icon: TriangleAlert },
  results: { title: "Results", icon: ChartNoAxesColumn },
  channels: { title: "Channels", icon: Radio },
  settings: { title: "Settings", icon: Gear },
} as const;
type RoomName = keyof typeof ROOMS;

const ON_EVERY_SCREEN: readonly RoomName[] = ["plan", "write", "review", "trouble"];
const ELSEWHERE: readonly RoomName[] = ["results", "channels", "settings"];

/** Navigation around the room that is shown. */
export function Frame({ children }: { readonly children: ComponentChildren }) {
  const [, , name = ""] = useLocation().path.split("/");
  const room = Object.hasOwn(ROOMS, name) ? name : "plan";
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
      <div class={`in-${room}`}>
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
  const { path } = useLocation();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <div class="rooms">
      {ON_EVERY_SCREEN.map((name) => (
        <RoomLink key={name} name={name} path={path} />
      ))}
      {ELSEWHERE.map((name) => (
        <RoomLink key={name} name={name} path={path} class="wide-only" />
      ))}
      <Button kind="quiet" class="more" aria-haspopup="dialog" onClick={() => setIsOpen(true)}>
        <Menu aria-hidden="true" />
        More
      </Button>
      {isOpen && (
        <Sheet title="More" onClose={() => setIsOpen(false)}>
          <div class="rooms in-sheet" onClick={() => setIsOpen(false)}>
            {ELSEWHERE.map((name) => (
              <RoomLink key={name} name={name} path={path} />
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
  path,
  ...rest
}: {
  readonly name: RoomName;
  readonly path: string;
  readonly class?: string;
}) {
  const { title, icon: Icon } = ROOMS[name];
  const href = `/app/${name}`;
  const isHere = path === href || (name === "plan" && path === "/app");
  const count = name === "review" ? waitingDrafts.value : name === "trouble" ? troubleCount.value : 0;
  return (
    <a href={href} class={rest.class} aria-current={isHere ? "page" : undefined}>
      <Icon aria-hidden="true" />
      {title}
      {count > 0 && (
        <span class={name === "trouble" ? "count bad" : "count"}>
          {count > 99 ? "99+" : count}
          <span class="unseen">{name === "trouble" ? " need you" : " wait for you"}</span>
        </span>
      )}
    </a>
  );
}

/** Whether posts go out. */
function Pulse() {
  const now = status.value;
  if (now === null) return null;
  const { running } = now.publisher;
  return (
    <>
      <p class={running ? "pulse" : "pulse bad"}>
        <span class="dot" aria-hidden="true" />
        {running ? "Publishing works" : "Nothing goes out: no publisher runs"}
      </p>
      <SignOut />
    </>
  );
}

export function SignOut() {
  return (
    <Button
      kind="quiet"
      isSmall
      class="sign-out"
      onClick={() => signOut().catch((error: unknown) => complain(sentenceOf(error)))}
    >
      Sign out
    </Button>
  );
}
