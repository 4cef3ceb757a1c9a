import { besidePlatform } from "../../src/domain/accounts/channel-names.ts";
import type { HostAbilities } from "../shared/bridge.ts";
import { type Draft, firstTimeOf } from "../shared/drafts.ts";
import type { Formats } from "../shared/formats.ts";
import type { Layout } from "../shared/host-context.ts";
import type { Zone } from "../shared/zone.ts";

/** What a person may decide. */
export type Decision = "approve" | "changes" | "discard" | "stop";

/** A channel as people know it. */
export interface Channel {
  readonly name: string;
  /** Its platform's name. */
  readonly platform: string;
}

export interface State {
  readonly drafts: readonly Draft[];
  /** The id of the draft that is shown; null: there are none. */
  readonly selected: string | null;
  readonly nextCursor: string | null;
  /** Drafts whose texts came cut, because an answer is no longer than a model can read. */
  readonly cut: ReadonlySet<string>;
  readonly channels: ReadonlyMap<string, Channel>;
  /** What the person is being asked. */
  readonly asking: Decision | null;
  /** Drafts on their way to the server, with what is being done. */
  readonly busy: ReadonlyMap<string, string>;
  readonly isLoading: boolean;
  readonly zone: Zone;
  readonly formats: Formats;
  readonly layout: Layout;
  readonly abilities: HostAbilities;
  readonly now: number;
}

export function findDraft({ drafts }: State, id: string | null): Draft | null {
  return drafts.find((draft) => draft.id === id) ?? null;
}

export function selectedDraft(state: State): Draft | null {
  return findDraft(state, state.selected);
}

/** The first other draft that waits. */
export function nextWaiting({ drafts, selected }: State): Draft | null {
  return drafts.find(({ id, state }) => state === "waiting" && id !== selected) ?? null;
}

export function when({ formats, zone }: State, ms: number): string {
  return `${formats.longDay(zone.read(ms).day)}, ${formats.time(ms)}`;
}

/** A few words, for lists. */
export function shortTime({ formats, zone }: State, draft: Draft): string {
  if (draft.repeat !== null) return "Series";
  const at = firstTimeOf(draft);
  if (at === null) return draft.isNextSlot ? "Next slot" : "At once";
  return `${formats.shortDay(zone.read(at).day)} ${formats.time(at)}`;
}

/** "Blog (Mastodon)" */
export function channelName({ channels }: State, id: string, given: string | null): string {
  const channel = channels.get(id);
  const name = channel?.name || given || id;
  return channel === undefined ? name : besidePlatform(name, channel.platform);
}
