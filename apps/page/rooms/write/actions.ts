import { effect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { now } from "../../../shared/clock.ts";
import { useAddress } from "../../data/address.tsx";
import type { Draft } from "../../../../src/domain/drafts/draft.ts";
import type { Post } from "../../../../src/domain/posts/post.ts";
import { may, zone } from "../../data/session.ts";
import { channelName, loadStatus } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { clockTime, shortTime } from "../../../shared/when.ts";
import { useWork } from "../../../ui/use-work.ts";
import { followPosts } from "../../channel/follow-posts.ts";
import { placesOf } from "../../channel/outcome-message.ts";
import { closeComplaints, complain, say } from "../../../ui/toasts.tsx";
import { inARow, sentenceOf } from "../../../shared/texts.ts";
import { CHOOSE_ABOVE, type Composer, refusalOf } from "./composer.ts";
import { type Form, slotless, timeProblem } from "./form.ts";
import { sharedFields } from "./platform-fields.ts";
import { pollProblem } from "./poll.ts";
import { failuresInWords } from "./remarks.ts";
import { seriesStartInWords } from "./repeat.ts";
import { fileProblem } from "./uploads.ts";
import { endWriting } from "./ended-writing.ts";
import { hasSlots } from "./when-part.tsx";

export const ASKING = "Asking for approval…";
const NOT_ASKED = "Not asked for approval";
const NOT_SAVED = "Not saved";

/** What can be done with what is written. */
export interface Actions {
  /** What is under way, as `Scheduling…` Null: nothing is. */
  readonly doing: string | null;
  /** Why the last one was refused. */
  readonly refusal: string | null;
  /** Whether the person is asked before it goes out at once. */
  readonly isAsking: boolean;
  stopAsking(): void;
  save(): void;
  ask(): void;
  /** The main thing to do: schedule, publish, send again, or ask for approval. */
  main(): void;
  /** After the question. */
  publish(): Promise<void>;
}

/** `onTry`: what is missing is to be shown. */
export function useActions(composer: Composer, onTry: () => void): Actions {
  const { go, isHere } = useAddress();
  const { doing, error: refusal, setError: setRefusal, run: begin } = useWork();
  const [isAsking, setIsAsking] = useState(false);
  const missing = useRef<string | null>(null);

  // What was refused may be mended now. In this moment: a frame later, it would be what is refused meanwhile.
  useEffect(() => {
    const ends = [
      effect(() => {
        void composer.form.value;
        setRefusal(null);
      }),
      effect(() => {
        const isSaved = ["saved", "nothing"].includes(composer.state.value.kind);
        // What was missing still is, whatever is saved.
        const isMissing = missing.current !== null && missing.current === missingIn(composer.form.peek());
        if (isSaved && !isMissing) setRefusal(null);
      }),
    ];
    return () => ends.forEach((end) => end());
  }, [composer]);
  const lookLater = useLookLater();
  /** Without a text it is said what becomes of the posts, which go out now. */
  const leave = (
    text: string | null,
    posts: Parameters<typeof followPosts>[0] = [],
    path = "/app/plan",
  ): void => {
    if (text === null) followPosts(posts);
    else say(text);
    void loadStatus();
    if (isHere()) go(path);
    else endWriting(composer.post?.id ?? composer.draft.value?.id ?? "");
  };
  /** Whether all is there that is needed. Says what is not, and what is not done for it, as `Not scheduled`. */
  const isReady = async (failed: string): Promise<boolean> => {
    missing.current = missingIn(composer.form.value);
    if (missing.current !== null) return refuse(missing.current);
    if (!(await composer.keep())) {
      return tellUnsaved(composer, failed) ? false : refuse(CHOOSE_ABOVE);
    }
    const failing = composer.checks.value.filter(({ error }) => error !== null);
    return (
      failing.length === 0 || refuse(failuresInWords(failing, shownOf(composer.form.value), channelName))
    );
  };
  const refuse = (sentence: string): false => {
    setRefusal(sentence);
    onTry();
    // After the page has shown what is wrong.
    requestAnimationFrame(() =>
      document.querySelector(".compose .wrong")?.scrollIntoView({ block: "center" }),
    );
    return false;
  };
  const run = (what: string, failed: string, work: () => Promise<void>): void => {
    // Then nothing can have been done.
    const isCut = !navigator.onLine;
    const refused = (error: unknown): false => refuse((isCut ? `${failed}: ` : "") + sentenceOf(error));
    void begin(() => work().catch(refused), what);
  };
  const approve = async (): Promise<void> => {
    const { draft, form } = composer;
    if (draft.value === null) return;
    const { id, revision } = draft.value;
    const done = (posts: Draft["posts"], text: string): void =>
      leave(form.value.when === "now" ? null : text, posts, placeOf(posts));
    try {
      const answer = await call("decide_draft", { id, revision, decision: "approve" });
      const posts = answer.draft?.posts ?? [];
      done(posts, doneText(form.value, posts));
    } catch (error) {
      const { kind } = refusalOf(error);
      if (kind === "lost") lookLater(id, (posts) => done(posts, "It was scheduled."));
      // By others, or by an answer that came to no room.
      if (kind === "conflict" && (await postsOfDecided(id)) !== null) return endWriting(id);
      throw error;
    }
  };
  const submit = async (): Promise<void> => {
    const { value } = composer.draft;
    if (value === null || !(await isReady(NOT_ASKED))) return;
    const { id, revision } = composer.draft.value ?? value;
    await call("save_draft", { id, revision, submit: true });
    leave("Sent for approval.", [], "/app/review");
  };

  // Nothing waits for it: what is pressed next saves first, too.
  const saveDraft = (): void =>
    void composer.keep().then((isKept) => {
      if (isKept) return;
      if (!tellUnsaved(composer, NOT_SAVED) && composer.state.value.kind === "nothing")
        refuse("There is nothing to save yet. Write something first.");
    });
  const saveChange = ({ send, elsewhere }: NonNullable<Composer["change"]>): void => {
    if (composer.post?.status === "failed")
      return void refuse("What you change is kept in this browser. It is saved when the post is sent again.");
    run("Saving…", NOT_SAVED, async () => {
      if (!(await isReady(NOT_SAVED))) return;
      await send();
      const told = elsewhere();
      if (told !== "") say(told);
    });
  };

  const actions: Actions = {
    doing,
    refusal,
    isAsking,
    stopAsking: () => setIsAsking(false),
    save: () => (composer.change === null ? saveDraft() : saveChange(composer.change)),
    ask: () =>
      run(ASKING, NOT_ASKED, async () => {
        if (await isReady(NOT_ASKED)) await submit();
      }),
    main: () =>
      run(doingOf(composer), notDoneOf(composer), async () => {
        if (!(await isReady(notDoneOf(composer)))) return;
        const { change, form } = composer;
        if (change === null && !may("publish")) return submit();
        if (form.value.when === "now") return setIsAsking(true);
        if (change === null) return approve();
        const before = composer.post;
        const changed = await change.send();
        const done = isSame(before, changed) ? "Nothing changed." : "The post was changed.";
        leave(inARow([done, change.elsewhere()]), [], placeOf([changed]));
      }),
    publish: async () => {
      if (composer.change === null) return await approve();
      leave(null, [await composer.change.send()]);
    },
  };
  useKeys(actions);
  return actions;
}

/** Looks whether a draft was decided, where the answer was lost: as soon as there is one, while it is open here. */
function useLookLater(): (id: string, onDecided: (posts: Draft["posts"]) => void) => void {
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const isLeft = useRef(false);
  useEffect(
    () => () => {
      isLeft.current = true;
      clearTimeout(timer.current);
    },
    [],
  );
  const lookLater: ReturnType<typeof useLookLater> = (id, onDecided) => {
    const look = async (): Promise<void> => {
      try {
        const posts = await postsOfDecided(id);
        if (posts !== null && !isLeft.current) onDecided(posts);
      } catch (error) {
        if (refusalOf(error).kind === "lost" && !isLeft.current) lookLater(id, onDecided);
      }
    };
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void look(), LOOK_AFTER_MS);
  };
  return lookLater;
}

