import { type Json, jsonOf, textOf } from "../../shared/json.ts";
import { now } from "../../shared/clock.ts";
import { SERVER_SILENT } from "../../shared/reach.ts";
import { sentenceOf } from "../../shared/texts.ts";
import type { WallTime } from "../../shared/zone.ts";
import { changeAsSeen, OtherThanSeen } from "../post/as-seen.ts";
import { POST_CHANGES, type PostChangeName } from "../post/post-changes.ts";
import type { App } from "./app.ts";
import { readPost, type CalendarPost } from "./posts.ts";
import { activeAt, findPost, isMovable, when } from "./state.ts";

/* What a person does to a post of the calendar, and what the server says to it. */

/** What a tool does to a post, and what is said meanwhile. */
interface Work {
  readonly tool: string;
  readonly args: Json;
  readonly doing: string;
  /** Said of the post where it was refused. Set: it is done only where the time is as the person saw it. */
  readonly stays?: string;
}

/** The post; null if it is being changed. */
function idlePost({ state }: App, id: string): CalendarPost | null {
  return state === null || state.busy.has(id) ? null : findPost(state, id);
}

/** True when the person may take the post up now. */
export function mayMove(app: App, id: string): boolean {
  const post = idlePost(app, id);
  return app.state !== null && post !== null && isMovable(app.state, post);
}

/** Shows the post at its new time at once, and takes that back when the server refuses. */
export async function movePost(app: App, id: string, to: WallTime): Promise<void> {
  const post = idlePost(app, id);
  if (app.state !== null && post !== null) await moveTo(app, post, app.state.zone.toMs(to));
}

/** `post`: as the person saw it, also where other days or filters have left it out. */
async function moveTo(app: App, post: CalendarPost, scheduledAt: number): Promise<void> {
  const { state } = app;
  const { id } = post;
  if (state === null || !isMovable(state, post)) return;
  app.update(
    { move: null, ...activeAt(state, state.zone.read(scheduledAt)) },
    state.panel === null ? `chip:${id}` : null,
  );
  if (scheduledAt === post.scheduledAt) return;
  const stays = `The post stays at ${when(state, post.scheduledAt)}.`;
  if (scheduledAt < now()) return app.complain(`That time has passed. ${stays}`);
  const time = new Date(scheduledAt).toISOString();
  const work = { tool: "update_post", args: { scheduledAt: time }, doing: "Saving…", stays };
  const answer = await doWork(app, post, work, { ...post, scheduledAt });
  // What else was changed is shown, too.
  if (answer === null) return app.reload(true);
  const sentence = `Moved to ${when(state, scheduledAt)}.`;
  const onMoved = app.state?.options.onMoved;
  if (onMoved === undefined) app.say(sentence);
  const moved = readPost(answer["post"]) ?? { ...post, scheduledAt };
  onMoved?.(post, sentence, () => void moveTo(app, moved, post.scheduledAt));
  app.showWarnings(answer["warnings"]);
  app.updateModel(`${id} was moved to ${time}`);
}

/** Does what its button says. */
export async function changePost(app: App, id: string, name: PostChangeName): Promise<void> {
  const { from, said, ...work } = POST_CHANGES[name];
  const post = idlePost(app, id);
  if (post?.status !== from || app.state?.abilities.callsTools !== true) return;
  if ((await doWork(app, post, work)) === null) return;
  app.say(said);
  app.updateModel(`${id}: ${work.tool}`);
}

/** Loads the whole text of a post and opens it for editing. */
export async function openText(app: App, id: string): Promise<void> {
  const post = idlePost(app, id);
  if (post === null) return;
  const answer = await doWork(app, post, { tool: "get_post", args: {}, doing: "Loading the text…" });
  const panel = app.state?.panel ?? null;
  const fresh = readPost(answer?.["post"]);
  const readAt = textOf(jsonOf(answer?.["post"])["updatedAt"]);
  if (fresh !== null && panel !== null)
    app.update(
      { panel: { ...panel, asking: null, writing: { id, text: fresh.caption ?? "", readAt } } },
      `text:${id}`,
    );
}

