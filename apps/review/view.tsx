import { useLayoutEffect, useRef } from "preact/hooks";
import { DraftItems, DraftPager } from "../features/draft/draft-items.tsx";
import { DraftView } from "../features/draft/draft-view.tsx";
import { standingOf } from "../features/draft/outcome-badge.tsx";
import { PostLine, TargetCard, type Target, type TargetPost } from "../features/draft/target-card.tsx";
import { countOf } from "../features/draft/telling.ts";
import type { Draft } from "../shared/drafts.ts";
import { standingOf as standingOfPost } from "../shared/statuses.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import type { App, Shown } from "./app.ts";
import { Count, NamedPreview } from "./named-preview.tsx";
import { Decide } from "./questions.tsx";
import { channelName, countWaiting, findDraft, shortTime, type State, when } from "./state.ts";

export interface ReviewProps {
  readonly app: App;
  readonly state: State;
}

/** The page: drafts one after another, and what the person decides about each. */
export function ReviewView({ app, shown }: { readonly app: App; readonly shown: Shown }) {
  const { state, text, complaint, said } = shown;
  return (
    <>
      {state === null ? (
        <div id="draft">
          <p class="alone">{text}</p>
        </div>
      ) : state.layout.isText ? (
        <div id="draft" tabIndex={0}>
          <Brief state={state} />
        </div>
      ) : (
        <Drafts app={app} state={state} />
      )}
      <div id="complaint" hidden={complaint === null}>
        <p role="alert">{complaint}</p>
        <button type="button" class="tool" aria-label="Close this message" onClick={() => app.complain(null)}>
          ×
        </button>
      </div>
      <div class="unseen" role="status" aria-live="polite">
        {said}
      </div>
    </>
  );
}

function Drafts({ app, state }: ReviewProps) {
  const { drafts, selected } = state;
  const draft = findDraft(state, selected);
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.scrollTo({ top: 0 }), [selected]);
  return (
    <>
      <Toolbar app={app} state={state} />
      <div id="body">
        {drafts.length > 1 && (
          <nav id="list" class={state.isLoading ? "loading" : ""} aria-label="Drafts">
            <DraftItems
              drafts={drafts}
              selected={selected}
              go={(id) => app.select(id)}
              renderFacts={(one) => <ItemFacts state={state} draft={one} />}
            />
          </nav>
        )}
        {/* What scrolls is reached with the Tab key, also where it has no buttons. */}
        <div id="draft" ref={place} tabIndex={0}>
          {draft === null ? <p class="alone">No drafts.</p> : <Whole app={app} state={state} draft={draft} />}
        </div>
      </div>
      {draft !== null && <Decide app={app} state={state} draft={draft} />}
    </>
  );
}

function Toolbar({ app, state }: ReviewProps) {
  const { drafts, selected, layout, abilities, nextCursor, isLoading } = state;
  const waiting = countWaiting(state);
  const screen = layout.isFullscreen ? "Leave full screen" : "Full screen";
  const go = (to: number): void => app.select(drafts[to]?.id ?? "");
  return (
    <div id="toolbar">
      <h1>
        {waiting === 0
          ? "Drafts"
          : `${countOf(waiting, "draft")} ${waiting === 1 ? "waits" : "wait"} for you`}
      </h1>
      {drafts.length > 1 && (
        <div class="pager" role="group" aria-label="Drafts, one by one">
          <DraftPager at={drafts.findIndex(({ id }) => id === selected)} count={drafts.length} go={go} />
        </div>
      )}
      {abilities.callsTools && nextCursor !== null && (
        <button
          type="button"
          class="tool"
          aria-label="More drafts"
          title="More drafts"
          onClick={() => void app.more()}
        >
          {isLoading ? "Loading…" : "More"}
        </button>
      )}
      {layout.canFullscreen && (
        <button
          type="button"
          class="tool"
          aria-label={screen}
          title={screen}
          onClick={() => void app.toggleFullscreen()}
        >
          {layout.isFullscreen ? "↙" : "↗"}
        </button>
      )}
    </div>
  );
}

