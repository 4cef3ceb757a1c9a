import { type Signal, signal } from "@preact/signals";
import type { Post } from "../../../../src/domain/posts/post.ts";
import { now } from "../../../shared/clock.ts";
import { changedInWords, elsewhereInWords } from "../../../shared/changed-fields.ts";
import { type Json, jsonOf } from "../../../shared/json.ts";
import { shortTime } from "../../../shared/when.ts";
import { dropEdit, keepEdit } from "../../data/kept-edits.ts";
import { zone } from "../../data/session.ts";
import { call } from "../../data/tools.ts";
import { CallError } from "../../data/wire.ts";
import { CHOOSE_ABOVE } from "./composer.ts";
import type { Form } from "./form.ts";
import {
  argsOf,
  clashesOf,
  differencesOf,
  type Fields,
  fieldsOfForm,
  fieldsOfPost,
  withFields,
} from "./post-content.ts";
import { formOfPost } from "./read-form.ts";

/** Others changed what is changed here. It is asked above which one to go on with. */
class ChangedElsewhere extends Error {}

/** The post went out, failed or was cancelled meanwhile: this change of it comes too late. */
export class PastChange extends Error {
  readonly status: Post["status"];

  constructor(status: Post["status"]) {
    super(pastInWords(status));
    this.status = status;
  }
}

const PAST = {
  scheduled: "was scheduled again",
  failed: "failed",
  publishing: "is being published",
  uploaded: "is on its platform",
  published: "is published",
  cancelled: "is cancelled",
} as const satisfies Record<Post["status"], string>;

/** Whether what was changed here can go on as a change of the same post. */
export function canGoOn(status: Post["status"]): boolean {
  return status === "scheduled" || status === "failed";
}

export function pastInWords(status: Post["status"]): string {
  return canGoOn(status)
    ? `This post ${PAST[status]} by now. Go on with it as it is now: what you wrote is kept.`
    : `This post ${PAST[status]} by now, so it cannot be changed here.`;
}

/** As it is now. Throws `PastChange` where that takes another way to change it. */
export async function readAnew({ id, status }: Post): Promise<Post> {
  const { post } = await call("get_post", { id });
  if (post.status !== status) throw new PastChange(post.status);
  return post;
}

interface Clash {
  readonly theirs: Post;
  /** The fields that both changed. */
  readonly asked: readonly string[];
  readonly sentence: string;
}

/** So often a save is tried anew on what others changed beside it. */
const MAX_ROUNDS = 5;

/** The unsent change of a post, kept in the browser with each change until it is sent or dropped. */
export function unsavedOf(read: Post, form: Signal<Form>) {
  /** As it was read or saved last. */
  let post = read;
  let sent = fieldsOfPost(post, now(), zone.value);
  let isKept = true;
  const clash = signal<Clash | null>(null);
  /** What others changed, and nobody was told of. */
  const untold = new Set<string>();
  let met = read;
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
    const others = differencesOf(before ?? {}, after ?? {});
    const both = clashesOf(changes, others);
    for (const key of Object.keys(others)) if (!(key in changes)) untold.add(key);
    met = theirs;
    if (both.length === 0) return takeOver(theirs, changes);
    clash.value = { theirs, asked: both, sentence: changedInWords(both, jsonOf(theirs), shortTime) };
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
        if (theirs.updatedAt === post.updatedAt) throw error;
        meet(theirs);
      }
    }
  };
  const elsewhere = (): string => {
    const told = elsewhereInWords([...untold], jsonOf(met), shortTime);
    untold.clear();
    return told;
  };
  return {
    clash,
    elsewhere,
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

function isSameContent(one: Post, other: Post): boolean {
  const [a, b] = [one, other].map((post) => fieldsOfPost(post, now(), zone.value));
  return Object.keys(differencesOf(a ?? {}, b ?? {})).length === 0;
}

/** Only a post that waits can be changed by others in the moment before it is saved. */
function asRead({ status, updatedAt }: Post): Json {
  return status === "scheduled" ? { ifUpdatedAt: updatedAt } : {};
}

/** A failed post that is sent again goes out at once where no time is given, also the one that it has. */
function timeToSend({ status }: Post, form: Form): Json {
  const { scheduledAt } = status === "failed" ? fieldsOfForm(form, zone.value) : {};
  return scheduledAt === undefined ? {} : { scheduledAt };
}

export function toolOf({ status }: Post): "retry_post" | "update_post" {
  return status === "failed" ? "retry_post" : "update_post";
}
