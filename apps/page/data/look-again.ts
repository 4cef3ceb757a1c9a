import { useEffect, useRef } from "preact/hooks";
import { offline } from "../../shared/reach.ts";

/** Other devices and agents change things, too. */
const EVERY_MS = 30_000;

/** Looks again when the tab is seen again, and now and then while it is. */
export function useLookAgain(look: () => void): void {
  const latest = useRef(look);
  latest.current = look;
  useEffect(() => {
    const again = (): void => {
      if (document.visibilityState === "visible" && offline.value === null) latest.current();
    };
    const timer = setInterval(again, EVERY_MS);
    document.addEventListener("visibilitychange", again);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", again);
    };
  }, []);
}
