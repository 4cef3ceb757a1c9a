import { useEffect, useState } from "preact/hooks";
import { loadAccounts } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { sentenceOf } from "../../../shared/texts.ts";

type Step =
  | { readonly at: "idle"; readonly error: string | null }
  | { readonly at: "asking" }
  /** The person agrees on the page at `url`. */
  | { readonly at: "away"; readonly url: string; readonly connectId: string }
  | { readonly at: "done" };

const ASK_EVERY_MS = 2_000;

export interface Reconnect {
  readonly step: Step;
  start(): void;
}

/** Connects a channel again: opens the page on which a person agrees, and notices when they are done. */
export function useReconnect(accountId: string, whenDone: () => void): Reconnect {
  const [step, setStep] = useState<Step>({ at: "idle", error: null });
  const finish = async (): Promise<void> => {
    setStep({ at: "done" });
    await loadAccounts();
    whenDone();
  };
  const connectId = step.at === "away" ? step.connectId : null;
  useEffect(() => {
    if (connectId === null) return;
    let isOver = false;
    const look = async (): Promise<void> => {
      const { status, error } = await call("check_connection", { connectId });
      if (isOver) return;
      if (status === "connected") await finish();
      else if (status === "failed" || status === "expired")
        setStep({ at: "idle", error: error ?? "The page was not used in time. Start again." });
    };
    // The server being out of reach for a moment is said by the frame.
    const timer = setInterval(() => void look().catch(() => {}), ASK_EVERY_MS);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [connectId]);
  const start = async (): Promise<void> => {
    setStep({ at: "asking" });
    try {
      const answer = await call("connect_channel", { accountId });
      if (answer.url === null || answer.connectId === null) return await finish();
      // A browser may refuse to open it. The link stands beside it.
      const opened = window.open(answer.url, "_blank");
      if (opened !== null) opened.opener = null;
      setStep({ at: "away", url: answer.url, connectId: answer.connectId });
    } catch (reason) {
      setStep({ at: "idle", error: sentenceOf(reason) });
    }
  };
  return { step, start: () => void start() };
}
