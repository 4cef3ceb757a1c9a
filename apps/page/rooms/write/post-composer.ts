import { signal, type Signal } from "@preact/signals";
import type { Check } from "../../../../src/domain/drafts/draft.ts";
import type { Post } from "../../../../src/domain/posts/post.ts";
import { now } from "../../../shared/clock.ts";
import { type Json, textOf } from "../../../shared/json.ts";
import { keepBehind } from "../../../shared/sentences.ts";
import type { KeptEdit } from "../../data/kept-edits.ts";
import { zone } from "../../data/session.ts";
import { call } from "../../data/tools.ts";
import { CallError } from "../../data/wire.ts";
import { AGAIN_MS, type Composer, refusalOf, WAIT_MS } from "./composer.ts";
import type { Form } from "./form.ts";
import { besides, type Fields, fieldsOf, withFields } from "./post-content.ts";
import { formOfPost } from "./read-form.ts";
import { createSaver, type SaveState } from "./saver.ts";
import { uncheckedPreviews } from "./unchecked-previews.ts";
import { PastChange, readAnew, toolOf, unsavedOf } from "./unsaved-change.ts";

/** Looks at a change of a post by a dry run, which the server answers and does not keep. */
function lookerOf(
  post: Post,
  form: Signal<Form>,
  checks: Signal<readonly Check[]>,
  gone: Signal<Post["status"] | null>,
) {
  return async (args: Json): Promise<void> => {
    const { accountId } = post;
    try {
      const { preview, warnings = [] } = await call(toolOf(post), args);
      if (preview !== undefined) checks.value = [{ accountId, error: null, warnings, preview }];
    } catch (error) {
      if (!(error instanceof CallError) || error.status === 0 || error.status === 401) throw error;
      if (error.status === 409) await readAnew(post).catch(takePast(gone));
      // The preview before shows another text.
      checks.value = uncheckedPreviews(form.value).map((plain) => {
        const check = { ...plain, error: gone.value === null ? error.message : null };
        if (gone.value === null) keepBehind(check, "error", error.sentences);
        return check;
      });
    }
  };
}

/** That a time has passed is said without a server. */
function lookedAt({ scheduledAt, ...change }: Json): Json {
  return Date.parse(textOf(scheduledAt)) < now() ? change : { ...change, scheduledAt };
}

/** Keeps that the post is past the change. */
function takePast(gone: Signal<Post["status"] | null>) {
  return (error: unknown): void => {
    if (!(error instanceof PastChange)) throw error;
    gone.value = error.status;
  };
}

/** As the post was when the change that was kept in the browser was made. */
function asItWas(post: Post, { base, was }: KeptEdit): Post {
  if (was === undefined) return post;
  return { ...withFields({ ...post, metadata: null }, fieldsOf(was)), updatedAt: base };
}

/** Changes a post that waits or failed: a dry run looks at it. `edit`: what was changed here before, and not sent. */
export function createPostComposer(post: Post, edit: KeptEdit | null): Composer {
  const read = edit === null ? post : asItWas(post, edit);
  const changed = edit === null ? read : withFields(read, fieldsOf(edit.change));
  const form = signal(formOfPost(changed, now(), zone.value));
  const checks = signal<readonly Check[]>([]);
  const state = signal<SaveState>({ kind: "nothing" });
  const unsaved = unsavedOf(read, form);
  const takenUp = signal(
    edit === null ? null : { isOld: edit.was === undefined && edit.base !== post.updatedAt },
  );
  const gone = signal<Post["status"] | null>(null);
  let calm: SaveState = { kind: "nothing" };
  const setState = (value: SaveState): void => {
    const { value: clash } = unsaved.clash;
    if (clash !== null) state.value = { kind: "conflict", sentence: clash.sentence };
    else state.value = value.kind === "failed" ? value : unsaved.isChanged() ? { kind: "changed" } : calm;
  };
  const saver = createSaver<Json>({
    waitMs: WAIT_MS,
    againMs: AGAIN_MS,
    now,
    newKey: () => "",
    // As it was found, nothing is asked about but how it looks.
    read: () => ({ ...(unsaved.isChanged() ? lookedAt(unsaved.change()) : { id: post.id }), dryRun: true }),
    save: lookerOf(post, form, checks, gone),
    refusalOf,
    onState: setState,
  });
  saver.change();
  const keep = (): void => {
    unsaved.keep();
    saver.change();
  };
  const set = (next: Form): void => {
    form.value = next;
    keep();
  };
  const goOnWith = (theirs: Post, mine: Fields): void => {
    takenUp.value = null;
    unsaved.takeOver(theirs, mine);
    saver.change();
    setState(calm);
  };
  const flush = async (): Promise<boolean> => unsaved.clash.value === null && (await saver.flush());
  if (read.updatedAt !== post.updatedAt) {
    try {
      unsaved.meet(post);
    } catch {
      setState(calm);
    }
  }
  return {
    form,
    checks,
    state,
    draft: signal(null),
    post,
    channelsAside: new Map(),
    ownAside: new Map(),
    edit: (change) => set(change(form.value)),
    flush,
    keep: flush,
    isBehind: unsaved.isBehind,
    isKept: () => unsaved.isChanged() && !unsaved.isBehind(),
    takenUp,
    giveUp() {
      goOnWith(unsaved.clash.value?.theirs ?? unsaved.found(), {});
      set(formOfPost(unsaved.found(), now(), zone.value));
    },
    change: {
      gone,
      elsewhere: unsaved.elsewhere,
      async send() {
        state.value = { kind: "saving" };
        try {
          const changed = await unsaved.send();
          calm = { kind: "saved", at: now() };
          takenUp.value = null;
          return changed;
        } catch (error) {
          takePast(gone)(error);
          throw error;
        } finally {
          setState(calm);
        }
      },
    },
    async takeTheirs() {
      const { value: clash } = unsaved.clash;
      if (clash !== null) goOnWith(clash.theirs, besides(unsaved.mine(), clash.asked));
    },
    keepMine() {
      const { value: clash } = unsaved.clash;
      if (clash !== null) goOnWith(clash.theirs, unsaved.mine());
    },
    end: saver.end,
    stop: saver.end,
  };
}
