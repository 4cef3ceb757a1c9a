import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { DRAFT_STATES } from "../../shared/drafts.ts";
import { standingOf, type Status } from "../../shared/statuses.ts";
import { nameOf } from "../../shared/texts.ts";
import { readWallTime, wallProblem, writeWallTime } from "../../shared/wall-time.ts";
import type { App } from "./app.ts";
import { changePanel, closePanel } from "./open.ts";
import { ComingTime } from "./coming-line.tsx";
import { channelOf, inOrder, platformOf, type CalendarDraft, type CalendarPost } from "./posts.ts";
import { cellsOf, findPost, isLoaded, when, type Panel as Shown, type State } from "./state.ts";
import { Sign, Tool } from "../../ui/tool.tsx";
import { type AskedChange, POST_CHANGES } from "../post/post-changes.ts";
import { changePost, movePost, openText, saveText } from "./post-work.ts";

interface PanelProps {
  readonly app: App;
  readonly state: State;
  readonly panel: Shown;
}

/** What lies over the calendar: one post, the posts of a day, or those that failed. */
export function Panel(props: PanelProps) {
  const { app, state, panel } = props;
  const posts = postsOf(state, panel);
  const drafts = draftsOf(state, panel);
  const coming = panel.kind === "day" ? cellsOf(state, "day")({ day: panel.day, hour: null }).coming : [];
  const title = titleOf(state, panel);
  return (
    <section class="panel" role="dialog" aria-label={title}>
      <header>
        <h2 tabIndex={-1} data-key="panel:title">
          {title}
        </h2>
        <Tool name="panel:close" aria-label="Close" onClick={() => closePanel(app)}>
          ×
        </Tool>
      </header>
      {drafts.map((draft) => (
        <DraftPart key={draft.id} state={state} draft={draft} />
      ))}
      {posts.map((post) => (
        <PostPart key={post.id} {...props} post={post} />
      ))}
      {coming.map((one) => (
        <ComingTime
          key={`${one.draftId}${one.at}`}
          one={one}
          time={state.formats.time(one.at)}
          address={state.options.seriesAddress}
        />
      ))}
      {posts.length + drafts.length + coming.length === 0 && <p class="muted">{emptyText(state, panel)}</p>}
    </section>
  );
}

function draftsOf({ calendar, zone }: State, panel: Shown): readonly CalendarDraft[] {
  if (panel.kind === "draft") return calendar.drafts.filter(({ id }) => id === panel.id);
  return panel.kind === "day" ? calendar.drafts.filter(({ at }) => zone.read(at).day === panel.day) : [];
}

function postsOf(state: State, panel: Shown): readonly CalendarPost[] {
  const { posts } = state.calendar;
  if (panel.kind === "draft") return [];
  if (panel.kind === "post") return posts.filter((post) => post.id === panel.id);
  if (panel.kind === "failed") return inOrder(posts.filter((post) => post.status === "failed"));
  return inOrder(posts.filter((post) => state.zone.read(post.scheduledAt).day === panel.day));
}

function emptyText(state: State, panel: Shown): string {
  return panel.kind === "day" && !isLoaded(state, [panel.day])
    ? "The posts of this day were not loaded."
    : "No posts.";
}

function titleOf(state: State, panel: Shown): string {
  if (panel.kind === "failed") return "Failed posts";
  if (panel.kind === "day") return state.formats.longDay(panel.day);
  if (panel.kind === "draft") {
    const draft = state.calendar.drafts.find(({ id }) => id === panel.id);
    return draft === undefined ? "Draft" : when(state, draft.at);
  }
  const post = findPost(state, panel.id);
  return post === null ? "Post" : when(state, post.scheduledAt);
}

interface PartProps {
  /** A status or the state of a draft. */
  readonly look: string;
  readonly label: string;
  readonly sign: string;
  /** When and where. */
  readonly facts: string;
  readonly one: { readonly title: string; readonly text: string };
  readonly children: ComponentChildren;
}

function Part({ look, label, sign, facts, one, children }: PartProps) {
  return (
    <article aria-label={one.title}>
      <p class="facts">
        <span class={`status ${look}`}>
          <Sign sign={sign} />
          {label}
        </span>
        <span class="muted" dir="auto">
          {facts}
        </span>
      </p>
      <h3 dir="auto">{one.title}</h3>
      {one.text !== "" && (
        <p class="text" dir="auto" tabIndex={0}>
          {one.text}
        </p>
      )}
      {children}
    </article>
  );
}

function DraftPart({ state, draft }: { readonly state: State; readonly draft: CalendarDraft }) {
  const channels = draft.targets.map(
    ({ accountId, accountName }) => state.calendar.names.get(accountId) || accountName || accountId,
  );
  const facts = [state.formats.time(draft.at), ...channels].join(" · ");
  return (
    <Part look={draft.state} {...DRAFT_STATES[draft.state]} facts={facts} one={draft}>
      {draft.state === "waiting" && (
        <p class="muted">To decide about it, ask your agent to show the drafts.</p>
      )}
    </Part>
  );
}

interface PostProps extends PanelProps {
  readonly post: CalendarPost;
}

