import type { DeliveryRow } from "../../src/store/queries/webhooks.ts";
import {
  type Deed,
  type FinalPost,
  type Hook,
  type Series,
  SETTLED_WITHIN_MS,
  type Wish,
} from "./history.ts";
import type { Outcome } from "./judge.ts";
import type { Told } from "./receivers.ts";
import { isExact, wishesOf } from "./acts-series.ts";

/* What must hold of what people ask beside posts: repeats, series, tables, receivers, keys. */

export function judgeActs(outcome: Outcome): string[] {
  return [
    ...twoAnswers(outcome.deeds),
    ...inPart(outcome),
    ...untrue(outcome),
    ...notAllowed(outcome),
    ...outcome.wishes.flatMap(changedAfterYes),
    ...outcome.figures
      .filter(({ stored, told }) => !stored.every((one) => told.includes(one)))
      .map(({ text, stored }) => `“${text}” has figures that nobody told of it: ${stored.join(", ")}.`),
    ...outcome.deeds.flatMap((deed) => disconnected(deed, outcome)),
    ...twoEvents(outcome),
    ...outcome.hooks.flatMap((hook) => [...untold(hook, outcome), ...toldBadly(hook, outcome)]),
    ...outcome.series.flatMap((one) => wrongTimes(one, outcome)),
  ];
}

interface PostEvent {
  readonly type: string;
  readonly data: { readonly id?: string; readonly caption?: string };
}
const hasText = ({ versions }: Wish, text?: string): boolean => versions.some((one) => one.text === text);
const eventOf = ({ body }: Told): PostEvent => JSON.parse(body) as PostEvent;

/** Nobody is told of what did not happen. */
function untrue({ told, wishes, published }: Outcome): string[] {
  return told.flatMap((one) => {
    const { type, data } = eventOf(one);
    if (type !== "post.published" || published.some(({ text, at }) => text === data.caption && at <= one.at))
      return [];
    const wish = wishes.find((one) => hasText(one, data.caption));
    // Somebody said so.
    if (wish?.repeats.some(({ args }) => args["outcome"] === "published") === true) return [];
    // It is out with a text that the copy did not know.
    if (wish?.isForgotten === true && published.some(({ text }) => hasText(wish, text))) return [];
    return [`${one.path} was told that “${data.caption}” is out, and nobody could see it.`];
  });
}

/** What is told again is the same, with its id, and one thing has one id. */
function twoEvents({ told, hooks }: Outcome): string[] {
  const ids = new Map<string, string>();
  const bodies = new Map<string, string>();
  return told.flatMap((one) => {
    const { type, data } = eventOf(one);
    // A digest tells how things are when it is sent.
    const isAnother = type !== "digest.daily" && (bodies.get(one.path + one.id) ?? one.body) !== one.body;
    bodies.set(one.path + one.id, one.body);
    const isRestored = hooks.find(({ path }) => path === one.path)?.isRestored ?? true;
    const what = `${one.path} ${data.id}`;
    const isTwice = type === "post.published" && !isRestored && (ids.get(what) ?? one.id) !== one.id;
    if (type === "post.published") ids.set(what, one.id);
    return [
      ...(isAnother ? [`${one.path} was told of ${one.id} in two ways.`] : []),
      ...(isTwice ? [`${one.path} was told twice that “${data.caption}” is out.`] : []),
    ];
  });
}

/** Whoever wanted to be told was told, or is going to be. */
function untold({ path, id, deed, channelIds }: Hook, outcome: Outcome): string[] {
  if (id === null || deed.isForgotten === true) return [];
  const { told, posts, wishes, clockAt } = outcome;
  const own = outcome.events.filter(({ webhook_id }) => webhook_id === id);
  const isLater = ({ versions: [first] }: Wish): boolean =>
    (first?.deed.invokedAt ?? 0) > (deed.answeredAt ?? Infinity);
  const isMissing = (post: FinalPost): boolean =>
    ["published", "failed", "cancelled"].includes(post.status) &&
    (channelIds?.includes(post.channelId) ?? true) &&
    wishes.some((wish) => isLater(wish) && hasText(wish, post.caption)) &&
    !own.some(({ snapshot, event }) => snapshot.includes(post.id) && event === `post.${post.status}`);
  const isWrong = ({ id: eventId, status, error, next_at: nextAt }: DeliveryRow): boolean => {
    if (status === "failed") return error === null;
    if (status === "pending") return (nextAt ?? -Infinity) <= clockAt - SETTLED_WITHIN_MS / 2;
    return !told.some((one) => one.path === path && one.id === eventId && one.isTaken);
  };
  return [
    ...posts
      .filter(isMissing)
      .map(({ caption, status }) => `${path} is never told that “${caption}” is ${status}.`),
    ...own
      .filter(isWrong)
      .map((one) => `${path} and ${one.event} ${one.id}: it is said to be ${one.status}.`),
  ];
}

/** An event is on its way by then, where nothing fails. */
const TOLD_WITHIN_MS = 5_000;

/** Where hosts and databases have no faults, what was taken is not told again, and where nothing fails it is told soon. */
function toldBadly({ path, id }: Hook, { mood, told, events, deeds }: Outcome): string[] {
  if (mood === "wild") return [];
  const replays = deeds.filter(({ tool, args }) => tool === "replay_webhook" && args["id"] === id);
  const until = Math.min(...replays.map(({ invokedAt }) => invokedAt));
  const own = told.filter((one) => one.path === path && one.at < until);
  return events.flatMap((event) => {
    const ofEvent = own.filter((one) => one.id === event.id);
    const isAgain = ofEvent.filter(({ isTaken }) => isTaken).length > 1;
    const lateMs = (ofEvent[0]?.at ?? 0) - event.happened_at;
    return [
      ...(isAgain ? [`${path} had taken ${event.event} ${event.id}, and was told again.`] : []),
      ...(mood === "calm" && lateMs > TOLD_WITHIN_MS
        ? [`${path} was told of ${event.event} ${event.id} ${Math.round(lateMs)} ms late.`]
        : []),
    ];
  });
}

