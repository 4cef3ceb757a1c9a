import { Smartphone } from "lucide-preact";
import { useEffect, useState } from "preact/hooks";
import { session } from "../../data/session.ts";
import { useWork } from "../../../ui/use-work.ts";
import { Button } from "../../../ui/button.tsx";
import { say } from "../../../ui/toasts.tsx";
import { type PushState, readPushState, turnPushOff, turnPushOn } from "./push.ts";

const WORDS: Readonly<Record<PushState, string>> = {
  cannot: "This browser takes no messages here. On a phone, add the page to the home screen first.",
  denied: "This browser was told to show no messages of this page. Allow them in its settings for this page.",
  off: "The browser shows a message when something needs you, also while this page is closed.",
  on: "This browser shows a message when something needs you.",
};

/** Messages of the browser itself. Absent where the server sends none. */
export function ThisDevice({ onChange }: { onChange(): void }) {
  const [state, setState] = useState<PushState | null>(null);
  const { isBusy, error, run } = useWork();
  const publicKey = session.value?.push?.publicKey;
  useEffect(() => {
    readPushState().then(setState, () => setState("cannot"));
  }, []);
  if (publicKey === undefined || state === null) return null;
  const turn = (): Promise<boolean> =>
    run(async () => {
      const next = state === "on" ? await turnPushOff() : await turnPushOn(publicKey, navigator.userAgent);
      setState(next);
      if (next === "on") say("Messages come to this device now.");
      onChange();
    });
  return (
    <ul class="rows">
      <li>
        <Smartphone aria-hidden="true" class="row-sign" />
        <div class="about">
          <b>On this device</b>
          <span class="muted note">{WORDS[state]}</span>
          {error !== null && (
            <span class="note bad-text" role="alert">
              {error}
            </span>
          )}
        </div>
        {(state === "off" || state === "on") && (
          <Button isSmall kind={state === "off" ? "main" : "plain"} isBusy={isBusy} onClick={turn}>
            {state === "off" ? "Turn on" : "Turn off"}
          </Button>
        )}
      </li>
    </ul>
  );
}
