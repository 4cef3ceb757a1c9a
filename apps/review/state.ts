import { besidePlatform } from "../../src/domain/accounts/channel-names.ts";
import type { Decision } from "../features/draft/decide-bar.tsx";
import { tellTimeShortly } from "../features/draft/telling.ts";
import type { HostAbilities } from "../shared/bridge.ts";
import type { Draft } from "../shared/drafts.ts";
import type { Formats } from "../shared/formats.ts";
import type { Layout } from "../shared/host-context.ts";
import type { Zone } from "../shared/zone.ts";

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

export function countWaiting({ drafts }: State): number {
  return drafts.filter(({ state }) => state === "waiting").length;
}

export function when({ formats, zone }: State, ms: number): string {
  return `${formats.longDay(zone.read(ms).day)}, ${formats.time(ms)}`;
}

/** A few words, for lists. */
export function shortTime({ formats, zone }: State, draft: Draft): string {
  return tellTimeShortly(draft, (ms) => `${formats.shortDay(zone.read(ms).day)} ${formats.time(ms)}`);
}

/** "Blog (Mastodon)" */
export function channelName({ channels }: State, id: string, given: string | null): string {
  const channel = channels.get(id);
  const name = channel?.name || given || id;
  return channel === undefined ? name : besidePlatform(name, channel.platform);
}
