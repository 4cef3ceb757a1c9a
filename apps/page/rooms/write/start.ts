import { now } from "../../../shared/clock.ts";
import { zone } from "../../data/session.ts";
import { call } from "../../data/tools.ts";
import { type Composer, createDraftComposer, createPostComposer } from "./composer.ts";
import { emptyForm, type Form, formOf, formOfPost, newTarget } from "./form.ts";
import { toWall } from "./wall.ts";

/** What the address asks for: something to go on with, or what to begin with. */
export type Query = Readonly<Record<string, string>>;

/** Told apart from what a person cannot change any more. */
export type Started =
  | { readonly kind: "writing"; readonly composer: Composer }
  | { readonly kind: "decided"; readonly sentence: string };

/** `onDraft`: told the id of the draft that what is written is kept in. */
export async function start(query: Query, onDraft: (id: string) => void): Promise<Started> {
  const { draft, post, copy } = query;
  if (draft !== undefined) return startDraft(draft, onDraft);
  if (post !== undefined) return startPost(post);
  const form = copy === undefined ? presetOf(query) : { ...(await formOfCopy(copy)), when: "at" as const };
  return { kind: "writing", composer: createDraftComposer({ form, draft: null, onDraft }) };
}

async function startDraft(id: string, onDraft: (id: string) => void): Promise<Started> {
  const [draft] = (await call("list_drafts", { id })).drafts;
  if (draft === undefined) return { kind: "decided", sentence: "There is no such draft any more." };
  if (draft.state !== "open" && draft.state !== "waiting")
    return {
      kind: "decided",
      sentence:
        draft.state === "discarded"
          ? "This draft was discarded, so it cannot be changed any more."
          : "This draft was scheduled. Change its posts in the plan.",
    };
  const form = formOf(draft, now(), zone.value);
  return { kind: "writing", composer: createDraftComposer({ form, draft, onDraft }) };
}

async function startPost(id: string): Promise<Started> {
  const { post } = await call("get_post", { id });
  if (post.status !== "scheduled" && post.status !== "failed")
    return { kind: "decided", sentence: `This post is ${post.status}, so it cannot be changed here.` };
  return { kind: "writing", composer: createPostComposer(post, formOfPost(post, now(), zone.value)) };
}

async function formOfCopy(id: string): Promise<Form> {
  const { post } = await call("get_post", { id });
  const { at } = emptyForm(now(), zone.value);
  return { ...formOfPost(post, now(), zone.value), at };
}

/** An empty form with what the address gives: a free slot of the plan, or what another app shares. */
function presetOf({ account, at, title = "", text = "", url = "" }: Query): Form {
  const form = emptyForm(now(), zone.value);
  const words = text === "" ? title : text;
  const ms = Date.parse(at ?? "");
  return {
    ...form,
    caption: [words, words.includes(url) ? "" : url].filter((part) => part !== "").join("\n\n"),
    ...(account !== undefined && { targets: [newTarget(account)] }),
    ...(!Number.isNaN(ms) && { at: toWall(ms, zone.value) }),
  };
}
