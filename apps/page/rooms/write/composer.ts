import { signal, type Signal } from "@preact/signals";
import type { Check, Draft } from "../../../../src/domain/drafts/draft.ts";
import type { Post } from "../../../../src/domain/posts/post.ts";
import { now } from "../../../shared/clock.ts";
import { type Json, jsonOf, textOf } from "../../../shared/json.ts";
import { dropEdit, keepEdit, type KeptEdit } from "../../data/kept-edits.ts";
import { zone } from "../../data/session.ts";
import { call } from "../../data/tools.ts";
import { CallError, sentenceOf } from "../../wire.ts";
import {
  draftOf,
  type Form,
  formOf,
  formOfPost,
  isAnything,
  type OwnContent,
  postChangeOf,
  type TargetForm,
} from "./form.ts";
import { noPreview, unlooked } from "./unlooked.ts";
import { createSaver, type Refusal, type SaveState } from "./saver.ts";

const WAIT_MS = 400;
const AGAIN_MS = 5_000;
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
  /** Keeps what is not kept yet, or looks at it. Answers whether all was. */
  flush(): Promise<boolean>;
  /** As `flush`, where the person asks for it: what is only looked at is kept, too. */
  keep(): Promise<boolean>;
  isBehind(): boolean;
  /** What only a change of a post has. */
  readonly change: PostChange | null;
  /** After a conflict: what the other one wrote. */
  takeTheirs(): Promise<void>;
  /** After a conflict: what stands here, as another draft. */
  keepMine(): void;
  end(): void;
}

interface PostChange {
  /** Goes on with what was kept in this browser. `isOld`: the post was changed elsewhere since then. */
  readonly takenUp: Signal<{ readonly isOld: boolean } | null>;
  /** Gives up what is changed: the post as it is. */
  giveUp(): void;
  /** Changes or sends the post again. */
  send(): Promise<Post>;
}

interface Start {
  readonly form: Form;
  readonly draft: Draft | null;
  /** Nothing is kept before the person changes something, or wants it kept. */
  readonly isCopy?: boolean;
  /** Told once there is a draft, or another one, for the address. */
  onDraft(id: string): void;
}

