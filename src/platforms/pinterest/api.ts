import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import { MINUTE } from "../../domain/time.ts";
import type { PlatformIo, PlatformResponse } from "../../ports/platform-io.ts";
import type { ReconcileContext, Reconciled } from "../../ports/publish-io.ts";
import { byCode, byStatus, type Code, type FaultRule } from "../shared/faults.ts";
import { findFirst, pages } from "../shared/pages.ts";
import { reconcileByListing } from "../shared/reconcile.ts";
import { restApi } from "../shared/rest-api.ts";

const API = "https://api.pinterest.com";

/** Apps on trial may post only in Pinterest's sandbox. Pinterest says so in words. */
const TRIAL = "trial";

const RULES: readonly FaultRule[] = [
  ...byCode("setup", {
    [TRIAL]:
      "The Pinterest app has trial access, which does not let it post. Ask for standard access at https://developers.pinterest.com/apps/, or set POSTHORN_PINTEREST_BASE_URL to https://api-sandbox.pinterest.com to try it out.",
  }),
  ...byStatus("rejected", {
    403: "Pinterest does not allow this. The app lacks a permission, or the board is secret or another account's. Look at the board, or connect again and allow everything.",
    404: "Pinterest does not find it. It was deleted, or is another account's.",
    413: "Pinterest refused a file as too large. Use a smaller one.",
  }),
];

const Refusal = z.looseObject({ code: z.int(), message: z.string().catch("") });

function codesOf({ status, json }: PlatformResponse): readonly Code[] {
  const refusal = status < 400 ? undefined : Refusal.safeParse(json).data;
  if (refusal === undefined) return [];
  return status === 403 && /trial/i.test(refusal.message) ? [TRIAL, refusal.code] : [refusal.code];
}

export const {
  ask: call,
  askOrGone: callOrGone,
  askWith: callWith,
} = restApi({
  base: API,
  below: "/v5",
  faults: () => ({ title: "Pinterest", codesOf, rules: RULES }),
});

/** Of use where nothing of the answer is needed, an empty one too. */
export const AnyAnswer = z.unknown();

/** One page of a list; without a bookmark it is the last. */
export function pageOf<T>(item: z.ZodType<T>) {
  return z.looseObject({ items: z.array(item), bookmark: z.string().nullish() });
}

export const Account = z.looseObject({
  id: z.string().min(1),
  username: z.string().min(1),
  business_name: z.string().nullish(),
  profile_image: z.url().nullish().catch(null),
  follower_count: z.int().min(0).nullish().catch(null),
});

export function nameOf({ business_name: business, username }: z.infer<typeof Account>): string {
  return business === null || business === undefined || business === "" ? username : business;
}

export const Created = z.looseObject({ id: z.string().regex(/^\d+$/) });

const PAGE = 250;
const MAX_PAGES = 10;

const Text = z.string().nullish();
const ListedPin = Created.extend({
  created_at: Text,
  title: Text,
  description: Text,
  link: Text,
});
type ListedPin = z.infer<typeof ListedPin>;

/** What a pin is known by among others. */
interface PinTexts {
  readonly boardId: string;
  /** Of a section, whose pins are listed by themselves. */
  readonly sectionId: string | null;
  readonly title: string;
  readonly description: string;
  readonly link: string;
}

/** Whether a pin whose answer was lost stands on its board. */
export async function reconcilePin(
  context: ReconcileContext,
  pin: PinTexts,
  io: PlatformIo,
): Promise<Reconciled<{ id: string }>> {
  return reconcileByListing(context, {
    io,
    listedAfterMs: MINUTE,
    find: async (since, doubts) => {
      const tooMany = (): void =>
        doubts("the answer was lost, and the board has too many pins to look through.");
      const listed = listPins(pin, { since, tooMany }, io);
      const found = await findFirst(listed, (item) => madeAt(item) >= since && isSame(item, pin));
      return found === null ? null : { id: found.id };
    },
  });
}

/** Newest first as a rule, which Pinterest does not promise: it goes on until a page is old as a whole. */
function listPins(
  { boardId, sectionId }: Pick<PinTexts, "boardId" | "sectionId">,
  { since, tooMany }: { readonly since: number; readonly tooMany: () => void },
  io: PlatformIo,
): AsyncGenerator<ListedPin> {
  const section = sectionId === null ? "" : `/sections/${sectionId}`;
  return pages(
    MAX_PAGES,
    async (bookmark) => {
      const asked = { path: `/boards/${boardId}${section}/pins`, query: { page_size: PAGE, bookmark } };
      const { items, bookmark: next } = await call(io, asked, pageOf(ListedPin));
      const isOld = items.every((item) => madeAt(item) < since) && isDescending(items);
      return { items, next: isOld ? null : next };
    },
    tooMany,
  );
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
