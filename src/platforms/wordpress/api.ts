import * as z from "zod";
import { PlatformFault, type PlatformIo, type PlatformRequest } from "../../ports/platform-io.ts";
import { basic } from "../shared/faults.ts";
import { serverOf } from "../shared/servers.ts";
import { classify } from "./faults.ts";
import { WebAddress } from "../../ports/platform-values.ts";

export const TITLE = "WordPress";

export interface Call extends Omit<PlatformRequest, "url" | "classify"> {
  /** Below the API's root: /wp/v2/posts. */
  readonly path: string;
}

/** Where the account's site has its API; without pretty permalinks it is `…/?rest_route=`. */
function rootOf(io: PlatformIo): string {
  const { apiRoot } = io.account.settings;
  return typeof apiRoot === "string" ? apiRoot : `${serverOf(io)}/wp-json`;
}

export function requestTo(root: string, { path, ...rest }: Call): PlatformRequest {
  return { ...rest, url: `${root}${path}`, classify };
}

/** One call with the account's application password. */
export function ask<T>(io: PlatformIo, call: Call, schema: z.ZodType<T>): Promise<T> {
  return io.ask({ ...requestTo(rootOf(io), call), sign: SIGN }, schema);
}

const SIGN = basic("username", "appPassword");

/** How many there are of what a listing would show; null where a proxy drops the header. */
export async function count(io: PlatformIo, path: string, query: Call["query"] = {}): Promise<number | null> {
  const call = { method: "GET", path, query: { ...query, per_page: 1, _fields: "id" } } as const;
  const { headers } = await io.request({ ...requestTo(rootOf(io), call), sign: SIGN });
  return z.coerce
    .number()
    .int()
    .nullable()
    .catch(null)
    .parse(headers["x-wp-total"] ?? null);
}

/** The answer; null where what it is about is not there (any more). */
export async function orGone<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    const isGone = error instanceof PlatformFault && error.kind === "rejected";
    if (isGone && (error.httpStatus === 404 || error.httpStatus === 410)) return null;
    throw error;
  }
}

/** Times are GMT without saying so; NaN for none. */
const Gmt = z
  .string()
  .nullable()
  .transform((text) => Date.parse(`${text}Z`));

export const WpPost = z.looseObject({
  id: z.int().positive(),
  slug: z.string(),
  status: z.string(),
  link: WebAddress,
  date_gmt: Gmt,
  /** When it was changed last, by the site's clock, in whole seconds. */
  modified_gmt: Gmt,
  title: z.looseObject({ raw: z.string() }).optional().catch(undefined),
});
export type WpPost = z.infer<typeof WpPost>;

/** What is read of a post: the whole of it may be longer than what is taken. */
export const FIELDS = { _fields: Object.keys(WpPost.shape).join(",") } as const;

export const WpFile = z.looseObject({ id: z.int().positive(), slug: z.string(), source_url: WebAddress });

/** As WordPress writes times. In milliseconds, rounded up, so that nothing comes too early. */
export function gmtOf(ms: number): string {
  return new Date(Math.ceil(ms / 1_000) * 1_000).toISOString().slice(0, 19);
}

/** Changes what it is told of a post; the same again changes nothing more. */
export function update(
  io: PlatformIo,
  id: number | string,
  json: NonNullable<Call["json"]>,
): Promise<WpPost> {
  const path = `/wp/v2/posts/${encodeURIComponent(id)}`;
  return ask(io, { method: "POST", path, query: FIELDS, json, isIdempotent: true }, WpPost);
}

/** Null where it is gone for good. */
export function findPost(io: PlatformIo, id: number | string): Promise<WpPost | null> {
  const path = `/wp/v2/posts/${encodeURIComponent(id)}`;
  return orGone(ask(io, { method: "GET", path, query: { ...FIELDS, context: "edit" } }, WpPost));
}
