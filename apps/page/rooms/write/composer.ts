import { signal, type Signal } from "@preact/signals";
import type { Check, Draft } from "../../../../src/domain/drafts/draft.ts";
import type { Post } from "../../../../src/domain/posts/post.ts";
import { now } from "../../../shared/clock.ts";
import type { Json } from "../../../shared/json.ts";
import { session, zone } from "../../data/session.ts";
import { call } from "../../data/tools.ts";
import { CallError } from "../../data/wire.ts";
import { type Form, isAnything, type OwnContent, type TargetForm } from "./form.ts";
import { createKeptCopy, type KeptForm } from "./kept-forms.ts";
import { changesIn } from "./remarks.ts";
import { uncheckedPreviews } from "./unchecked-previews.ts";
import { createSaver, type Refusal, type SaveState } from "./saver.ts";
import { sentenceOf } from "../../../shared/texts.ts";
import { formOf } from "./read-form.ts";
import { draftOf, mergedForm } from "./send-form.ts";

export const WAIT_MS = 400;
export const AGAIN_MS = 5_000;
export const CHOOSE_ABOVE =
  "Nothing was done: this was changed elsewhere. Choose above which one to go on with.";
/** Browsers let so much go on when a window is closed. */
const MAX_KEEPALIVE_CHARS = 20_000;

/** What is being written, and what the server says of it. */
export interface Composer {
  readonly form: Signal<Form>;
  readonly checks: Signal<readonly Check[]>;
  readonly state: Signal<SaveState>;
  /** Null: nothing was saved yet, or a post is changed. */
  readonly draft: Signal<Draft | null>;
  /** The post that is changed. Null: a draft is written. */
  readonly post: Post | null;
  /** Channels that were taken off, and what was different on one: it is there again when it is wanted again. */
  readonly channelsAside: Map<string, TargetForm>;
  readonly ownAside: Map<string, OwnContent>;
  edit(change: (form: Form) => Form): void;
  /** Saves or checks what is outstanding. Answers whether all of it succeeded. */
  flush(): Promise<boolean>;
  /** As `flush`, on the person's request: also saves content that would only be checked. */
  keep(): Promise<boolean>;
  /** Whether something would be lost with the window. */
  isBehind(): boolean;
  /** Whether what the server does not have stands in this browser. */
  isKept(): boolean;
  /** Set if a copy of this browser was restored. `isOld`: the post was changed elsewhere since then. */
  readonly takenUp: Signal<{ readonly isOld: boolean } | null>;
  /** Drops the restored copy. */
  giveUp(): void;
  /** Set only for the change of a post. */
  readonly change: PostChange | null;
  /** After a conflict: takes the other version. */
  takeTheirs(): Promise<void>;
  /** After a conflict: saves this version as another draft. */
  keepMine(): void;
  /** The room was left: what could not be saved is still tried again. */
  end(): void;
  /** Saves nothing any more. */
  stop(): void;
}

interface PostChange {
  /** What became of it where it cannot be changed like this any more, found out while one writes. Null: it can. */
  readonly gone: Signal<Post["status"] | null>;
  /** Changes or sends the post again. */
  send(): Promise<Post>;
  /** What others changed meanwhile beside it, told once. Empty: nothing. */
  elsewhere(): string;
}

interface Start {
  readonly form: Form;
  readonly draft: Draft | null;
  /** Nothing is kept before the person changes something, or wants it kept. */
  readonly isCopy?: boolean;
  /** What was written here before, and not saved. */
  readonly kept?: KeptForm | null;
  /** Told once there is a draft, or another one, for the address. */
  onDraft(id: string): void;
}

