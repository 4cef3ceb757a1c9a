import { DateTime } from "luxon";
import type { Account } from "../../domain/accounts/account.ts";
import { parseUrl } from "../../domain/parse-url.ts";
import { plainText } from "../../domain/text/plain-text.ts";
import type { SaidPost } from "../../domain/posts/post.ts";
import { formatTime } from "../../domain/time.ts";
import type { DigestEvent, DraftEvent } from "../../domain/webhooks/event-data.ts";
import { type EventKind, TEST_EVENT } from "../../domain/webhooks/webhook.ts";
import { namesAmong } from "../../channels/accounts/accounts.ts";
import { listAccountNames } from "../../store/queries/accounts.ts";
import type { WebhookRow } from "../../store/queries/webhooks.ts";
import type { AppContext } from "../../context.ts";
import { dataOf, type EventDelivery } from "./event-body.ts";

/** A message for people, before a service's own form and limits. */
export interface Notice {
  /** The first event's: the same on each try. */
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** What came meanwhile, a line each. Null: nothing. */
  readonly more: string | null;
  /** Where it is dealt with, as an address that anyone may see. */
  readonly link: string | null;
  /** Where in our own page it is dealt with, from its origin. Null: there is no page. */
  readonly page: string | null;
  /** A person must do something soon. */
  readonly isUrgent: boolean;
}

/** One event in words. */
interface EventText {
  readonly title: string;
  readonly lines: readonly string[];
  /** For a line of its own among others. Default: the title alone. */
  readonly about?: string;
}

/** What a message is written with. */
interface Words {
  readonly ctx: AppContext;
  /** `"My channel" (Mastodon)`, of each of the owner's accounts; `"My channel on Mastodon"` where two are called so. */
  channel(id: string, provider?: string): string;
}

const MAX_TEXT = 300;
const MAX_SHORT_TEXT = 60;
const MAX_ERROR = 700;
const MAX_NAME = 120;
/** Events after the first that are named. */
const MAX_NAMED = 5;

/** Writes what happened. Of several events the first is told in full, the others in a line each. */
export async function writeNotice(
  ctx: AppContext,
  webhook: Pick<WebhookRow, "owner_id">,
  deliveries: readonly EventDelivery[],
): Promise<Notice> {
  const words = await openWords(ctx, webhook.owner_id);
  const events = deliveries.map((one) => ({ event: one.event, data: dataOf(ctx, one) }));
  const [{ title, lines } = NOTHING, ...others] = events.map(({ event, data }) => tell(words, event, data));
  return {
    id: deliveries[0]?.id ?? "",
    title,
    text: lines.filter((line) => line !== "").join("\n"),
    more: others.length === 0 ? null : describeOthers(others),
    ...(await linksOf(ctx, events[0] ?? null)),
    isUrgent: deliveries.some(({ event }) => URGENT.includes(event)),
  };
}

interface OneEvent {
  readonly event: string;
  readonly data: object;
}

/** To the live post where there is one, else to our own page. */
async function linksOf(ctx: AppContext, first: OneEvent | null): Promise<Pick<Notice, "link" | "page">> {
  const page = first === null || !hasPage(ctx) ? null : pageOf(first);
  const own = page === null ? null : (await ctx.publicUrl()) + page;
  return { link: (first === null ? null : liveAddressOf(first)) ?? own, page };
}

/** Without it, the lines name commands. */
function hasPage({ settings }: AppContext): boolean {
  return settings.hasPage !== false;
}

function liveAddressOf({ event, data }: OneEvent): string | null {
  const address = event.startsWith("post.") ? parseUrl((data as SaidPost).platformUrl ?? "") : null;
  return address !== null && /^https?:$/.test(address.protocol) ? address.href : null;
}

/** Where in the page an event is dealt with. Ids open nothing by themselves: who is not signed in is asked to. */
function pageOf({ event, data }: OneEvent): string {
  if (event === TEST_EVENT) return "/app/settings";
  if (event === "post.failed" || event === "draft.partly") return "/app/trouble";
  if (event.startsWith("post.")) return `/app/plan?post=${encodeURIComponent((data as SaidPost).id)}`;
  if (event.startsWith("account."))
    return `/app/channels?account=${encodeURIComponent((data as Account).id)}`;
  if (event.startsWith("draft."))
    return `/app/review?draft=${encodeURIComponent((data as DraftEvent).draftId)}`;
  return "/app/plan";
}

