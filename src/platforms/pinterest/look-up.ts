import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import { MINUTE } from "../../domain/time.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import type { Settled, SettleContext } from "../../ports/publish-io.ts";
import { settleByListing } from "../shared/settle.ts";
import { call, pageOf } from "./api.ts";

const PAGE = 250;
const MAX_PAGES = 10;

const Text = z.string().nullish();
const ListedPin = z.looseObject({
  id: z.string(),
  created_at: Text,
  title: Text,
  description: Text,
  link: Text,
});
type ListedPin = z.infer<typeof ListedPin>;

/** What a pin is known by among others. */
export interface PinTexts {
  readonly boardId: string;
  readonly title: string;
  readonly description: string;
  readonly link: string;
}

/** Whether a pin whose answer was lost stands on its board. */
export async function settlePin(
  context: SettleContext,
  pin: PinTexts,
  io: PlatformIo,
): Promise<Settled<{ id: string }>> {
  let isWhole = true;
  return settleByListing(context, {
    now: io.now(),
    settleMs: MINUTE,
    get isReliable() {
      return isWhole;
    },
    reason: "the answer was lost, and the board has too many pins to look through.",
    find: async (since) => {
      const found = await findPin(pin, since, io);
      isWhole = found !== "too many";
      return typeof found === "string" ? null : found;
    },
  });
}

/** Newest first as a rule, which Pinterest does not promise: it goes on until a page is old as a whole. */
async function findPin(
  pin: PinTexts,
  since: number,
  io: PlatformIo,
): Promise<{ id: string } | "none" | "too many"> {
  let bookmark: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = { page_size: PAGE, bookmark };
    const asked = { path: `/boards/${pin.boardId}/pins`, query };
    const { items, bookmark: next } = await call(io, asked, pageOf(ListedPin));
    const fresh = items.filter((item) => madeAt(item) >= since);
    const found = fresh.find((item) => isSame(item, pin));
    if (found !== undefined) return { id: found.id };
    bookmark = next ?? "";
    if (bookmark === "" || (fresh.length === 0 && isDescending(items))) return "none";
  }
  return "too many";
}

/** One without a time may be of any. */
function madeAt({ created_at: text }: ListedPin): number {
  const at = text ?? "";
  const ms = Date.parse(/(Z|[+-]\d{2}:?\d{2})$/.test(at) ? at : `${at}Z`);
  return Number.isNaN(ms) ? Infinity : ms;
}

function isDescending(items: readonly ListedPin[]): boolean {
  const times = items.map(madeAt);
  return times.every((time, at) => time <= (times[at - 1] ?? Infinity));
}

function isSame(item: ListedPin, { title, description, link }: PinTexts): boolean {
  return (
    plain(item.title) === plain(title) &&
    plain(item.description) === plain(description) &&
    address(item.link) === address(link)
  );
}

/** Pinterest trims what it is given. */
function plain(text: string | null | undefined): string {
  return (text ?? "").replace(/\s+/g, " ").trim();
}

function address(link: string | null | undefined): string {
  return parseUrl(link ?? "")?.href ?? "";
}
