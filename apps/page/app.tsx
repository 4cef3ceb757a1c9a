import { LocationProvider, Route, Router } from "preact-iso";
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { OwnAddress, type RoomName, useIsConsent } from "./data/address.tsx";
import { writeTimesBy } from "../shared/values.ts";
import { keepFresh } from "./data/shared-data.ts";
import { sessionState, loadSession, type Session, session } from "./data/session.ts";
import { clockTime, formats, shortTime } from "../shared/when.ts";
import { Frame, ROOMS } from "./frame.tsx";
import { Nowhere } from "./rooms/nowhere.tsx";
import { SignIn, SignInAgain, tokenOfAddress } from "./rooms/sign-in.tsx";
import { Welcome } from "./rooms/welcome/welcome.tsx";
import { keepFocus } from "../ui/keep-focus.ts";
import { LeavingQuestion } from "./leaving-question.tsx";
import { OpenQuestion } from "../ui/ask.tsx";
import { Bones, Problem } from "../ui/states.tsx";
import { Room } from "../ui/room.tsx";
import { Toasts } from "../ui/toasts.tsx";

const AGAIN_MS = 3_000;

writeTimesBy({ moment: shortTime, clock: clockTime, day: (day) => formats.value.shortDay(day) });

/**
 * Each room is loaded with the first visit to it, and tried again where the server does not answer. Its styles hold
 * in it alone. The room before it is gone at once: it would go on working below an address that is not its own.
 */
function room(name: RoomName | "consent", load: () => Promise<ComponentType>): ComponentType {
  let loaded: ComponentType | null = null;
  return () => {
    const [Loaded, setLoaded] = useState(() => loaded);
    const [isFailed, setIsFailed] = useState(false);
    const tryLoad = async (): Promise<void> => {
      try {
        loaded ??= await load();
        setLoaded(() => loaded);
      } catch {
        setIsFailed(true);
      }
    };
    useEffect(() => void tryLoad(), []);
    useEffect(() => {
      if (!isFailed || Loaded !== null) return undefined;
      const timer = setInterval(() => void tryLoad(), AGAIN_MS);
      return () => clearInterval(timer);
    }, [isFailed, Loaded]);
    return (
      <div class={`in-${name}`}>
        {Loaded === null ? (
          <Room title={name === "consent" ? "Give access" : ROOMS[name].title}>
            {isFailed ? (
              <Problem sentence="This room did not load." onRetry={() => void tryLoad()} />
            ) : (
              <Bones rows={6} label="The room is loading" />
            )}
          </Room>
        ) : (
          <OwnAddress>
            <Loaded />
          </OwnAddress>
        )}
      </div>
    );
  };
}

const Plan = room("plan", async () => (await import("./rooms/plan/plan-room.tsx")).PlanRoom);
const Write = room("write", async () => (await import("./rooms/write/write-room.tsx")).WriteRoom);
const Review = room("review", async () => (await import("./rooms/review/review-room.tsx")).ReviewRoom);
const Trouble = room("trouble", async () => (await import("./rooms/trouble/trouble-room.tsx")).TroubleRoom);
const Results = room("results", async () => (await import("./rooms/results/results-room.tsx")).ResultsRoom);
const Channels = room(
  "channels",
  async () => (await import("./rooms/channels/channels-room.tsx")).ChannelsRoom,
);
const Settings = room(
  "settings",
  async () => (await import("./rooms/settings/settings-room.tsx")).SettingsRoom,
);
const Consent = room("consent", async () => (await import("./rooms/consent/consent-room.tsx")).ConsentRoom);

export function App() {
  useEffect(() => {
    // A new one-time address counts for more than the session that is there.
    if (tokenOfAddress() === "") void loadSession();
    else sessionState.value = { state: "out" };
  }, []);
  useEffect(() => keepFocus(), []);
  const { value } = sessionState;
  const isUnreachable = value.state === "unreachable";
  useEffect(() => {
    if (!isUnreachable) return undefined;
    const timer = setInterval(() => void loadSession(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [isUnreachable]);
  return (
    <>
      {value.state === "in" ? (
        <>
          <Rooms key={rightsOf(value.session)} />
          {value.isOver === true && <SignInAgain />}
        </>
      ) : value.state === "out" ? (
        <SignIn />
      ) : (
        <main class="alone">
          {value.state === "loading" ? (
            <p class="muted" role="status">
              Posthorn is loading…
            </p>
          ) : (
            <Problem sentence={value.sentence} onRetry={() => void loadSession()} />
          )}
        </main>
      )}
      <Toasts />
    </>
  );
}

/** A person who signs in with other rights than the one before finds nothing of theirs. */
function rightsOf({ name, permissions, accountIds }: Session): string {
  return JSON.stringify([name, permissions, accountIds]);
}

function Rooms() {
  useEffect(() => keepFresh(), [session.value?.id]);
  return (
    <LocationProvider scope="/app">
      <Places />
      <OpenQuestion />
      <LeavingQuestion />
    </LocationProvider>
  );
}

/** A program's question stands alone: nothing around it leads away from it. */
function Places() {
  if (useIsConsent()) return <Consent />;
  return (
    <Frame>
      <Welcome />
      <Router>
        <Route path="/app" component={Plan} />
        <Route path="/app/plan" component={Plan} />
        <Route path="/app/write" component={Write} />
        <Route path="/app/review" component={Review} />
        <Route path="/app/trouble" component={Trouble} />
        <Route path="/app/results" component={Results} />
        <Route path="/app/channels" component={Channels} />
        <Route path="/app/settings" component={Settings} />
        <Route default component={Nowhere} />
      </Router>
    </Frame>
  );
}