const LOOK_AFTER_MS = 2_000;

/** The posts of a draft that was approved. Null: it was not. */
async function postsOfDecided(id: string): Promise<Draft["posts"] | null> {
  const [draft] = (await call("list_drafts", { id })).drafts;
  return draft?.state === "scheduled" || draft?.state === "repeating" ? draft.posts : null;
}

/** Whether a change left everything that is seen of a post as it was. */
function isSame(before: Post | null, after: Post): boolean {
  const seenOf = ({ caption, mediaUrl, metadata, scheduledAt, leadMinutes }: Post): string =>
    JSON.stringify([caption, mediaUrl, metadata, scheduledAt, leadMinutes]);
  return before !== null && seenOf(before) === seenOf(after);
}

/** Control or Command with Enter and S. */
function useKeys({ main, save }: Actions): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || document.querySelector("dialog[open]")) return;
      if (event.key !== "Enter" && event.key !== "s") return;
      event.preventDefault();
      if (event.key === "Enter") main();
      else save();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  });
}

/** What the main button does, while it is under way. */
function doingOf({ form, post }: Composer): string {
  if (post !== null) return post.status === "failed" ? "Sending it again…" : "Saving…";
  if (!may("publish")) return ASKING;
  // Whether it really goes out is asked after it was looked at.
  return form.value.when === "now" ? "Checking…" : "Scheduling…";
}

