import { useRef, useState } from "preact/hooks";
import { sentenceOf } from "../wire.ts";
import { useRefusal } from "./use-refusal.ts";

/** Work that a button or a key begins, one at a time, and why the last was refused. */
export function useWork() {
  const [doing, setDoing] = useState<string | null>(null);
  const [error, setError] = useRefusal();
  // A second press may come before the page shows the first.
  const isUnderWay = useRef(false);
  /** Answers whether it was done. `what` is in `doing` meanwhile. `tell`: why it was refused. */
  const run = async (
    work: () => Promise<unknown>,
    what = "work",
    tell: (reason: unknown) => string = sentenceOf,
  ): Promise<boolean> => {
    if (isUnderWay.current) return false;
    isUnderWay.current = true;
    setDoing(what);
    setError(null);
    try {
      await work();
      return true;
    } catch (reason) {
      setError(tell(reason));
      return false;
    } finally {
      isUnderWay.current = false;
      setDoing(null);
    }
  };
  return { doing, isBusy: doing !== null, error, setError, run };
}
