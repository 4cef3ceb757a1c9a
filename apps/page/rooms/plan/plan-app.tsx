import { type Signal, signal } from "@preact/signals";
import { App } from "../../../features/calendar/app.ts";
import type { CalendarItem } from "../../../features/calendar/options.ts";
import type { State } from "../../../features/calendar/state.ts";
import { Host } from "../../../shared/host.ts";
import { jsonOf } from "../../../shared/json.ts";
import type { Wire } from "../../../shared/wire.ts";
import type { Day } from "../../../shared/zone.ts";
import { PlatformGlyph } from "../../channel/channel-label.tsx";
import { complain, say } from "../../../ui/toasts.tsx";
import { answered, PAGE_ABILITIES, pageWire } from "../../data/page-wire.ts";
import { may } from "../../data/session.ts";
import {
  channelName,
  findAccount,
  isPaused,
  nameOnPlatform,
  platformTitle,
  postChanges,
  shortName,
} from "../../data/shared-data.ts";
import { pictureUrl } from "../../data/wire.ts";
import { seriesAddress } from "../../post/series-part.tsx";
import { loadWindow } from "./load-window.ts";
import type { PlanFilters, PlanQuery } from "./plan-query.ts";
import { draftAddress, slotAddress } from "./tile.tsx";

/** The room at this moment, also before what it is about to show is drawn. */
interface Room {
  readonly query: PlanQuery;
  open(id: string, day: Day): void;
  go(url: string): void;
}

/** The calendar within the page, and what lies over it. */
export interface Plan {
  readonly app: App;
  readonly day: Signal<Day | null>;
  /** Why there is nothing to show. */
  readonly problem: Signal<string | null>;
}

export function createPlan(room: () => Room): Plan {
  const day = signal<Day | null>(null);
  const problem = signal<string | null>(null);
  const open = (opened: CalendarItem): void => {
    if (opened.kind === "post") return room().open(opened.id, opened.day);
    if (opened.kind === "slot") return may("draft") ? room().go(slotAddress(opened)) : undefined;
    if (opened.kind === "draft") {
      const draft = app.state?.calendar.drafts.find(({ id }) => id === opened.id);
      if (draft !== undefined) room().go(draftAddress(draft));
    } else if (app.state?.options.hasDots !== true) day.value = opened.day;
  };
  const app: App = new App(new Host(null), {
    tiles: {
      pictureUrl: (url) => pictureUrl(url, 96),
      markOf,
      nameOf: nameOnPlatform,
      placeOf: shortName,
      isPaused,
    },
    seriesAddress,
    mayMove: may("publish"),
    onOpen: open,
    onMoved: (_, sentence, undo) => {
      say(sentence, undo);
      // Taken back while a post is open: that is shown anew.
      if (room().query.post !== null) postChanges.value += 1;
    },
    onHint: say,
    onComplaint: (sentence) => {
      if (isLoaded(app.state)) complain(sentence);
      else problem.value = sentence;
    },
  });
  const wire = wireWith(() => room().query);
  app.begin(wire, PAGE_ABILITIES, { displayMode: "fullscreen", locale: navigator.language });
  return { app, day, problem };
}

/** Whether an answer came. */
export function isLoaded(state: State | null): state is State {
  return state !== null && state.calendar.to >= state.calendar.from;
}

/** The page's wire, with what the plan is filtered by. */
function wireWith(filters: () => PlanFilters): Wire {
  return {
    ...pageWire,
    callTool: (name, args) =>
      name === "show_calendar"
        ? answered(loadWindow(args, filters(), { channelName, platformTitle }).then(jsonOf))
        : pageWire.callTool(name, args),
  };
}

function markOf(accountIds: readonly string[], given: string | null) {
  const providers = new Set(accountIds.flatMap((id) => findAccount(id)?.provider ?? given ?? []));
  if (providers.size === 0) return null;
  return (
    <span class="mark">
      {[...providers].map((provider) => (
        <PlatformGlyph key={provider} provider={provider} />
      ))}
    </span>
  );
}
