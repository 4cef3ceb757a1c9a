import { createHmac } from "node:crypto";
import * as z from "zod";
import type { PlatformSetting } from "../../../domain/accounts/platform-settings.ts";
import type { ConnectIo } from "../../../ports/connect.ts";
import type { SignedRequest } from "../../../ports/platform-io.ts";
import { Id } from "../../../ports/platform-values.ts";

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
 * All entries of a list, page after page. By their cursors: the address of the next page, which the answer
 * names too, holds the token. `until`: stops after a page in which one entry fits.
 */
export async function listAll<T>(
  io: Asks,
  request: SignedRequest,
  entry: z.ZodType<T>,
  options: { readonly perPage?: number; readonly maxPages?: number; until?(found: T): boolean } = {},
): Promise<T[]> {
  const { perPage = PER_PAGE, maxPages = MAX_PAGES, until } = options;
  const found: T[] = [];
  let after: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const answer = await io.ask(
      { ...request, query: { ...request.query, limit: perPage, after } },
      z.looseObject({ data: z.array(entry), paging: Paging }),
    );
    found.push(...answer.data);
    after = answer.paging?.cursors?.after;
    const isLast = answer.paging?.next === undefined || after === undefined;
    if (isLast || answer.data.some((one) => until?.(one) ?? false)) break;
  }
  return found;
}
