import { signal, type Signal } from "@preact/signals";
import type { Check, Draft } from "../../../../src/domain/drafts/draft.ts";
import type { Post } from "../../../../src/domain/posts/post.ts";
import { now } from "../../../shared/clock.ts";
import type { Json } from "../../../shared/json.ts";
import { zone } from "../../data/session.ts";
import { call } from "../../data/tools.ts";
import { CallError, sentenceOf } from "../../wire.ts";
import { draftOf, type Form, formOf, isAnything, postChangeOf } from "./form.ts";
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
  edit(change: (form: Form) => Form): void;
  /** Keeps what is not kept yet, or looks at it. Answers whether all was. */
  flush(): Promise<boolean>;
  isBehind(): boolean;
  /** After a conflict: what the other one wrote. */
  takeTheirs(): Promise<void>;
  /** After a conflict: what stands here, as another draft. */
  keepMine(): void;
  end(): void;
}

interface Start {
  readonly form: Form;
  readonly draft: Draft | null;
  /** Told once there is a draft, or another one, for the address. */
  onDraft(id: string): void;
}

/** Writes a draft: every change is saved, and each save answers what the channels say of it. */
export function createDraftComposer({ form: first, draft: found, onDraft }: Start): Composer {
  const form = signal(first);
  const draft = signal(found);
  const checks = signal<readonly Check[]>(found?.checks ?? []);
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
  return {
    form,
    checks,
    state,
    draft,
    post: null,
    edit(change) {
      form.value = change(form.value);
      saver.change();
    },
    flush: saver.flush,
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

/** Changes a post that waits or failed: nothing is kept until it is sent, and a dry run looks at it. */
export function createPostComposer(post: Post, first: Form): Composer {
  const form = signal(first);
  const checks = signal<readonly Check[]>([]);
  const state = signal<SaveState>({ kind: "nothing" });
  let isChanged = false;
  const look = async (args: Json): Promise<void> => {
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
  const saver = createSaver<Json>({
    waitMs: WAIT_MS,
    againMs: AGAIN_MS,
    now,
    newKey: () => "",
    read: () => ({ ...changesOf(post, form.value), dryRun: true }),
    save: look,
    refusalOf,
    onState: (value) => {
      if (value.kind === "failed") state.value = value;
      else state.value = { kind: isChanged ? "changed" : "nothing" };
    },
  });
  saver.change();
  return {
    form,
    checks,
    state,
    draft: signal(null),
    post,
    edit(change) {
      isChanged = true;
      form.value = change(form.value);
      saver.change();
    },
    flush: saver.flush,
    isBehind: () => isChanged,
    takeTheirs: () => Promise.resolve(),
    keepMine: () => {},
    end: saver.end,
  };
}

function toolOf({ status }: Post): "retry_post" | "update_post" {
  return status === "failed" ? "retry_post" : "update_post";
}

function changesOf(post: Post, form: Form): Json {
  return { id: post.id, ...postChangeOf(form, zone.value, Object.keys(post.metadata ?? {})) };
}

function noPreview({ caption }: Form): Check["preview"] {
  const count = { length: caption.length, max: null, unit: "characters" as const };
  return { text: caption, parts: [], count, media: [], link: null, note: null };
}

/** Changes or sends the post again. */
export async function sendPost(post: Post, form: Form): Promise<Post> {
  return (await call(toolOf(post), changesOf(post, form))).post;
}

function refusalOf(error: unknown): Refusal {
  const sentence = sentenceOf(error);
  if (!(error instanceof CallError) || error.status === 0 || error.status >= 500)
    return { kind: "lost", sentence };
  // Also where it was decided about meanwhile, or is gone.
  return { kind: error.status === 409 || error.status === 404 ? "conflict" : "refused", sentence };
}
