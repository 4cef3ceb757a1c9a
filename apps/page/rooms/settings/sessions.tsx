import { Monitor } from "lucide-preact";
import { useState } from "preact/hooks";
import { NO_KEY } from "../../../shared/drafts.ts";
import { useLoad } from "../../data/load.ts";
import { Ask } from "../../../ui/ask.tsx";
import { Button } from "../../../ui/button.tsx";
import { Bones, Problem } from "../../../ui/states.tsx";
import { say } from "../../../ui/toasts.tsx";
import { endSession, listSessions, type PageSession } from "./keys-api.ts";
import { momentInWords } from "./moments.ts";

/** Browsers that are signed in to this page. */
export function Sessions() {
  const { data, error, again, reload } = useLoad(listSessions, "sessions");
  const [ending, setEnding] = useState<PageSession | null>(null);
  return (
    <>
      <h3>Signed in</h3>
      {error !== null && <Problem sentence={error} onRetry={again} />}
      {data === null && error === null && <Bones rows={1} label="Browsers that are signed in are loading" />}
      {data !== null && (
        <ul class="rows">
          {data.map((one) => (
            <li key={one.id}>
              <Monitor aria-hidden="true" class="row-sign" />
              <div class="about">
                <b>{one.browser}</b>
                <span class="muted note">
                  {one.name === NO_KEY ? "From this computer, without a key" : `By the key "${one.name}"`} ·{" "}
                  {one.isCurrent ? "This browser, now" : `Last seen ${momentInWords(one.lastSeenAt)}`}
                </span>
              </div>
              {one.isCurrent ? (
                <span class="badge good">This one</span>
              ) : (
                <Button isSmall aria-label={`Sign out ${one.browser}`} onClick={() => setEnding(one)}>
                  Sign out
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {ending !== null && (
        <Ask
          question={`Sign out ${ending.browser}?`}
          text="The one who uses it must sign in again. The key stays good."
          yes="Sign out"
          no="Leave it"
          isDanger
          onYes={async () => {
            await endSession(ending.id);
            say(`${ending.browser} is signed out.`);
            reload();
          }}
          onClose={() => setEnding(null)}
        />
      )}
    </>
  );
}
