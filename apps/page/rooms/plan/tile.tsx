import type { CalendarDraft, CalendarPost, FreeSlot } from "../../../features/calendar/posts.ts";
import { formats } from "../../data/session.ts";
import { channelName, findAccount, isPaused } from "../../data/shared-data.ts";
import { DraftBadge, StatusBadge } from "../../../ui/badges.tsx";
import { ChannelLabel, PlatformGlyph } from "../../channel/channel-label.tsx";
import { Picture } from "../../post/picture.tsx";
import { besidePause } from "../../post/post-facts.ts";

/** A post with its picture, text, time, channel and state. */
export function PostTile({ post, onOpen }: { readonly post: CalendarPost; onOpen(id: string): void }) {
  const error = post.status === "cancelled" ? "" : besidePause(post.error ?? "");
  return (
    <button type="button" class="plan-tile" data-id={post.id} onClick={() => onOpen(post.id)}>
      {post.mediaUrl !== "" && <Picture mediaUrl={post.mediaUrl} alt="" size={96} />}
      <span class="plan-tile-main">
        <span class="plan-tile-facts">
          <span class="plan-time">{formats.value.time(post.scheduledAt)}</span>
          <ChannelLabel accountId={post.accountId} />
          <StatusBadge post={post} scheduledAt={post.scheduledAt} isPaused={isPaused(post.accountId)} />
        </span>
        <span class="plan-tile-title" dir="auto">
          {post.title}
        </span>
        {error !== "" && (
          <span class="plan-tile-error" dir="auto">
            {error.replace(/^outcome unknown:/i, "No one knows whether it went out.")}
          </span>
        )}
      </span>
    </button>
  );
}

/** Where a person goes on with a draft. */
export function draftAddress({ id, state }: Pick<CalendarDraft, "id" | "state">): string {
  return `/app/${state === "waiting" ? "review" : "write"}?draft=${encodeURIComponent(id)}`;
}

/** So many channels are named on a tile. */
const MAX_NAMED = 4;

export function DraftTile({ draft }: { readonly draft: CalendarDraft }) {
  const shown = draft.targets.slice(0, MAX_NAMED);
  const more = draft.targets.length - shown.length;
  return (
    <a class="plan-tile draft" href={draftAddress(draft)}>
      <span class="plan-tile-main">
        <span class="plan-tile-facts">
          <span class="plan-time">{formats.value.time(draft.at)}</span>
          {shown.map(({ accountId }) => (
            <ChannelLabel key={accountId} accountId={accountId} />
          ))}
          {more > 0 && <span class="muted">and {more} more</span>}
          <DraftBadge state={draft.state} />
        </span>
        <span class="plan-tile-title" dir="auto">
          {draft.title}
        </span>
      </span>
    </a>
  );
}

/** The address at which a post for this time is written. */
export function slotAddress(slot: FreeSlot): string {
  const params = { account: slot.accountId, at: new Date(slot.at).toISOString() };
  return `/app/write?${new URLSearchParams(params).toString()}`;
}

export function SlotTile({ slot }: { readonly slot: FreeSlot }) {
  const account = findAccount(slot.accountId);
  return (
    <a class="plan-slot" href={slotAddress(slot)}>
      <span class="plan-time">{formats.value.time(slot.at)}</span>
      {account !== null && <PlatformGlyph provider={account.provider} />}
      <span dir="auto">Free on {channelName(slot.accountId)}</span>
    </a>
  );
}
