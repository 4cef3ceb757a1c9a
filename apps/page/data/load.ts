import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isFinal } from "./wire.ts";
import { offline } from "../../shared/reach.ts";
import { session } from "./session.ts";
import { sentenceOf } from "../../shared/texts.ts";

export interface LoadResult<T> {
  /** Null until the first answer. The last answer stays while a newer one is asked for. */
  readonly data: T | null;
  /** Why the latest try failed, as a sentence. */
  readonly error: string | null;
  readonly isLoading: boolean;
  reload(): void;
  /** Tries again. Undefined if the server would answer the same, as for something that does not exist. */
  readonly again: (() => void) | undefined;
  /** Replaces the loaded data after a known change. */
  set(data: T): void;
}

type State<T> = Pick<LoadResult<T>, "data" | "error" | "isLoading"> & { readonly isFinal: boolean };

/** Loads something for a component, again when `key` changes. An answer that comes too late is dropped. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, key: string): LoadResult<T> {
  const [state, setState] = useState<State<T>>({ data: null, error: null, isFinal: false, isLoading: true });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const call = new AbortController();
    setState((before) => ({ ...before, isLoading: true }));
    latest.current(call.signal).then(
      (data) => {
        if (!call.signal.aborted) setState({ data, error: null, isFinal: false, isLoading: false });
      },
      (error: unknown) => {
        if (!call.signal.aborted)
          setState(({ data }) => ({
            data,
            error: sentenceOf(error),
            isFinal: isFinal(error),
            isLoading: false,
          }));
      },
    );
    return () => call.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const signedInBy = session.value?.id;
  const isReached = offline.value === null;
  // What failed is tried again once the server is back, or someone signed in again.
  useEffect(() => {
    if (isReached && state.error !== null) reload();
  }, [signedInBy, isReached]);
  const set = useCallback(
    (data: T) => setState({ data, error: null, isFinal: false, isLoading: false }),
    [],
  );
  return { ...state, reload, again: state.isFinal ? undefined : reload, set };
}