/** Writes a draft: every change is saved, and each save answers what the channels say of it. */
export function createDraftComposer({ form: first, draft: found, isCopy = false, onDraft }: Start): Composer {
  const form = signal(first);
  const draft = signal(found);
  const checks = signal<readonly Check[]>(found?.checks ?? (isCopy ? unlooked(first) : []));
  const state = signal<SaveState>({ kind: "nothing" });

  let isEnded = false;
  /** What the server has, as a save would send it: only what differs is sent, so that others see what was changed. */
  let kept: Json = found === null ? {} : draftOf(first, zone.value, []);

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
    },
    refusalOf,
    onState: (value) => {
      state.value = value;
    },
  });
  // What another app shares is kept as what is typed.
  if (found === null && !isCopy && isAnything(first)) saver.change();
  return {
    form,
    checks,
    state,
    draft,
    post: null,
    change: null,
    channelsAside: new Map(),
    ownAside: new Map(),
    edit(change) {
      form.value = change(form.value);
      saver.change();
    },
    flush: saver.flush,
    keep() {
      if (draft.value === null && !saver.isBehind()) saver.change();
      return saver.flush();
    },
    isBehind: saver.isBehind,
    async takeTheirs() {
      const { drafts } = await call("list_drafts", { id: draft.value?.id });
      const [theirs] = drafts;
      if (theirs === undefined) throw new Error("The draft is gone. Keep yours as a copy.");
      form.value = formOf(theirs, now(), zone.value);
      kept = draftOf(form.value, zone.value, []);
      take(theirs);
      saver.begin(false);
    },
    keepMine() {
      draft.value = null;
      saver.begin(true);
    },
    end() {
      isEnded = true;
      saver.end();
    },
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Looks at a change of a post by a dry run, which the server answers and does not keep. */
function lookerOf(post: Post, form: Signal<Form>, checks: Signal<readonly Check[]>) {
  return async (args: Json): Promise<void> => {
    const { accountId } = post;
    try {
      const { preview, warnings = [] } = await call(toolOf(post), args);
      if (preview !== undefined)
        checks.value = [{ accountId, error: null, warnings: [...warnings], preview }];
    } catch (error) {
      if (!(error instanceof CallError) || error.status === 0 || error.status === 401) throw error;
      const [before] = checks.value;
      const preview = before?.preview ?? noPreview(form.value);
      checks.value = [{ accountId, error: error.message, warnings: [], preview }];
    }
  };
}

/** What of a post's change is not sent yet. It is kept in the browser with each change, until it is sent or given up. */
function unsavedOf(found: Post, form: Signal<Form>, before: Form) {
  let post = found;
  let sent: Json = changesOf(post, before);
  let isKept = true;
  const isChanged = (): boolean => !isSame(changesOf(post, form.value), sent);
  return {
    isChanged,
    isBehind: () => isChanged() && !isKept,
    keep(): void {
      if (!isChanged()) return dropEdit(post.id);
      isKept = keepEdit(post.id, { base: post.updatedAt, change: changesOf(post, form.value) });
    },
    async send(): Promise<Post> {
      const change = changesOf(post, form.value);
      post = (await call(toolOf(post), change)).post;
      sent = change;
      this.keep();
      return post;
    },
  };
}

/** Changes a post that waits or failed: a dry run looks at it. `edit`: what was changed here before, and not sent. */
export function createPostComposer(post: Post, edit: KeptEdit | null): Composer {
  const before = formOfPost(post, now(), zone.value);
  const form = signal(edit === null ? before : formOfEdit(post, edit.change));
  const checks = signal<readonly Check[]>([]);
  const state = signal<SaveState>({ kind: "nothing" });
  const unsaved = unsavedOf(post, form, before);
  const takenUp = signal(edit === null ? null : { isOld: edit.base !== post.updatedAt });
  let calm: SaveState = { kind: "nothing" };
  const tell = (value: SaveState): void => {
    state.value = value.kind === "failed" ? value : unsaved.isChanged() ? { kind: "changed" } : calm;
  };
  const saver = createSaver<Json>({
    waitMs: WAIT_MS,
    againMs: AGAIN_MS,
    now,
    newKey: () => "",
    read: () => ({ ...changesOf(post, form.value), dryRun: true }),
    save: lookerOf(post, form, checks),
    refusalOf,
    onState: tell,
  });
  saver.change();
  const set = (next: Form): void => {
    form.value = next;
    unsaved.keep();
    saver.change();
  };
  return {
    form,
    checks,
    state,
    draft: signal(null),
    post,
    channelsAside: new Map(),
    ownAside: new Map(),
    edit: (change) => set(change(form.value)),
    flush: saver.flush,
    keep: saver.flush,
    isBehind: unsaved.isBehind,
    change: {
      takenUp,
      giveUp() {
        takenUp.value = null;
        set(before);
      },
      async send() {
        state.value = { kind: "saving" };
        try {
          const changed = await unsaved.send();
          calm = { kind: "saved", at: now() };
          takenUp.value = null;
          return changed;
        } finally {
          tell(calm);
        }
      },
    },
    takeTheirs: () => Promise.resolve(),
    keepMine: () => {},
    end: saver.end,
  };
}

/** The form of a post with a change that was kept in the browser. */
function formOfEdit(post: Post, change: Json): Form {
  const metadata = Object.entries(jsonOf(change["metadata"])).filter(([, value]) => value !== null);
  const changed = {
    ...post,
    caption: textOf(change["caption"]),
    mediaUrl: textOf(change["mediaUrl"]),
    metadata: Object.fromEntries(metadata),
    scheduledAt: textOf(change["scheduledAt"]) || post.scheduledAt,
  };
  return formOfPost(changed, now(), zone.value);
}

function toolOf({ status }: Post): "retry_post" | "update_post" {
  return status === "failed" ? "retry_post" : "update_post";
}

function changesOf(post: Post, form: Form): Json {
  return { id: post.id, ...postChangeOf(form, zone.value, Object.keys(post.metadata ?? {})) };
}

function refusalOf(error: unknown): Refusal {
  const sentence = sentenceOf(error);
  if (!(error instanceof CallError) || error.status === 0 || error.status >= 500)
    return { kind: "lost", sentence };
  // Also where it was decided about meanwhile, or is gone.
  return { kind: error.status === 409 || error.status === 404 ? "conflict" : "refused", sentence };
}
