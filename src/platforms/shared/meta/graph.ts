import { jsonIn } from "../../../domain/text/read-text.ts";
import { createHmac } from "node:crypto";
import * as z from "zod";
import type { PlatformSetting } from "../../../domain/accounts/platform-settings.ts";
import { DAY, MINUTE, toIso } from "../../../domain/time.ts";
import type { ConnectIo } from "../../../ports/connect.ts";
import type { PlatformResponse, SignedRequest } from "../../../ports/platform-io.ts";
import { Id } from "../../../ports/platform-values.ts";
import { byCode, type Code, type FaultRule, type FaultTable } from "../faults.ts";
import { pages } from "../pages.ts";

/** A version of the Graph API is served for some two years; that of v25.0 began in February 2026. */
export const GRAPH_VERSION = "v25.0";

export const VERSION_SETTING: PlatformSetting = {
  name: "API_VERSION",
  meaning: "Version of the Graph API, as written in its addresses",
  kind: "text",
  default: GRAPH_VERSION,
  isRequired: false,
};

/**
 * Where the methods of a Graph API begin: its host, which the setting may replace, and the version. `of`:
 * whose settings, where it is another platform's API.
 */
export function graphUrl(io: Pick<ConnectIo, "setting">, host: string, of?: string): string {
  return `${io.setting("BASE_URL", of) ?? host}/${io.setting("API_VERSION", of) ?? GRAPH_VERSION}`;
}

/**
 * What proves that a token is used by the app it was given to, which apps may demand:
 * https://developers.facebook.com/docs/graph-api/guides/secure-requests
 */
export function proofOf(secret: string | null, token: string): { appsecret_proof?: string } {
  if (secret === null || secret === "") return {};
  return { appsecret_proof: createHmac("sha256", secret).update(token).digest("hex") };
}

/** What creates something gives its id. */
export const Created = z.looseObject({ id: Id });

const Paging = z
  .looseObject({
    next: z.string().optional(),
    cursors: z.looseObject({ after: z.string().optional() }).optional(),
  })
  .optional();

const PER_PAGE = 50;
const MAX_PAGES = 20;

interface Asks {
  ask<T>(request: SignedRequest, schema: z.ZodType<T>): Promise<T>;
}

/**
 * The entries of a list, page after page. By their cursors: the address of the next page, which the answer
 * names too, holds the token. `until`: stops after a page in which one entry fits.
 */
export function listEntries<T>(
  io: Asks,
  request: SignedRequest,
  entry: z.ZodType<T>,
  options: { readonly perPage?: number; readonly maxPages?: number; until?(found: T): boolean } = {},
): AsyncGenerator<T> {
  const { perPage = PER_PAGE, maxPages = MAX_PAGES, until = () => false } = options;
  const Answer = z.looseObject({ data: z.array(entry), paging: Paging });
  return pages(maxPages, async (after) => {
    const asked = { ...request, query: { ...request.query, limit: perPage, after } };
    const { data, paging } = await io.ask(asked, Answer);
    const isLast = paging?.next === undefined || data.some(until);
    return { items: data, next: isLast ? null : paging.cursors?.after };
  });
}

/** Numbers may come as text, and the Threads API adds words of its own. */
const ErrorBody = z.looseObject({
  error: z.looseObject({
    code: z.coerce.number(),
    error_subcode: z.coerce.number().optional().catch(undefined),
    is_transient: z.boolean().optional().catch(undefined),
    message: z.string().catch(""),
  }),
});

/** Instagram's token endpoints. */
const TypedBody = z.looseObject({ error_type: z.string(), code: z.coerce.number() });

/**
 * What an error is named in rules: its code 190, code and subcode `"190/463"`, the subcode whatever the code
 * `"/463"`, `"transient"` where Meta says that it passes, and the word that the Threads API puts into its sentences.
 */
function metaCodes({ json }: PlatformResponse): readonly Code[] {
  const body = ErrorBody.safeParse(json);
  if (!body.success) {
    const typed = TypedBody.safeParse(json);
    return typed.success ? [typed.data.code] : [];
  }
  const { code, error_subcode: subcode, is_transient: isTransient, message } = body.data.error;
  return [
    ...(/\bTHREADS_API__[A-Z_]+/.exec(message) ?? []),
    ...(subcode === undefined ? [] : [`${code}/${subcode}`, `/${subcode}`]),
    code,
    ...(isTransient === true ? ["transient"] : []),
  ];
}

