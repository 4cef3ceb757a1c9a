import { signal, type Signal } from "@preact/signals";
import type { Check } from "../../../../src/domain/drafts/draft.ts";
import type { Post } from "../../../../src/domain/posts/post.ts";
import { now } from "../../../shared/clock.ts";
import { type Json, jsonOf, textOf } from "../../../shared/json.ts";
import { keepBehind } from "../../../shared/sentences.ts";
import { dropEdit, keepEdit, type KeptEdit } from "../../data/kept-edits.ts";
import { zone } from "../../data/session.ts";
import { call } from "../../data/tools.ts";
import { CallError } from "../../data/wire.ts";
import { AGAIN_MS, type Composer, isSame, refusalOf, WAIT_MS } from "./composer.ts";
import type { Form } from "./form.ts";
import { createSaver, type SaveState } from "./saver.ts";
import { noPreview } from "./unchecked-previews.ts";
import { formOfPost } from "./read-form.ts";
import { postChangeOf } from "./send-form.ts";

/** Looks at a change of a post by a dry run, which the server answers and does not keep. */
function lookerOf(post: Post, form: Signal<Form>, checks: Signal<readonly Check[]>) {
  return async (args: Json): Promise<void> => {
    const { accountId } = post;
    try {
      const { preview, warnings = [] } = await call(toolOf(post), args);
      if (preview !== undefined) checks.value = [{ accountId, error: null, warnings, preview }];
    } catch (error) {
      if (!(error instanceof CallError) || error.status === 0 || error.status === 401) throw error;
      const [before] = checks.value;
      const preview = before?.preview ?? noPreview(form.value);
      const check = { accountId, error: error.message, warnings: [], preview };
      keepBehind(check, "error", error.sentences);
      checks.value = [check];
    }
  };
}

/** The unsent change of a post, kept in the browser until it is sent or dropped. */
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
  const setState = (value: SaveState): void => {
    state.value = value.kind === "failed" ? value : unsaved.isChanged() ? { kind: "changed" } : calm;
  };
  const saver = createSaver<Json>({
    waitMs: WAIT_MS,
    againMs: AGAIN_MS,
    now,
    newKey: () => "",
    // As it was found, nothing is asked about but how it looks.
    read: () => ({ ...(unsaved.isChanged() ? changesOf(post, form.value) : { id: post.id }), dryRun: true }),
    save: lookerOf(post, form, checks),
    refusalOf,
    onState: setState,
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
    isKept: () => unsaved.isChanged() && !unsaved.isBehind(),
    takenUp,
    giveUp() {
      takenUp.value = null;
      set(before);
    },
    change: {
      async send() {
        state.value = { kind: "saving" };
        try {
          const changed = await unsaved.send();
          calm = { kind: "saved", at: now() };
          takenUp.value = null;
          return changed;
        } finally {
          setState(calm);
        }
      },
    },
    takeTheirs: () => Promise.resolve(),
    keepMine: () => {},
    end: saver.end,
    stop: saver.end,
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