const NOTHING: EventText = { title: "Posthorn", lines: [] };

const URGENT: readonly string[] = [
  "post.failed",
  "account.reconnect_required",
  "draft.partly",
] satisfies EventKind[];

function describeOthers(others: readonly EventText[]): string {
  const named = others
    .slice(0, MAX_NAMED)
    .map(({ title, about = "" }) => `• ${title}${about === "" ? "" : `: ${about}`}`);
  const rest = others.length > MAX_NAMED ? ["• …"] : [];
  return [`and ${others.length} more:`, ...named, ...rest].join("\n");
}

async function openWords(ctx: AppContext, ownerId: string): Promise<Words> {
  const rows = await listAccountNames(ctx.store, ownerId);
  const names = namesAmong(ctx, rows);
  const titleOf = (provider: string): string => ctx.platforms.get(provider)?.title ?? provider;
  const known = new Map(
    rows.map(({ id, name, provider }) => {
      const called = names.get(id) ?? name;
      // The longer names tell the platform already.
      const title = called === name ? ` (${titleOf(provider)})` : "";
      return [id, `"${plainText(called, MAX_NAME)}"${title}`];
    }),
  );
  return {
    ctx,
    channel: (id, provider) => known.get(id) ?? (provider === undefined ? id : titleOf(provider)),
  };
}

/** As it was when it happened. */
function tell(words: Words, event: string, data: object): EventText {
  if (event === TEST_EVENT)
    return { title: "Posthorn: a test", lines: ["Messages from Posthorn arrive here."] };
  if (event.startsWith("post.")) return describePost(words, event, data as SaidPost);
  if (event.startsWith("account.")) return describeAccount(words, event, data as Account);
  return event === "digest.daily"
    ? describeDigest(words, data as DigestEvent)
    : describeDraft(words, event, data as DraftEvent);
}

const POST_TITLES: Readonly<Record<string, string>> = {
  "post.scheduled": "A post is planned on",
  "post.publishing": "A post is on its way to",
  "post.uploaded": "A post is with the platform, to go live later, on",
  "post.published": "A post is live on",
  "post.failed": "A post did not go out on",
  "post.cancelled": "A post was cancelled on",
};

function describePost({ ctx, channel }: Words, event: string, post: SaidPost): EventText {
  const { id, accountId, provider, error, scheduledAt } = post;
  const text = textOf(post);
  const when = formatTime(Date.parse(scheduledAt), ctx.settings.timezone);
  const isFailed = event === "post.failed";
  return {
    title: `${POST_TITLES[event] ?? event} ${channel(accountId, provider)}`,
    lines: [
      inQuotes(text, MAX_TEXT),
      `${isFailed ? "It was due on" : "Its time:"} ${when}.`,
      error === null ? "" : plainText(String(error), MAX_ERROR),
      isFailed ? `Once that is mended, send it again ${byWay(ctx, `posthorn retry ${id}`)}.` : "",
    ],
    about: inQuotes(text, MAX_SHORT_TEXT),
  };
}

/** What a post says, in short: its caption, else its title. */
export function textOf({
  caption,
  metadata,
  mediaUrl,
}: Pick<SaidPost, "caption" | "metadata" | "mediaUrl">): string {
  const title = metadata?.["title"];
  if (caption !== null && caption.trim() !== "") return caption;
  // An address of media may be signed.
  return typeof title === "string" && title !== "" ? title : mediaUrl === "" ? "" : "(media without a text)";
}

function inQuotes(text: string, maxChars: number): string {
  return text === "" ? "" : `“${plainText(text, maxChars)}”`;
}

/** How a person does it. */
function byWay(ctx: AppContext, command: string): string {
  return hasPage(ctx) ? "on the page (or ask your agent to)" : `with: ${command} (or ask your agent to)`;
}

function describeAccount({ ctx, channel }: Words, event: string, account: Account): EventText {
  const { id, provider, statusReason, queuedCount } = account;
  const which = channel(id, provider);
  const waiting = queuedCount === 1 ? "1 post waits for it." : `${queuedCount} posts wait for it.`;
  const remedy = `Reconnect it ${byWay(ctx, `posthorn connect ${provider} --account ${id}`)}.`;
  return {
    title: event === "account.expiring" ? `Access to ${which} ends soon` : `${which} must be reconnected`,
    lines: [plainText(statusReason ?? "", MAX_ERROR), queuedCount === 0 ? "" : waiting, remedy],
  };
}