/** What is said to be not done where the main button did nothing. */
function notDoneOf({ form, post }: Composer): string {
  if (post !== null) return post.status === "failed" ? "Not sent again" : NOT_SAVED;
  if (!may("publish")) return NOT_ASKED;
  const { when } = form.value;
  return when === "now" ? "Not published" : when === "repeat" ? "Not started" : "Not scheduled";
}

/** Says, each time that it is asked for, why it is not done: beside the buttons it stands already. */
function tellUnsaved({ state }: Composer, failed: string): boolean {
  if (state.value.kind !== "failed") return false;
  closeComplaints();
  complain(`${failed}: ${state.value.sentence}`);
  return true;
}

/** Null: all is there. */
function missingIn(form: Form): string | null {
  if (form.targets.length === 0) return "Choose at least one channel first.";
  const media = [...form.media, ...form.targets.flatMap((target) => target.media ?? [])];
  const [poll] = [form, ...form.targets].flatMap(({ metadata }) => pollProblem(metadata) ?? []);
  return fileProblem(media.map(({ key }) => key)) ?? poll ?? timeProblem(form, zone.value, now());
}

/** The fields of the form that show errors. */
function shownOf(form: Form): Parameters<typeof failuresInWords>[1] {
  const shared = sharedFields(form.targets).map(({ key }) => key);
  return { form, shared, slotless: slotless(form, hasSlots) };
}

type PostTimes = readonly Pick<Post, "accountId" | "scheduledAt">[];

/** The part of the plan that shows what was scheduled. */
function placeOf(posts: PostTimes): string {
  const [first] = timesOf(posts);
  return first === undefined ? "/app/plan" : `/app/plan?day=${zone.value.read(first).day}`;
}

/** Each once, the first one first. */
function timesOf(posts: PostTimes): readonly number[] {
  return [...new Set(posts.map(({ scheduledAt }) => Date.parse(scheduledAt)))].sort((a, b) => a - b);
}

function doneText(form: Form, posts: PostTimes): string {
  const where = placesOf(form.targets, channelName);
  if (form.when === "repeat") return seriesStartInWords(form.repeat, clockTime, where);
  const [first, ...others] = timesOf(posts);
  if (first === undefined) return `Scheduled on ${where}.`;
  return others.length === 0
    ? `Scheduled for ${shortTime(first)} on ${where}.`
    : `Scheduled on ${where}, the first for ${shortTime(first)}.`;
}
