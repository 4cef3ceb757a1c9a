import type { Draft } from "../../../../src/domain/drafts/draft.ts";
import { now } from "../../../shared/clock.ts";
import { dropEdit, readEdit } from "../../data/kept-edits.ts";
import { zone } from "../../data/session.ts";
import { accounts, findAccount, loadAccounts } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { say } from "../../../ui/toasts.tsx";
import { type Composer, createDraftComposer } from "./composer.ts";
import { atTime, emptyForm, type Form, newTarget } from "./form.ts";
import { ageOf, type KeptForm, keptNew, keptOf, lastSave, olderNew, takeOver } from "./kept-forms.ts";
import { fieldsOf, withFields } from "./post-content.ts";
import { createPostComposer } from "./post-composer.ts";
import { toWall } from "../../../shared/wall-time.ts";
import { copyOf, formOf } from "./read-form.ts";
import { draftOf } from "./send-form.ts";
import { ended } from "./ended-writing.ts";
import { pastInWords } from "./unsaved-change.ts";

/** What the address asks for: something to go on with, or what to begin with. */
export type Query = Readonly<Record<string, string>>;

/** What the room begins with: something to write, or why it cannot be changed. */
type StartResult =
  /** `hint`: the part of the address that was not understood. */
  | { readonly kind: "writing"; readonly composer: Composer; readonly hint: string | null }
  /** `isKept`: something was written that can go nowhere else than into another post. */
  | { readonly kind: "decided"; readonly sentence: string; readonly isKept?: boolean };

const NO_CHANNEL = "The channel of this address is not there, or you may not see it. Choose another one.";

/** `onDraft`: told the id of the draft that what is written is kept in. */
export async function start(query: Query, onDraft: (id: string) => void): Promise<StartResult> {
  const { draft, post, copy } = query;
  if (draft !== undefined) return startDraft(draft, query["at"], onDraft);
  if (post !== undefined) return startPost(post);
  if (copy !== undefined) return startCopy(copy, query["mine"] !== undefined, onDraft);
  if (Object.keys(query).length === 0) return startNew(onDraft);
  const { account = null } = query;
  if (account !== null && accounts.value === null) await loadAccounts();
  // A draft for a channel that is not there could not be saved.
  const known = account === null ? null : findAccount(account);
  const composer = createDraftComposer({ form: presetOf(query, known?.id ?? null), draft: null, onDraft });
  return { kind: "writing", composer, hint: account === null || known !== null ? null : NO_CHANNEL };
}

/** Restores what could not be saved. */
async function startNew(onDraft: (id: string) => void): Promise<StartResult> {
  const form = emptyForm(now(), zone.value);
  // What is being saved a moment after it was left is a draft then.
  if (keptNew(form) !== null) await lastSave();
  const older = olderNew(form);
  const kept = await unsaved(keptNew(form));
  if (kept !== null) takeOver();
  older.forEach((one) => void saveAside(one));
  return { kind: "writing", composer: createDraftComposer({ form, draft: null, kept, onDraft }), hint: null };
}

/** What was written before that, too, is a draft of its own. */
async function saveAside(kept: KeptForm): Promise<void> {
  if ((await unsaved(kept)) === null) return;
  createDraftComposer({
    form: kept.form,
    draft: null,
    kept,
    onDraft: () => say("A text that you wrote before, and that was not saved, is a draft now: see Review."),
  });
}

/** The last save before a window closed may have succeeded without its answer: then it is a draft. */
async function unsaved(kept: KeptForm | null): Promise<KeptForm | null> {
  if (kept === null) return null;
  const isThere = async (): Promise<boolean> => {
    const { drafts } = await call("list_drafts", { state: ["open"] }).catch(() => ({ drafts: [] }));
    return drafts.some((draft) => isSaved(kept, draft));
  };
  if (await isThere()) return null;
  if (ageOf(kept) > JUST_LEFT_MS) return kept;
  // It may have arrived behind the question.
  await new Promise((resolve) => setTimeout(resolve, ARRIVES_WITHIN_MS));
  return (await isThere()) ? null : kept;
}

const JUST_LEFT_MS = 30_000;
const ARRIVES_WITHIN_MS = 1_000;

/** Whether the draft has all of it; then the kept copy is dropped. */
function isSaved({ id, form }: KeptForm, draft: Draft): boolean {
  const contentOf = (one: Form): string => JSON.stringify(draftOf(one, zone.value, []));
  const isThere = contentOf(form) === contentOf(formOf(draft, now(), zone.value));
  if (isThere) dropEdit(id);
  return isThere;
}

async function startDraft(
  id: string,
  at: string | undefined,
  onDraft: (id: string) => void,
): Promise<StartResult> {
  if (ended.value.has(id)) {
    dropEdit(id);
    return { kind: "decided", sentence: SCHEDULED };
  }
  const [draft] = (await call("list_drafts", { id })).drafts;
  if (draft === undefined) return { kind: "decided", sentence: "There is no such draft any more." };
  if (draft.state !== "open" && draft.state !== "waiting")
    return {
      kind: "decided",
      sentence:
        draft.state === "discarded"
          ? "This draft was discarded, so it cannot be changed any more."
          : SCHEDULED,
    };
  const form = formOf(draft, now(), zone.value);
  const found = keptOf(id, form);
  const kept = found === null || isSaved(found, draft) ? null : found;
  if (kept !== null) takeOver();
  const composer = createDraftComposer({ form, draft, kept, onDraft });
  if (at !== undefined) composer.edit((one) => withTime(one, at));
  return { kind: "writing", composer, hint: null };
}

const SCHEDULED = "This draft was scheduled. Change its posts in the plan.";

async function startPost(id: string): Promise<StartResult> {
  const { post } = await call("get_post", { id });
  const edit = readEdit(id);
  if (post.status === "scheduled" || post.status === "failed")
    return { kind: "writing", composer: createPostComposer(post, edit), hint: null };
  return {
    kind: "decided",
    sentence: pastInWords(post.status),
    isKept: edit !== null,
  };
}

/** Where what was changed of a post, and cannot be saved any more, goes on as another post. */
export function addressOfNew(id: string): string {
  return `/app/write?${new URLSearchParams({ copy: id, mine: "1" }).toString()}`;
}

/** Another post like that one. `isMine`: with what was changed of it here and not saved, which is a draft then. */
async function startCopy(id: string, isMine: boolean, onDraft: (id: string) => void): Promise<StartResult> {
  const { post, labels = [] } = await call("get_post", { id });
  const edit = isMine ? readEdit(id) : null;
  const changed = edit === null ? post : withFields(post, fieldsOf(edit.change));
  const composer = createDraftComposer({
    form: copyOf(changed, labels, now(), zone.value),
    draft: null,
    isCopy: edit === null,
    onDraft(draftId) {
      if (edit !== null) dropEdit(id);
      onDraft(draftId);
    },
  });
  return { kind: "writing", composer, hint: null };
}

/** `at`: a time as the address has it. */
function withTime(form: Form, at = ""): Form {
  const ms = Date.parse(at);
  return Number.isNaN(ms) ? form : atTime(form, toWall(ms, zone.value));
}

/** An empty form with what the address gives: a free slot of the plan, or what another app shares. */
function presetOf({ at, title = "", text = "", url = "" }: Query, accountId: string | null): Form {
  const empty = emptyForm(now(), zone.value);
  const form = withTime(empty, at);
  const words = text === "" ? title : text;
  return {
    ...form,
    caption: [words, words.includes(url) ? "" : url].filter((part) => part !== "").join("\n\n"),
    ...(accountId !== null && { targets: [newTarget(accountId)] }),
  };
}