function PostPart(props: PostProps) {
  const { state, panel, post } = props;
  const doing = state.busy.get(post.id) ?? null;
  const channel = channelOf(state.calendar, post);
  const time = panel.kind === "failed" ? when(state, post.scheduledAt) : state.formats.time(post.scheduledAt);
  const facts = panel.kind === "post" ? channel : `${time} · ${channel}`;
  return (
    <Part {...standingOf(post, state.now)} facts={facts} one={post}>
      {post.mediaUrl !== "" && <p class="muted">Media: {nameOf(post.mediaUrl)}</p>}
      {post.error !== null && post.status !== "cancelled" && (
        <p class="error" dir="auto">
          {post.error}
        </p>
      )}
      {doing === null ? <Actions {...props} /> : <p class="muted">{doing}</p>}
    </Part>
  );
}

/** What is asked before it is done to a post of this status. */
const ASKED: Partial<Record<Status, AskedChange>> = {
  failed: "dismiss",
  published: "takeDown",
  scheduled: "cancel",
};

/** What a person may do to it here. */
function Actions(props: PostProps) {
  const { app, state, panel, post } = props;
  const { id } = post;
  const { asking, writing } = panel;
  const { callsTools, opensLinks } = state.abilities;
  const url = opensLinks ? post.platformUrl : null;
  const asked = (callsTools ? ASKED[post.status] : null) ?? null;
  if (callsTools && writing?.id === id) return <TextForm {...props} text={writing.text} />;
  if (asked !== null && asking?.id === id && asking.what === asked)
    return <Question {...props} what={asked} />;
  if (url === null && asked === null) return null;
  const ask = (what: AskedChange): void => changePanel(app, { asking: { id, what } }, `keep:${id}`);
  return (
    <div class="actions">
      {url !== null && (
        <Action
          name="open"
          post={post}
          text={`Open on ${platformOf(state.calendar, post)}`}
          onClick={() => app.openLink(url)}
        />
      )}
      {asked === "cancel" && <NewTime {...props} />}
      {asked === "dismiss" && (
        <Action
          name="retry"
          post={post}
          text="Send again"
          onClick={() => void changePost(app, id, "retry")}
        />
      )}
      {(asked === "cancel" || asked === "dismiss") && (
        <Action name="write" post={post} text="Edit text" onClick={() => void openText(app, id)} />
      )}
      {asked !== null && (
        <Action name="ask" post={post} text={POST_CHANGES[asked].button} onClick={() => ask(asked)} />
      )}
    </div>
  );
}

interface ActionProps {
  readonly name: string;
  readonly post: CalendarPost;
  readonly text: string;
  onClick(): void;
}

function Action({ name, post, text, onClick }: ActionProps) {
  return (
    <Tool name={`${name}:${post.id}`} look="main" aria-label={`${text}: ${post.title}`} onClick={onClick}>
      {text}
    </Tool>
  );
}

/** A sandboxed page may open no dialog of the browser's. The focus is on what changes nothing. */
function Question({ app, post, what }: PostProps & { readonly what: AskedChange }) {
  const { question, text, yes, no } = POST_CHANGES[what];
  const keep = (): void => changePanel(app, { asking: null }, `ask:${post.id}`);
  return (
    <div class="actions" role="group" aria-label={question}>
      <p>{`${question} ${text}`}</p>
      <Action name={what} post={post} text={yes} onClick={() => void changePost(app, post.id, what)} />
      <Action name="keep" post={post} text={no} onClick={keep} />
    </div>
  );
}

function TextForm({ app, post, text }: PostProps & { readonly text: string }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const fieldId = `text-${post.id}`;
  const leave = (): void => changePanel(app, { writing: null }, `write:${post.id}`);
  return (
    <div class="actions" role="group" aria-label={`Text of ${post.title}`}>
      <label for={fieldId}>Text</label>
      <textarea
        ref={field}
        id={fieldId}
        rows={4}
        dir="auto"
        data-key={`text:${post.id}`}
        defaultValue={text}
      />
      <Action
        name="save"
        post={post}
        text={post.status === "failed" ? "Send again" : "Save"}
        onClick={() => void saveText(app, post.id, field.current?.value ?? text)}
      />
      <Action name="unwrite" post={post} text="Leave it" onClick={leave} />
    </div>
  );
}

function NewTime({ app, state, post }: PostProps) {
  const field = useRef<HTMLInputElement>(null);
  const fieldId = `time-${post.id}`;
  const move = (): void => {
    const value = field.current?.value ?? "";
    const to = readWallTime(value);
    if (to === null) app.say(wallProblem(value) ?? "");
    else void movePost(app, post.id, to);
  };
  return (
    <>
      <label for={fieldId}>New time</label>
      <input
        ref={field}
        id={fieldId}
        type="datetime-local"
        defaultValue={writeWallTime(state.zone.read(post.scheduledAt))}
        data-key={`time:${post.id}`}
        aria-label={`New time of ${post.title} (${state.zone.name})`}
      />
      <Action name="move" post={post} text="Move" onClick={move} />
    </>
  );
}