/** Saves the text of a waiting post, or sends a failed one again with it. */
export async function saveText(app: App, id: string, caption: string): Promise<void> {
  const post = idlePost(app, id);
  if (post === null) return;
  const isFailed = post.status === "failed";
  // What was typed is there again where it is refused.
  const panel = app.state?.panel ?? null;
  const readAt = panel?.writing?.readAt ?? "";
  if (panel !== null) app.update({ panel: { ...panel, writing: { id, text: caption, readAt } } });
  const answer = await doWork(app, post, {
    tool: isFailed ? "retry_post" : "update_post",
    args: { caption, ...(!isFailed && readAt !== "" && { ifUpdatedAt: readAt }) },
    doing: isFailed ? POST_CHANGES.retry.doing : "Saving…",
  });
  if (answer === null) return showOtherText(app, id, readAt);
  if (app.state?.panel?.writing?.id === id)
    app.update({ panel: { ...app.state.panel, writing: null } }, "panel:title");
  app.say(isFailed ? POST_CHANGES.retry.said : "The text is saved.");
  app.showWarnings(answer["warnings"]);
  app.updateModel(`${id}: ${isFailed ? "retry_post with another text" : "another text"}`);
}

/** Says what others wrote meanwhile: it is replaced only by one who knows of it. */
async function showOtherText(app: App, id: string, readAt: string): Promise<void> {
  const { structured } = await app.call("get_post", { id });
  const post = readPost(structured?.["post"]);
  const changedAt = textOf(jsonOf(structured?.["post"])["updatedAt"]);
  const panel = app.state?.panel ?? null;
  const writing = panel?.writing ?? null;
  if (post?.status !== "scheduled" || changedAt === readAt || writing?.id !== id) return;
  if (panel !== null) app.update({ panel: { ...panel, writing: { ...writing, readAt: changedAt } } });
  app.complain(
    `It was changed elsewhere meanwhile. Its text is now “${post.caption ?? ""}”. Save again to put yours in its place.`,
  );
}

/** `shown`: the post until the answer comes. Null: the server refused it, and the post is unchanged. */
async function doWork(app: App, post: CalendarPost, work: Work, shown = post): Promise<Json | null> {
  app.closeMessage();
  replacePost(app, shown, work.doing);
  try {
    const answer = await (work.stays === undefined ? callOf(app, post, work) : callAsSeen(app, post, work));
    replacePost(app, readPost(answer["post"]) ?? shown);
    return answer;
  } catch (error) {
    // Who was told of another one sees it, and their next try is about that.
    replacePost(app, (error instanceof OtherThanSeen && readPost(error.post)) || post);
    const text = sentenceOf(error);
    // After an answer that was lost, it is not known where the post is.
    const isKnown = !(error instanceof OtherThanSeen || text.includes(SERVER_SILENT));
    app.complain(isKnown && work.stays !== undefined ? `${text} ${work.stays}` : text);
    return null;
  }
}

/** Rejects with the sentence of a refusal. */
async function callOf(
  app: App,
  { id }: CalendarPost,
  { tool, args }: Pick<Work, "tool" | "args">,
): Promise<Json> {
  const { isError, structured, text } = await app.call(tool, { id, ...args });
  if (isError) throw new Error(text);
  return structured ?? {};
}

function callAsSeen(app: App, post: CalendarPost, { tool, args }: Work): Promise<Json> {
  const { status, updatedAt } = post;
  const seen = { status, updatedAt, scheduledAt: new Date(post.scheduledAt).toISOString() };
  return changeAsSeen(seen, {
    fields: ["status", "scheduledAt"],
    change: (at) => callOf(app, post, { tool, args: { ...args, ...(at !== "" && { ifUpdatedAt: at }) } }),
    read: async () => (await callOf(app, post, { tool: "get_post", args: {} }))["post"],
    when: (ms) => (app.state === null ? new Date(ms).toISOString() : when(app.state, ms)),
  });
}

/** `doing`: what is being done to the post. Null: nothing any more. */
function replacePost(app: App, post: CalendarPost, doing: string | null = null): void {
  if (app.state === null) return;
  const { calendar } = app.state;
  const busy = new Map(app.state.busy);
  if (doing === null) busy.delete(post.id);
  else busy.set(post.id, doing);
  app.update({
    busy,
    calendar: { ...calendar, posts: calendar.posts.map((one) => (one.id === post.id ? post : one)) },
  });
}
