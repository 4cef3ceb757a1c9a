import { yearProblem } from "../../../shared/wall-time.ts";
import type { Day } from "../../../shared/zone.ts";

const VIEWS = ["month", "week", "list"] as const;
export type PlanView = (typeof VIEWS)[number];

/** What a person tells posts apart by. */
export const PLAN_STATES = {
  scheduled: { label: "Scheduled", statuses: ["scheduled", "publishing", "uploaded"] },
  published: { label: "Published", statuses: ["published"] },
  failed: { label: "Failed", statuses: ["failed"] },
  cancelled: { label: "Cancelled", statuses: ["cancelled"] },
  draft: { label: "Drafts", statuses: [] },
} as const;
export type PlanState = keyof typeof PLAN_STATES;

export interface PlanFilters {
  /** Channels by their ids. Empty: all. */
  readonly channels: readonly string[];
  /** Empty: all. */
  readonly states: readonly PlanState[];
  /** Empty: with any label or none. */
  readonly label: string;
}

/** What the room shows, as its address says it. */
export interface PlanQuery extends PlanFilters {
  readonly view: PlanView;
  /** Null: today. */
  readonly day: Day | null;
  readonly search: string;
  /** Of the list: from today on, or from the latest back. */
  readonly isUpcoming: boolean;
  /** The post that is open beside it. */
  readonly post: string | null;
}

type Params = Readonly<Record<string, string>>;

/** What is not understood is left out. */
export function readQuery(params: Params): PlanQuery {
  const { view = "", day = "", channel = "", state = "", label = "", search = "", order = "" } = params;
  return {
    view: VIEWS.find((one) => one === view) ?? "month",
    day: readDay(day || (params["month"] ?? "")),
    // Other rooms lead here with the account alone.
    channels: listOf(channel || (params["account"] ?? "")),
    states: listOf(state).filter(isPlanState),
    label,
    search,
    isUpcoming: order !== "latest",
    post: params["post"] || null,
  };
}

/** Whether the address says something that is not understood. */
export function isMisread(params: Params, { view, day, states }: PlanQuery): boolean {
  const isOther = (given: string | undefined, read: string): boolean => Boolean(given) && given !== read;
  return (
    isOther(params["view"], view) ||
    isOther(params["day"], day ?? "") ||
    isOther(params["state"], states.join())
  );
}

/** The address of the room that shows this; what is usual is not in it. */
export function addressOf(query: PlanQuery): string {
  const params = {
    view: query.view === "month" ? "" : query.view,
    day: query.day ?? "",
    channel: query.channels.join(","),
    state: query.states.join(","),
    label: query.label,
    search: query.search,
    order: query.isUpcoming ? "" : "latest",
    post: query.post ?? "",
  };
  const given = Object.entries(params).filter(([, value]) => value !== "");
  const text = new URLSearchParams(given).toString();
  return text === "" ? "/app/plan" : `/app/plan?${text}`;
}

export function isFiltered({ channels, states, label }: PlanFilters): boolean {
  return channels.length > 0 || states.length > 0 || label !== "";
}

/** The statuses of posts that fit. Null: all of them. */
export function statusesOf(states: readonly PlanState[]): readonly string[] | null {
  return states.length === 0 ? null : states.flatMap((state) => PLAN_STATES[state].statuses);
}

function isPlanState(text: string): text is PlanState {
  return Object.hasOwn(PLAN_STATES, text);
}

/** A day, or the first one of a month: also of a month that has no such day. */
function readDay(text: string): Day | null {
  const [, month = "", day = ""] = /^([12]\d{3}-(?:0[1-9]|1[0-2]))(-\d{2})?$/.exec(text) ?? [];
  if (month === "" || yearProblem(text) !== null) return null;
  const ms = Date.parse(`${text}T00:00:00Z`);
  const isThere = day !== "" && !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
  return isThere ? text : `${month}-01`;
}

function listOf(text: string): readonly string[] {
  return text === "" ? [] : [...new Set(text.split(","))];
}
