import { ErrorBoundary, lazy, LocationProvider, Route, Router } from "preact-iso";
import { useEffect } from "preact/hooks";
import { keepFresh } from "./data/shared-data.ts";
import { known, loadSession } from "./data/session.ts";
import { Frame } from "./frame.tsx";
import { SignIn, tokenOfAddress } from "./rooms/sign-in.tsx";
import { Welcome } from "./rooms/welcome/welcome.tsx";
import { Problem } from "./ui/states.tsx";
import { Toasts } from "./ui/toasts.tsx";

// Each room is loaded with the first visit to it.
const Plan = lazy(() => import("./rooms/plan/plan-room.tsx").then(({ PlanRoom }) => PlanRoom));
const Write = lazy(() => import("./rooms/write/write-room.tsx").then(({ WriteRoom }) => WriteRoom));
const Review = lazy(() => import("./rooms/review/review-room.tsx").then(({ ReviewRoom }) => ReviewRoom));
const Trouble = lazy(() => import("./rooms/trouble/trouble-room.tsx").then(({ TroubleRoom }) => TroubleRoom));
const Results = lazy(() => import("./rooms/results/results-room.tsx").then(({ ResultsRoom }) => ResultsRoom));
const Channels = lazy(() =>
  import("./rooms/channels/channels-room.tsx").then(({ ChannelsRoom }) => ChannelsRoom),
);
const Settings = lazy(() =>
  import("./rooms/settings/settings-room.tsx").then(({ SettingsRoom }) => SettingsRoom),
);

export function App() {
  useEffect(() => {
    // A new one-time address counts for more than the session that is there.
    if (tokenOfAddress() === "") void loadSession();
    else known.value = { state: "out" };
  }, []);
  const { value } = known;
  return (
    <>
      {value.state === "in" ? (
        <Rooms />
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

function Rooms() {
  useEffect(() => keepFresh(), []);
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
