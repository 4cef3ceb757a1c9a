import { useEffect, useState } from "preact/hooks";
import { isUnreached } from "../wire.ts";
import { offline } from "./shared-data.ts";

/** Why something was refused. That the server was out of reach is over once it answers again. */
export function useRefusal(): readonly [string | null, (sentence: string | null) => void] {
  const [refusal, setRefusal] = useState<string | null>(null);
  const isReached = offline.value === null;
  useEffect(() => {
    if (isReached) setRefusal((told) => (told !== null && isUnreached(told) ? null : told));
  }, [isReached]);
  return [refusal, setRefusal];
}
