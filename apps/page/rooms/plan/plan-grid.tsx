import { render } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { App } from "../../../calendar/app.ts";
import { mountCalendar } from "../../../calendar/mount.ts";
import type { CalendarOptions } from "../../../calendar/options.ts";
import { jsonOf } from "../../../shared/json.ts";
import type { Wire } from "../../../shared/wire.ts";
import { answered, PAGE_ABILITIES, pageWire } from "../../data/page-wire.ts";
import { may, timezone } from "../../data/session.ts";
import { channelName, findAccount, platformTitle, shortName } from "../../data/shared-data.ts";
import { PlatformGlyph } from "../../../ui/channel.tsx";
import { pictureUrl } from "../../wire.ts";
import { loadWindow } from "./load-window.ts";
import type { PlanFilters, PlanQuery } from "./plan-query.ts";

interface PlanGridProps {
  readonly query: PlanQuery;
  readonly isNarrow: boolean;
  readonly isHidden: boolean;
  readonly told: Required<
    Pick<CalendarOptions, "onOpen" | "onChange" | "onMoved" | "onComplaint" | "onHint">
  >;
  onReady(app: App | null): void;
}

/** The month or week of the MCP App, within the page. */
export function PlanGrid({ query, isNarrow, isHidden, told, onReady }: PlanGridProps) {
  const root = useRef<HTMLDivElement>(null);
  const app = useRef<App | null>(null);
  const latest = useRef({ told, filters: query });
  latest.current = { told, filters: query };
  useLayoutEffect(() => {
    if (root.current === null) return undefined;
    const mounted = mountCalendar(root.current, {
      tiles: { pictureUrl: (url) => pictureUrl(url, 96), markOf, placeOf: shortName },
      hasDots: isNarrow,
      mayMove: may("publish"),
      onOpen: (opened) => latest.current.told.onOpen(opened),
      onChange: (state) => latest.current.told.onChange(state),
      onMoved: (...moved) => latest.current.told.onMoved(...moved),
      onHint: (sentence) => latest.current.told.onHint(sentence),
      onComplaint: (sentence) => latest.current.told.onComplaint(sentence),
    });
    app.current = mounted.app;
    const wire = wireWith(() => latest.current.filters);
    mounted.app.begin(wire, PAGE_ABILITIES, { displayMode: "fullscreen", locale: navigator.language });
    void mounted.app.start(timezone.value, gridView(query), query.day);
    onReady(mounted.app);
    return () => onReady(null);
  }, []);
  useEffect(() => app.current?.takeOptions({ hasDots: isNarrow }), [isNarrow]);
  const filters = filterKey(query);
  const loaded = useRef(filters);
  useEffect(() => {
    if (loaded.current === filters) return;
    loaded.current = filters;
    void app.current?.reload();
  }, [filters]);
  return <div ref={root} class="calendar plan-grid" hidden={isHidden} />;
}

export function gridView({ view }: PlanQuery): "month" | "week" {
  return view === "week" ? "week" : "month";
}

function filterKey({ channels, states, label }: PlanFilters): string {
  return JSON.stringify([channels, states, label]);
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

const marks = new Map<string, HTMLElement>();

/** Drawn once for each platform, and copied. */
function markOf(accountId: string, given: string | null): Node | null {
  const provider = findAccount(accountId)?.provider ?? given;
  if (provider === null) return null;
  const known = marks.get(provider);
  if (known !== undefined) return known.cloneNode(true);
  const mark = document.createElement("span");
  mark.className = "mark";
  render(<PlatformGlyph provider={provider} />, mark);
  marks.set(provider, mark);
  return mark.cloneNode(true);
}