const Usage = z.record(
  z.string(),
  z.array(z.looseObject({ estimated_time_to_regain_access: z.coerce.number().nonnegative().catch(0) })),
);

/**
 * How long Meta asks to be left alone, by `X-Business-Use-Case-Usage`, which counts in minutes; null where it
 * does not say.
 */
export function metaWaitMs({ headers }: Pick<PlatformResponse, "headers">): number | null {
  const usage = Usage.safeParse(jsonIn(headers["x-business-use-case-usage"] ?? ""));
  if (!usage.success) return null;
  const minutes = Object.values(usage.data)
    .flat()
    .map((one) => one.estimated_time_to_regain_access);
  const longest = Math.max(0, ...minutes);
  return longest === 0 ? null : longest * MINUTE;
}

/** 10, 3, 283 and all of 200 to 299 say that a permission is missing. */
const PERMISSION_CODES = [3, 10, 283, ...Array.from({ length: 100 }, (_, at) => 200 + at)].join(" ");

/** The object is not there, or not to be seen by this account. */
export const GONE = "100/33";

/** https://developers.facebook.com/docs/graph-api/guides/error-handling */
function commonRules(title: string): readonly FaultRule[] {
  return [
    ...byCode("auth", {
      "190/458 190/459 190/460 190/464": `${title} ended the access. The app was removed, the password was changed, or the account must be confirmed there first.`,
      "190/463": `The access to ${title} has expired.`,
      "190/492": `The person who connected the channel no longer has a role on its Page.`,
      "190 102": `${title} does not accept the channel's access any more.`,
      [PERMISSION_CODES]: `${title} lacks a permission for this. Connect again and leave all permissions ticked.`,
    }),
    ...byCode("setup", {
      101: `${title} does not know the app. Check its CLIENT_ID and CLIENT_SECRET.`,
      2635: `This version of the Graph API is no longer served. Set API_VERSION of ${title} to a newer one, or update Posthorn.`,
    }),
    {
      code: [4, 341],
      kind: "rate",
      scope: "app",
      retryAfterMs: metaWaitMs,
      message: `${title} asks the app to slow down.`,
    },
    {
      // 80000 to 80014 are the limits of Pages, Instagram and other uses by businesses.
      code: [17, 32, 613, ...Array.from({ length: 15 }, (_, at) => 80_000 + at)],
      kind: "rate",
      message: `${title} asks the channel to slow down.`,
      retryAfterMs: metaWaitMs,
    },
    ...byCode("rejected", {
      368: `${title} does not let this account post for now, because of its rules. Look in the app what it says, and send the post again later.`,
    }),
    { code: [1, 2, "transient"], kind: "transient", message: `${title} has a problem of its own.` },
    ...byCode("rejected", {
      [GONE]: `${title} does not have it any more, or does not show it to this account.`,
    }),
  ];
}

/** What errors of the Graph API mean: a platform's own rules first, then what is common to all. */
export function metaFaults(title: string, rules: readonly FaultRule[] = []): FaultTable {
  return { title, codesOf: metaCodes, rules: [...rules, ...commonRules(title)] };
}

/** For what the channel can do without: a missing permission is no reason to ask for a new consent. */
export function withoutPermission(message: string): FaultRule[] {
  return byCode("rejected", { [PERMISSION_CODES]: message });
}

/** The moment of a list entry, in milliseconds since 1970: "2026-11-21T09:00:00+0000", or seconds. */
export const Moment = z
  .union([z.string(), z.number()])
  .transform((text) => (Number.isNaN(Number(text)) ? Date.parse(String(text)) : Number(text) * 1_000));

/** The day of a value, as YYYY-MM-DD: Meta names it by the moment it ends at. Null where that is not told. */
export function dayBefore(end: string | undefined): string | null {
  const at = Date.parse(end ?? "") - DAY;
  return Number.isNaN(at) ? null : toIso(at).slice(0, 10);
}
