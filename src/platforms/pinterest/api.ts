import * as z from "zod";
import type { ConnectIo } from "../../ports/connect.ts";
import type { PlatformIo, PlatformRequest, PlatformResponse } from "../../ports/platform-io.ts";
import { bearer, faultsBy, type Code, type FaultRule } from "../shared/faults.ts";

const API = "https://api.pinterest.com";

/** Apps on trial may post in Pinterest's sandbox alone; Pinterest says so in words. */
const TRIAL = "trial";

const RULES: readonly FaultRule[] = [
  {
    code: TRIAL,
    kind: "setup",
    message:
      "The Pinterest app has trial access, which does not let it post. Ask for standard access at https://developers.pinterest.com/apps/, or set POSTHORN_PINTEREST_BASE_URL to https://api-sandbox.pinterest.com to try it out.",
  },
  {
    status: 403,
    kind: "rejected",
    message:
      "Pinterest does not allow this. The app lacks a permission, or the board is secret or another account's. Look at the board, or connect again and allow everything.",
  },
  {
    status: 404,
    kind: "rejected",
    message: "Pinterest does not find it. It was deleted, or is another account's.",
  },
  {
    status: 413,
    kind: "rejected",
    message: "Pinterest refused a file as too large. Use a smaller one.",
  },
];

const Refusal = z.looseObject({ code: z.int(), message: z.string().catch("") });

function codesOf({ status, json }: PlatformResponse): readonly Code[] {
  const refusal = status < 400 ? undefined : Refusal.safeParse(json).data;
  if (refusal === undefined) return [];
  return status === 403 && /trial/i.test(refusal.message) ? [TRIAL, refusal.code] : [refusal.code];
}

export interface Call extends Pick<PlatformRequest, "query" | "json" | "isIdempotent"> {
  /** Default: GET. */
  readonly method?: PlatformRequest["method"];
  /** Below /v5. */
  readonly path: string;
  /** What some errors mean to whoever calls, before the usual reading. */
  readonly rules?: readonly FaultRule[];
}

/** A call with the channel's token. */
export function call<T>(
  io: Pick<PlatformIo, "ask" | "setting">,
  one: Call,
  schema: z.ZodType<T>,
): Promise<T> {
  return io.ask({ ...requestOf(io, one), sign: bearer() }, schema);
}

/** While connecting: the token is at hand. */
export function callWith<T>(io: ConnectIo, accessToken: string, one: Call, schema: z.ZodType<T>): Promise<T> {
  return io.ask({ ...requestOf(io, one), ...bearer()({ accessToken }) }, schema);
}

function requestOf(io: Pick<ConnectIo, "setting">, { path, rules = [], ...one }: Call): PlatformRequest {
  return {
    method: "GET",
    ...one,
    url: `${io.setting("BASE_URL") ?? API}/v5${path}`,
    classify: faultsBy({ title: "Pinterest", codesOf, rules: [...rules, ...RULES] }),
  };
}

/** Of use where nothing of the answer is needed, an empty one too. */
export const AnyAnswer = z.unknown();

/** One page of a list; without a bookmark it is the last. */
export function pageOf<T>(item: z.ZodType<T>) {
  return z.looseObject({ items: z.array(item), bookmark: z.string().nullish() });
}
