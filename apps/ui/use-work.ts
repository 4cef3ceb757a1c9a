import { useEffect, useRef, useState } from "preact/hooks";
import { isUnreached, offline } from "../shared/reach.ts";
import { sentenceOf } from "../shared/texts.ts";

/** The reason of a refusal. Cleared once an unreachable server answers again. */
export function useRefusal(): readonly [string | null, (sentence: string | null) => void] {
  const [refusal, setRefusal] = useState<string | null>(null);
  const isReached = offline.value === null;
  useEffect(() => {
    if (isReached) setRefusal((told) => (told !== null && isUnreached(told) ? null : told));
  }, [isReached]);
  return [refusal, setRefusal];
}

/** Work that a button or a key begins, one at a time, and why the last was refused. */
export function useWork() {
  const [doing, setDoing] = useState<string | null>(null);
  const [error, setError] = useRefusal();
  // A second press may come before the page shows the first.
  const isUnderWay = useRef(false);
  /** Answers whether it was done. `what` is in `doing` meanwhile. `wordsOf`: the reason of a refusal in words. */
  const run = async (
    work: () => Promise<unknown>,
    what = "work",
    wordsOf: (reason: unknown) => string = sentenceOf,
  ): Promise<boolean> => {
    if (isUnderWay.current) return false;
    isUnderWay.current = true;
    setDoing(what);
    setError(null);
    try {
      await work();
      return true;
    } catch (reason) {
      setError(wordsOf(reason));
      return false;
    } finally {
      isUnderWay.current = false;
      setDoing(null);
    }
  };
  return { doing, isBusy: doing !== null, error, setError, run };
}