const DECISIONS: Readonly<Record<string, string>> = {
  approved: "was approved",
  changes: "needs changes",
  discarded: "was discarded",
  stopped: "was ended",
};

function describeDraft({ ctx, channel }: Words, event: string, draft: DraftEvent): EventText {
  const { draftId, title, text, accountIds, scheduledAt, writtenBy, decision, posts } = draft;
  const name = inQuotes(title ?? text ?? "", MAX_SHORT_TEXT);
  const channels = accountIds.map((id) => channel(id)).join(", ");
  const by = decision?.by ? ` by ${plainText(decision.by, MAX_NAME)}` : "";
  const titles: Readonly<Record<string, string>> = {
    "draft.waiting": "A draft waits for your decision",
    "draft.decided": `A draft ${DECISIONS[decision?.what ?? ""] ?? "was decided"}${by}`,
    "draft.partly": "A draft went out only in part",
  };
  return {
    title: titles[event] ?? event,
    lines: [
      title === null ? "" : inQuotes(title, MAX_SHORT_TEXT),
      inQuotes(text ?? "", MAX_TEXT),
      channels === "" ? "" : `For: ${channels}.`,
      scheduledAt === null ? "" : `Its time: ${formatTime(Date.parse(scheduledAt), ctx.settings.timezone)}.`,
      writtenBy === null ? "" : `Written by ${plainText(writtenBy, MAX_NAME)}.`,
      decision?.note ? `Note: ${inQuotes(decision.note, MAX_TEXT)}` : "",
      ...posts.map(({ accountId, status, error, platformUrl }) =>
        plainText(`${channel(accountId)}: ${status}. ${error ?? platformUrl ?? ""}`, MAX_TEXT),
      ),
      event === "draft.waiting" ? decideBy(ctx, draftId) : "",
    ],
    about: name,
  };
}

function decideBy(ctx: AppContext, draftId: string): string {
  return hasPage(ctx) ? "Decide on the page." : `Decide with: posthorn approve ${draftId}`;
}

function describeResult(
  { channel }: Words,
  { accountId, provider, text, metrics }: DigestEvent["results"][number],
): string {
  const figures = Object.entries(metrics).map(([name, count]) => `${count} ${name}`);
  const told = figures.length === 0 ? "no figures" : figures.join(", ");
  return `• ${channel(accountId, provider)}: ${inQuotes(text, MAX_SHORT_TEXT)} ${told}`;
}

function describeDigest(words: Words, digest: DigestEvent): EventText {
  const { ctx, channel } = words;
  const { date, timezone, today, failed, waitingDrafts, unknownOutcome, accountsToReconnect } = digest;
  // An event of before has none.
  const { results = [] } = digest;
  const clock = (iso: string): string => DateTime.fromISO(iso, { zone: timezone }).toFormat("HH:mm");
  const line = ({ accountId, provider, text, scheduledAt }: DigestEvent["today"]["posts"][number]): string =>
    `• ${clock(scheduledAt)} ${channel(accountId, provider)}: ${inQuotes(text, MAX_SHORT_TEXT)}`;
  const part = (title: string, { count, posts }: DigestEvent["today"]): string[] =>
    count === 0
      ? []
      : [
          `${title}: ${count}`,
          ...posts.map(line),
          ...(count > posts.length ? [`• and ${count - posts.length} more`] : []),
        ];
  return {
    title: `Posthorn on ${DateTime.fromISO(date, { zone: timezone, locale: "en" }).toFormat("cccc d MMMM")}`,
    lines: [
      ...part("Goes out today", today),
      ...part("Failed yesterday", failed),
      ...(results.length === 0
        ? []
        : ["After 24 hours:", ...results.map((one) => describeResult(words, one))]),
      waitingDrafts === 0
        ? ""
        : `Drafts that wait for your decision: ${waitingDrafts}${hasPage(ctx) ? "" : " (posthorn drafts waiting)"}`,
      unknownOutcome === 0
        ? ""
        : `It is not known whether they went out: ${unknownOutcome}. Look at the channels.`,
      ...accountsToReconnect.map(({ id, provider }) => `To be reconnected: ${channel(id, provider)}`),
      `Times are in ${timezone}.`,
    ],
  };
}
