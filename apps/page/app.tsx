import { ErrorBoundary, lazy, LocationProvider, Route, Router } from "preact-iso";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { keepFresh } from "./data/shared-data.ts";
import { known, loadSession, type Session, session } from "./data/session.ts";
import { Frame } from "./frame.tsx";
import { SignIn, SignInAgain } from "./rooms/sign-in.tsx";
import { Welcome } from "./rooms/welcome/welcome.tsx";
import { keepFocus } from "./ui/keep-focus.ts";
import { Problem } from "./ui/states.tsx";
import { Toasts } from "./ui/toasts.tsx";

const AGAIN_MS = 3_000;

/** Each room is loaded with the first visit to it, and tried again where the server does not answer. */
function room(load: () => Promise<ComponentType>): ReturnType<typeof lazy<ComponentType>> {
  const tryLoad = (): Promise<ComponentType> =>
    load().catch(async () => {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      return tryLoad();
    });
  return lazy(tryLoad);
}

const Plan = room(() => import("./rooms/plan/plan-room.tsx").then(({ PlanRoom }) => PlanRoom));
const Write = room(() => import("./rooms/write/write-room.tsx").then(({ WriteRoom }) => WriteRoom));
const Review = room(() => import("./rooms/review/review-room.tsx").then(({ ReviewRoom }) => ReviewRoom));
const Trouble = room(() => import("./rooms/trouble/trouble-room.tsx").then(({ TroubleRoom }) => TroubleRoom));
const Results = room(() => import("./rooms/results/results-room.tsx").then(({ ResultsRoom }) => ResultsRoom));
const Channels = room(() =>
  import("./rooms/channels/channels-room.tsx").then(({ ChannelsRoom }) => ChannelsRoom),
);
const Settings = room(() =>
  import("./rooms/settings/settings-room.tsx").then(({ SettingsRoom }) => SettingsRoom),
);

export function App() {
  useEffect(() => void loadSession(), []);
  useEffect(() => keepFocus(), []);
  const { value } = known;
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

/** Whoever signs in with other rights than the one before finds nothing of theirs. */
function rightsOf({ name, permissions, accountIds }: Session): string {
  return JSON.stringify([name, permissions, accountIds]);
}

function Rooms() {
  useEffect(() => keepFresh(), [session.value?.id]);
  return (
    <LocationProvider scope="/app">
      <Frame>
        <Welcome />
        <ErrorBoundary>
          <Router>
            <Route path="/app/plan" component={Plan} />
            <Route path="/app/write" component={Write} />
            <Route path="/app/review" component={Review} />
            <Route path="/app/trouble" component={Trouble} />
            <Route path="/app/results" component={Results} />
            <Route path="/app/channels" component={Channels} />
            <Route path="/app/settings" component={Settings} />
            <Route default component={Plan} />
          </Router>
        </ErrorBoundary>
      </Frame>
    </LocationProvider>
  );
}