function ItemFacts({ state, draft }: { readonly state: State; readonly draft: Draft }) {
  const { label, sign, tint } = standingOf(draft);
  return (
    <>
      <span class={`standing ${tint}`}>
        <span class="sign" aria-hidden="true">
          {sign}
        </span>
        {label}
      </span>{" "}
      <span class="muted">{shortTime(state, draft)}</span>
    </>
  );
}

interface WholeProps extends ReviewProps {
  readonly draft: Draft;
}

function Whole({ app, state, draft }: WholeProps) {
  const { texts, targets } = draft;
  return (
    <DraftView
      draft={draft}
      when={(ms) => ` (${when(state, ms)})`}
      times={
        <>
          <p>{tellTime(state, draft)}</p>
          {texts.length > 0 && (
            <ol aria-label="Texts that take turns">
              {texts.map((text, at) => (
                <li key={at} dir="auto">
                  {text}
                </li>
              ))}
            </ol>
          )}
        </>
      }
      remarks={
        state.cut.has(draft.id) && (
          <p class="error">Texts are too long to be shown whole here: they end with “…”.</p>
        )
      }
    >
      {targets.map((target) => (
        <Card key={target.accountId} {...{ app, state, draft, target }} />
      ))}
    </DraftView>
  );
}

function tellTime(state: State, { repeat, scheduledAt, isNextSlot, targets, posts }: Draft): string {
  const count = countOf(posts.length > 0 ? posts.length : targets.length, "post");
  if (repeat !== null) return repeat;
  const times = new Set(targets.map((target) => target.scheduledAt));
  if (times.size > 1) return `${count}, at different times (${state.zone.name})`;
  const at = [...times][0] ?? scheduledAt;
  if (at === null) return isNextSlot ? `${count}, in the next free slots` : `${count}, at once when approved`;
  return `${when(state, at)} (${state.zone.name}) · ${count}`;
}

function Card({ app, state, draft, target }: WholeProps & { readonly target: Target }) {
  const { accountId, accountName, preview } = target;
  const name = channelName(state, accountId, accountName);
  const renderPost = (post: TargetPost) => (
    <PostLine
      key={post.id}
      post={post}
      badge={<Badge tint={post.status} {...standingOfPost(post, state.now)} />}
      when={when(state, post.scheduledAt)}
      link={<OpenButton app={app} state={state} url={post.platformUrl} name={name} />}
    />
  );
  return (
    <TargetCard
      draft={draft}
      target={target}
      channel={name}
      aside={preview !== null && <Count of={preview} />}
      when={(ms) => when(state, ms)}
      renderPost={renderPost}
    >
      {preview !== null && <NamedPreview preview={preview} />}
    </TargetCard>
  );
}

interface OpenButtonProps extends ReviewProps {
  readonly url: string | null;
  /** Of the channel. */
  readonly name: string;
}

/** A link within the host would lead nowhere: the host is asked to open it. */
function OpenButton({ app, state, url, name }: OpenButtonProps) {
  if (url === null || !state.abilities.opensLinks) return null;
  return (
    <Button isSmall aria-label={`Open the post: ${name}`} onClick={() => app.openLink(url)}>
      Open the post
    </Button>
  );
}

/** The drafts in a few lines, for a host that gives little room. */
function Brief({ state }: { readonly state: State }) {
  const { drafts, zone } = state;
  return (
    <div class="brief">
      <h1>Drafts</h1>
      <p>
        {drafts.length === 0
          ? "No drafts."
          : `${countWaiting(state)} of ${drafts.length} wait for you (${zone.name})`}
      </p>
      <ul>
        {drafts.map((draft) => {
          const { label, sign, tint } = standingOf(draft);
          const names = draft.targets.map((one) => channelName(state, one.accountId, one.accountName));
          return (
            <li key={draft.id} class={tint}>
              <span class="sign" aria-hidden="true">
                {sign}
              </span>
              {label} · {shortTime(state, draft)} <span dir="auto">{draft.title}</span>
              <span class="muted" dir="auto">
                {names.length > 0 && ` (${names.join(", ")})`}
              </span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
