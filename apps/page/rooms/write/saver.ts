/** How far what is written has been kept. */
export type SaveState =
  | { readonly kind: "nothing" }
  | { readonly kind: "changed" }
  | { readonly kind: "saving" }
  | { readonly kind: "saved"; readonly at: number }
  | { readonly kind: "failed"; readonly sentence: string }
  /** Someone else changed it in the meantime. */
  | { readonly kind: "conflict"; readonly sentence: string };

/** Why a save was refused. `lost`: whether it was done is not known, so the same is sent again first. */
export interface Refusal {
  readonly kind: "lost" | "conflict" | "refused";
  readonly sentence: string;
}

interface SaverOptions<Content> {
  /** So long after the last change. */
  readonly waitMs: number;
  /** So long after an answer that was lost. */
  readonly againMs: number;
  now(): number;
  /** What is to be kept now. Null: nothing yet. */
  read(): Content | null;
  /** Keeps it. The same key: the same try, sent again. */
  save(content: Content, key: string): Promise<void>;
  newKey(): string;
  refusalOf(error: unknown): Refusal;
  onState(state: SaveState): void;
}

interface Saver {
  /** Something was changed. */
  change(): void;
  /** Saves what is not saved yet, at once. Answers whether all is kept. */
  flush(): Promise<boolean>;
  /** Whether something is not kept yet. */
  isBehind(): boolean;
  /** After a conflict was decided: drops what was outstanding. `isBehind`: the present content must be saved. */
  begin(isBehind: boolean): void;
  /** Saves nothing any more, and tries nothing again. */
  end(): void;
}

/**
 * Saves in turn: one at a time, the newest content, a moment after the last change. What fails stays outstanding
 * and is tried again with the next change.
 */
export function createSaver<Content>(options: SaverOptions<Content>): Saver {
  let wanted = 0;
  let kept = 0;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let running: Promise<void> | null = null;
  let isHeld = false;
  let isEnded = false;
  /** A try whose answer was lost. */
  let lost: { readonly content: Content; readonly key: string; readonly version: number } | null = null;

  const stopTimer = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
  const later = (ms: number): void => {
    stopTimer();
    // Who goes on with it saves it: two would save it twice.
    if (isEnded) return;
    timer = setTimeout(() => void run(), ms);
  };

  const saveNext = async (): Promise<boolean> => {
    const content = options.read();
    const attempt = lost ?? (content === null ? null : { content, key: options.newKey(), version: wanted });
    if (attempt === null) {
      kept = wanted;
      options.onState({ kind: "nothing" });
      return false;
    }
    options.onState({ kind: "saving" });
    try {
      await options.save(attempt.content, attempt.key);
      lost = null;
      kept = attempt.version;
      options.onState(kept < wanted ? { kind: "changed" } : { kind: "saved", at: options.now() });
      return kept < wanted;
    } catch (error) {
      const { kind, sentence } = options.refusalOf(error);
      lost = kind === "lost" ? attempt : null;
      isHeld = kind === "conflict";
      options.onState({ kind: isHeld ? "conflict" : "failed", sentence });
      if (kind === "lost") later(options.againMs);
      return false;
    }
  };

  const run = (): Promise<void> => {
    stopTimer();
    if (running !== null) return running;
    const work = async (): Promise<void> => {
      while (!isHeld && kept < wanted && (await saveNext()));
    };
    running = work().finally(() => {
      running = null;
    });
    return running;
  };

  return {
    change() {
      wanted += 1;
      if (isHeld) return;
      if (running === null) options.onState({ kind: "changed" });
      later(options.waitMs);
    },
    async flush() {
      while (running !== null) await running;
      if (kept < wanted && !isHeld) await run();
      return kept === wanted && !isHeld;
    },
    isBehind: () => kept < wanted,
    begin(isBehind) {
      stopTimer();
      isHeld = false;
      lost = null;
      wanted += 1;
      kept = isBehind ? wanted - 1 : wanted;
      if (isBehind) later(0);
      else options.onState({ kind: "nothing" });
    },
    end() {
      isEnded = true;
      stopTimer();
    },
  };
}
