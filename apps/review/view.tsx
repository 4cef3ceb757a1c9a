import { useLayoutEffect, useRef } from "preact/hooks";
import { DraftItems, DraftPager } from "../features/draft/draft-items.tsx";
import { DraftView } from "../features/draft/draft-view.tsx";
import { standingOf } from "../features/draft/outcome-badge.tsx";
import { PostLine, TargetCard, type TargetPost } from "../features/draft/target-card.tsx";
import { timeInShort } from "../features/draft/draft-words.ts";
import type { Draft } from "../shared/drafts.ts";
import { formats, longTime, timezone, zone } from "../shared/when.ts";
import { Button } from "../ui/button.tsx";
import { Sign, Tool } from "../ui/tool.tsx";
import { Decide } from "./decide.tsx";
import { Count, NamedPreview } from "./named-preview.tsx";
import { countOf } from "../shared/texts.ts";
import * as review from "./review.ts";

/** The page: drafts one after another, and what the person decides about each. */
export function ReviewView() {
  const { page, complaint, said, layout } = review;
  return (
    <>
      {page.value === null ? (
        <div id="draft">
          <p class="alone">{review.text}</p>
        </div>
      ) : layout.value.isText ? (
        <Brief {...page.value} />
      ) : (
        <Drafts {...page.value} />
      )}
      <div id="complaint" hidden={complaint.value === null}>
        <p role="alert">{complaint}</p>
        <Tool label="Close this message" onClick={() => (complaint.value = null)}>
          ×
        </Tool>
      </div>
      <div class="unseen" role="status" aria-live="polite">
        {said}
      </div>
    </>
  );
}

interface DraftsProps {
  readonly drafts: readonly Draft[];
  readonly nextCursor: string | null;
}

function Drafts({ drafts, nextCursor }: DraftsProps) {
  const draft = review.draft.value;
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.scrollTo({ top: 0 }), [draft?.id]);
  return (
    <>
      <Toolbar drafts={drafts} nextCursor={nextCursor} />
      <div id="body">
        {drafts.length > 1 && (
          <nav id="list" class={review.isLoading.value ? "loading" : ""} aria-label="Drafts">
            <DraftItems
              drafts={drafts}
              selected={draft?.id ?? null}
              go={review.select}
              renderFacts={(one) => <ItemFacts draft={one} />}
            />
          </nav>
        )}
        {/* What scrolls is reached with the Tab key, also where it has no buttons. */}
        <div id="draft" ref={place} tabIndex={0}>
          {draft === null ? <p class="alone">No drafts.</p> : <WholeDraft draft={draft} />}
        </div>
      </div>
      {draft !== null && <Decide draft={draft} />}
    </>
  );
}

function Toolbar({ drafts, nextCursor }: DraftsProps) {
  const waiting = countWaiting(drafts);
  const { isFullscreen, canFullscreen } = review.layout.value;
  return (
    <div id="toolbar">
      <h1>
        {waiting === 0
          ? "Drafts"
          : `${countOf(waiting, "draft")} ${waiting === 1 ? "waits" : "wait"} for you`}
      </h1>
      {drafts.length > 1 && (
        <div class="pager" role="group" aria-label="Drafts, one by one">
          <DraftPager
            at={drafts.findIndex(({ id }) => id === review.draft.value?.id)}
            count={drafts.length}
            go={(to) => review.select(drafts[to]?.id ?? "")}
          />
        </div>
      )}
      {review.host.abilities.callsTools && nextCursor !== null && (
        <Tool label="More drafts" onClick={() => void review.loadMore()}>
          {review.isLoading.value ? "Loading…" : "More"}
        </Tool>
      )}
      {canFullscreen && (
        <Tool
          label={isFullscreen ? "Leave full screen" : "Full screen"}
          onClick={() => void review.toggleFullscreen()}
        >
          {isFullscreen ? "↙" : "↗"}
        </Tool>
      )}
    </div>
  );
}

function countWaiting(drafts: readonly Draft[]): number {
  return drafts.filter(({ state }) => state === "waiting").length;
}

function timeInLists(ms: number): string {
  return `${formats.value.shortDay(zone.value.read(ms).day)} ${formats.value.time(ms)}`;
}

function ItemFacts({ draft }: { readonly draft: Draft }) {
  const { label, sign, tint } = standingOf(draft);
  return (
    <>
      <span class={`standing ${tint}`}>
        <Sign sign={sign} />
        {label}
      </span>{" "}
      <span class="muted">{timeInShort(draft, timeInLists)}</span>
    </>
  );
}

function WholeDraft({ draft }: { readonly draft: Draft }) {
  const { id, texts, targets } = draft;
  return (
    <DraftView
      draft={draft}
      on={(ms) => ` (${longTime(ms)})`}
      times={
        <>
          <p>{timeInWords(draft)}</p>
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
        review.page.value?.cut.has(id) === true && (
          <p class="error">Texts are too long to be shown whole here: they end with “…”.</p>
        )
      }
    >
      {targets.map((target) => {
        const { accountId, accountName, preview } = target;
        const channel = review.channelName(accountId, accountName);
        return (
          <TargetCard
            key={accountId}
            draft={draft}
            target={target}
            channel={channel}
            aside={preview !== null && <Count of={preview} />}
            renderPost={(post) => <Post key={post.id} post={post} channel={channel} />}
          >
            {preview !== null && <NamedPreview preview={preview} />}
          </TargetCard>
        );
      })}
    </DraftView>
  );
}

function timeInWords({ repeat, scheduledAt, isNextSlot, targets, posts }: Draft): string {
  const count = countOf(posts.length > 0 ? posts.length : targets.length, "post");
  if (repeat !== null) return repeat;
  const times = new Set(targets.map((target) => target.scheduledAt));
  if (times.size > 1) return `${count}, at different times (${timezone.value})`;
  const at = [...times][0] ?? scheduledAt;
  if (at === null) return isNextSlot ? `${count}, in the next free slots` : `${count}, at once when approved`;
  return `${longTime(at)} (${timezone.value}) · ${count}`;
}

/** A link within the host would lead nowhere: the host is asked to open it. */
function Post({ post, channel }: { readonly post: TargetPost; readonly channel: string }) {
  const { scheduledAt, platformUrl: url } = post;
  const link = url !== null && review.host.abilities.opensLinks && (
    <Button isSmall aria-label={`Open the post: ${channel}`} onClick={() => review.openLink(url)}>
      Open the post
    </Button>
  );
  return <PostLine post={post} when={longTime(scheduledAt)} link={link} />;
}

/** The drafts in a few lines, for a host that gives little room. */
function Brief({ drafts }: DraftsProps) {
  return (
    <div id="draft" tabIndex={0}>
      <div class="brief">
        <h1>Drafts</h1>
        <p>
          {drafts.length === 0
            ? "No drafts."
            : `${countWaiting(drafts)} of ${drafts.length} wait for you (${timezone.value})`}
        </p>
        <ul>
          {drafts.map((draft) => {
            const { label, sign, tint } = standingOf(draft);
            const names = draft.targets.map((one) => review.channelName(one.accountId, one.accountName));
            return (
              <li key={draft.id} class={tint}>
                <Sign sign={sign} />
                {label} · {timeInShort(draft, timeInLists)} <span dir="auto">{draft.title}</span>
                <span class="muted" dir="auto">
                  {names.length > 0 && ` (${names.join(", ")})`}
                </span>
              </li>
            );
          })}
        </ul>
      </div>
    </div>
  );
}