/** Nothing is done with a key that was revoked, nor beyond what it allows. */
function notAllowed({ deeds, wishes, published }: Outcome): string[] {
  const revokes = deeds.filter(
    ({ tool, outcome, isForgotten }) => tool === "revoke_key" && outcome === "done" && isForgotten !== true,
  );
  const isBad = ({ by, mayNot, invokedAt }: Deed): boolean =>
    mayNot === true ||
    revokes.some(({ args, answeredAt }) => args["key"] === by && (answeredAt ?? Infinity) < invokedAt);
  const isBadWish = ({ versions: [first], approvals }: Wish): boolean =>
    (approvals ?? (first === undefined ? [] : [first.deed])).some(isBad);
  return [
    ...deeds
      .filter((deed) => deed.outcome === "done" && isBad(deed))
      .map(({ tool, args }) => `${tool} was done for a key that may not: ${JSON.stringify(args)}.`),
    ...wishes
      .filter((wish) => isBadWish(wish) && published.some(({ text }) => hasText(wish, text)))
      .map(({ name }) => `${name} came out, and its key may not.`),
  ];
}

/** What is approved is not changed any more, and what was changed is not approved as it was. */
function changedAfterYes({ name, versions, approvals, isForgotten }: Wish): string[] {
  const [yes] = (approvals ?? []).filter(({ outcome, args }) => outcome === "done" && "revision" in args);
  const isLater = ({ revision, deed }: Wish["versions"][number]): boolean =>
    deed.outcome === "done" && Number(revision) > Number(yes?.args["revision"]);
  return yes !== undefined && !isForgotten && versions.some(isLater)
    ? [`${name} was approved as it was before, and changed.`]
    : [];
}

/** What had begun is over by then. */
const UNDER_WAY_MS = { calm: 3_000, wild: 100_000 };

/** Nothing goes out on a channel that was given up. */
function disconnected({ tool, args, answeredAt, outcome, isForgotten }: Deed, of: Outcome): string[] {
  if (tool !== "disconnect_channel" || outcome !== "done" || answeredAt === null || isForgotten === true)
    return [];
  const from = answeredAt + UNDER_WAY_MS[of.mood === "calm" ? "calm" : "wild"];
  const isAgain = (deed: Deed): boolean =>
    deed.tool === "connect_channel" && deed.args["accountId"] === args["accountId"];
  const again = of.deeds.filter((deed) => isAgain(deed) && (deed.answeredAt ?? Infinity) > answeredAt);
  const until = Math.min(...again.map(({ invokedAt }) => invokedAt));
  const isOn = (text: string): boolean =>
    of.wishes.some((wish) => wish.channelId === args["accountId"] && hasText(wish, text));
  return of.published
    .filter(({ text, leftAt }) => leftAt > from && leftAt < until && isOn(text))
    .map(({ text }) => `“${text}” came out on a channel that was given up.`);
}

/** A table is imported whole, or not at all. */
function inPart({ wishes, posts }: Outcome): string[] {
  const tables = new Set(wishes.flatMap(({ table, isForgotten }) => (isForgotten ? [] : (table ?? []))));
  return [...tables].flatMap((table) => {
    const rows = wishes.filter((wish) => wish.table === table);
    const made = rows.filter((row) =>
      posts.some(({ id, caption }) => id === row.id || hasText(row, caption)),
    );
    return made.length === 0 || made.length === rows.length
      ? []
      : [`Of ${table} ${made.length} of ${rows.length} rows are there.`];
  });
}

/** Each text has its own day, and what was stopped waits no more. */
function wrongTimes(series: Series, { posts, clockAt }: Outcome): string[] {
  if (series.isForgotten) return [];
  const isKnown = series.approvals.some(({ outcome }) => outcome === "done");
  const isStopped = series.stops.some(({ outcome }) => outcome === "done");
  return wishesOf(series, clockAt).flatMap(({ name, versions }) => {
    const row = posts.find(({ caption }) => caption === versions[0]?.text);
    if (row === undefined) return [];
    const at = versions[0]?.scheduledAt ?? 0;
    return [
      ...(isStopped && row.status === "scheduled" ? [`${name} waits, and its series was stopped.`] : []),
      ...(isKnown && isExact(at, series) && row.scheduledAt !== at
        ? [`${name} is at ${row.scheduledAt}, and not at ${at}.`]
        : []),
    ];
  });
}

/** With one key there is one answer. */
function twoAnswers(deeds: readonly Deed[]): string[] {
  const answers = new Map<unknown, string>();
  return deeds.flatMap(({ args: { idempotencyKey: key }, outcome, isForgotten, answer }) => {
    if (key === undefined || outcome !== "done" || isForgotten === true) return [];
    const ids = idsIn(answer);
    const first = answers.get(key) ?? ids;
    answers.set(key, first);
    return first === ids ? [] : [`One key, “${String(key)}”, gave ${first} and ${ids}.`];
  });
}

function idsIn(answer: Deed["answer"]): string {
  const found = JSON.stringify(answer).match(/"(?:post|dft)_\w+"/g);
  return [...new Set(found)].toSorted().join(", ");
}