/** Writes a draft: every change is saved, and each save answers what the channels say of it. */
export function createDraftComposer({
  form: first,
  draft: found,
  isCopy = false,
  kept: taken = null,
  onDraft,
}: Start): Composer {
  const form = signal(taken?.form ?? first);
  // Where it was changed elsewhere since then, the server says so.
  const draft = signal(found === null || taken === null ? found : { ...found, revision: taken.revision });
  const checks = signal<readonly Check[]>(found?.checks ?? (isCopy ? uncheckedPreviews(first) : []));
  const state = signal<SaveState>({ kind: "nothing" });
  const takenUp = signal(taken === null ? null : { isOld: false });
  const keptCopy = createKeptCopy(taken?.id ?? null);

  let isEnded = false;
  /** The server's version in the form of a save: only differences are sent, so that others see what changed. */
  let kept: Json = found === null ? {} : draftOf(first, zone.value, []);
  /** What was restored may have been written on an older version. */
  let isFromKept = taken === null || taken.revision === found?.revision;

  const take = (answer: Draft): void => {
    const isOther = draft.value?.id !== answer.id;
    draft.value = answer;
    // A save that ends after the room was left changes no address.
    if (isOther && !isEnded) onDraft(answer.id);
    checks.value = answer.checks;
  };
  const saver = createSaver<{ readonly whole: Json; readonly args: Json }>({
    waitMs: WAIT_MS,
    againMs: AGAIN_MS,
    now,
    newKey: () => crypto.randomUUID(),
    read: () => {
      const { value } = draft;
      const whole = draftOf(form.value, zone.value, []);
      if (value === null) return isAnything(form.value) ? { whole, args: whole } : null;
      const now = draftOf(form.value, zone.value, Object.keys(value.metadata ?? {}));
      const args = Object.fromEntries(Object.entries(now).filter(([key]) => !isSame(whole[key], kept[key])));
      return { whole, args: { id: value.id, revision: value.revision, ...args } };
    },
    save: async ({ whole, args }, idempotencyKey) => {
      // Changed and changed back: the server has it already.
      if (Object.keys(args).every((key) => key === "id" || key === "revision")) return;
      const keepalive = JSON.stringify(args).length < MAX_KEEPALIVE_CHARS;
      take((await call("save_draft", args, { idempotencyKey, keepalive })).draft);
      kept = { ...kept, ...whole };
      isFromKept = true;
    },
    refusalOf,
    onState: (value) => {
      state.value = value;
      if (value.kind === "saved" || value.kind === "nothing") keptCopy.drop(draft.value);
      if (value.kind === "saved") takenUp.value = null;
    },
  });
  const set = (next: Form): void => {
    form.value = next;
    keptCopy.keep(draft.value, next);
    saver.change();
  };
  // What another app shares is kept as what is typed.
  if (taken !== null || (found === null && !isCopy && isAnything(first))) saver.change();
  return {
    form,
    checks,
    state,
    draft,
    post: null,
    change: null,
    channelsAside: new Map(),
    ownAside: new Map(),
    edit: (change) => set(change(form.value)),
    flush: saver.flush,
    keep() {
      if (draft.value === null && !saver.isBehind()) saver.change();
      return saver.flush();
    },
    isBehind: () => saver.isBehind() && !keptCopy.isKept(),
    isKept: () => saver.isBehind() && keptCopy.isKept(),
    takenUp,
    giveUp() {
      takenUp.value = null;
      set(first);
    },
    async takeTheirs() {
      const { drafts } = await call("list_drafts", { id: draft.value?.id });
      const [theirs] = drafts;
      if (theirs === undefined) throw new Error("The draft is gone. Keep yours as a copy.");
      if (theirs.state !== "open" && theirs.state !== "waiting")
        throw new Error("It is decided, so it cannot be changed any more. Keep yours as a copy.");
      const read = formOf(theirs, now(), zone.value);
      form.value = isFromKept ? mergedForm(read, form.value, kept, zone.value) : read;
      kept = draftOf(read, zone.value, []);
      isFromKept = true;
      take(theirs);
      takenUp.value = null;
      saver.begin(!isSame(draftOf(form.value, zone.value, []), kept));
    },
    keepMine() {
      keptCopy.drop(draft.value);
      draft.value = null;
      keptCopy.keep(null, form.value);
      saver.begin(true);
    },
    end() {
      isEnded = true;
    },
    stop: saver.end,
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

export function refusalOf(error: unknown): Refusal {
  const sentence = sentenceOf(error);
  if (!(error instanceof CallError) || error.status === 0 || error.status >= 500)
    return { kind: "lost", sentence };
  const changes = changesIn(error.sentences, session.value?.name ?? "");
  if (changes !== null) return { kind: "conflict", sentence: changes };
  // Also where it was decided about meanwhile, or is gone.
  return { kind: error.status === 409 || error.status === 404 ? "conflict" : "refused", sentence };
}
