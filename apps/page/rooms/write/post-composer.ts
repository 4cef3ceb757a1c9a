import { signal, type Signal } from "@preact/signals";
import type { Check } from "../../../../src/domain/drafts/draft.ts";
import type { Post } from "../../../../src/domain/posts/post.ts";
import { now } from "../../../shared/clock.ts";
import type { Json } from "../../../shared/json.ts";
import { shortTime } from "../../../shared/when.ts";
import { keepBehind } from "../../../shared/told.ts";
import { dropEdit, keepEdit, type KeptEdit } from "../../data/kept-edits.ts";
import { zone } from "../../data/session.ts";
import { call } from "../../data/tools.ts";
import { CallError } from "../../wire.ts";
import { AGAIN_MS, CHOOSE_ABOVE, type Composer, refusalOf, WAIT_MS } from "./composer.ts";
import { type Form, formOfPost } from "./form.ts";
import {
  argsOf,
  clashesOf,
  differencesOf,
  type Fields,
  fieldsOf,
  fieldsOfForm,
  fieldsOfPost,
  tellClash,
  withFields,
} from "./post-content.ts";
import { createSaver, type SaveState } from "./saver.ts";
import { noPreview } from "./unlooked.ts";

/** As the server refuses a change of a post that is past it. */
const GONE = /^The post is (publishing|uploaded|published|cancelled)\b.*, but this needs/;

/** Looks at a change of a post by a dry run, which the server answers and does not keep. */
function lookerOf(
  post: Post,
  form: Signal<Form>,
  checks: Signal<readonly Check[]>,
  gone: Signal<string | null>,
) {
  return async (args: Json): Promise<void> => {
    const { accountId } = post;
    try {
      const { preview, warnings = [] } = await call(toolOf(post), args);
      if (preview !== undefined) checks.value = [{ accountId, error: null, warnings, preview }];
    } catch (error) {
      if (!(error instanceof CallError) || error.status === 0 || error.status === 401) throw error;
      const [, status = ""] = error.sentences.flatMap(({ what }) => GONE.exec(what) ?? []);
      if (status !== "") gone.value = `This post is ${status} by now, so it cannot be changed here.`;
      const [before] = checks.value;
      const preview = before?.preview ?? noPreview(form.value);
      const check = { accountId, error: error.message, warnings: [], preview };
      keepBehind(check, "error", error.sentences);
      checks.value = [check];
    }
  };
}

/** Others changed what is changed here. It is asked above which one to go on with. */
class ChangedElsewhere extends Error {}

interface Clash {
  readonly theirs: Post;
  readonly sentence: string;
}

/** So often a save is tried anew on what others changed beside it. */
const MAX_ROUNDS = 5;

/** What of a post's change is not sent yet. It is kept in the browser with each change, until it is sent or given up. */
function unsavedOf(read: Post, form: Signal<Form>) {
  /** As it was read or saved last. */
  let post = read;
  let sent = fieldsOfPost(post, now(), zone.value);
  let isKept = true;
  const clash = signal<Clash | null>(null);
  const mine = (): Fields => differencesOf(sent, fieldsOfForm(form.value, zone.value));
  const isChanged = (): boolean => Object.keys(mine()).length > 0;
  const keep = (): void => {
    if (!isChanged()) return dropEdit(post.id);
    const { updatedAt: base, caption, mediaUrl, metadata, scheduledAt } = post;
    const was = { caption, mediaUrl, metadata, scheduledAt };
    isKept = keepEdit(post.id, { base, change: argsOf(mine(), post), was });
  };
  /** Goes on with theirs, and with what is changed here besides. */
  const takeOver = (theirs: Post, changes: Fields): void => {
    if (!isSameContent(post, theirs)) form.value = formOfPost(withFields(theirs, changes), now(), zone.value);
    post = theirs;
    sent = fieldsOfPost(theirs, now(), zone.value);
    clash.value = null;
    keep();
  };
  /** Takes up what others changed meanwhile. Throws where that is what is changed here. */
  const meet = (theirs: Post): void => {
    const changes = mine();
    const [before, after] = [post, theirs].map((one) => fieldsOfPost(one, now(), zone.value));
    const both = clashesOf(changes, differencesOf(before ?? {}, after ?? {}));
    if (both.length === 0) return takeOver(theirs, changes);
    clash.value = { theirs, sentence: tellClash(both, theirs, shortTime) };
    throw new ChangedElsewhere(CHOOSE_ABOVE);
  };
  const change = (): Json => ({ id: post.id, ...argsOf(mine(), post), ...timeToSend(post, form.value) });
  const send = async (): Promise<Post> => {
    for (let round = 1; ; round++) {
      const fields = fieldsOfForm(form.value, zone.value);
      if (post.status === "failed") await readAnew(post).then(meet);
      else if (!isChanged()) return post;
      try {
        post = (await call(toolOf(post), { ...change(), ...asRead(post) })).post;
        sent = fields;
        keep();
        return post;
      } catch (error) {
        if (!(error instanceof CallError) || error.status !== 409 || round === MAX_ROUNDS) throw error;
        const theirs = await readAnew(post);
        if (theirs.status !== post.status || theirs.updatedAt === post.updatedAt) throw error;
        meet(theirs);
      }
    }
  };
  return {
    clash,
    mine,
    isChanged,
    isBehind: () => isChanged() && !isKept,
    keep,
    takeOver,
    meet,
    send,
    found: () => post,
    change,
  };
}

async function readAnew({ id }: Post): Promise<Post> {
  return (await call("get_post", { id })).post;
}

function isSameContent(one: Post, other: Post): boolean {
  const [a, b] = [one, other].map((post) => fieldsOfPost(post, now(), zone.value));
  return Object.keys(differencesOf(a ?? {}, b ?? {})).length === 0;
}

/** Only a post that waits can be changed by others in the moment before it is saved. */
function asRead({ status, updatedAt }: Post): Json {
  return status === "scheduled" ? { ifUpdatedAt: updatedAt } : {};
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
  const gone = signal<string | null>(null);
  let calm: SaveState = { kind: "nothing" };
  const tell = (value: SaveState): void => {
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
    read: () => ({ ...(unsaved.isChanged() ? unsaved.change() : { id: post.id }), dryRun: true }),
    save: lookerOf(post, form, checks, gone),
    refusalOf,
    onState: tell,
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
    tell(calm);
  };
  const flush = async (): Promise<boolean> => unsaved.clash.value === null && (await saver.flush());
  if (read.updatedAt !== post.updatedAt) {
    try {
      unsaved.meet(post);
    } catch {
      tell(calm);
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
    async takeTheirs() {
      const { value: clash } = unsaved.clash;
      if (clash !== null) goOnWith(clash.theirs, {});
    },
    keepMine() {
      const { value: clash } = unsaved.clash;
      if (clash !== null) goOnWith(clash.theirs, unsaved.mine());
    },
    end: saver.end,
    stop: saver.end,
  };
}

function toolOf({ status }: Post): "retry_post" | "update_post" {
  return status === "failed" ? "retry_post" : "update_post";
}

/** A failed post that is sent again goes out at once where no time is given, also the one that it has. */
function timeToSend({ status }: Post, form: Form): Json {
  const { scheduledAt } = status === "failed" ? fieldsOfForm(form, zone.value) : {};
  return scheduledAt === undefined ? {} : { scheduledAt };
}
