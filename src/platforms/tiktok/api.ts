import * as z from "zod";
import type { ConnectIo } from "../../ports/connect.ts";
import type { Json, SignedRequest } from "../../ports/platform-io.ts";
import { bearer } from "../shared/faults.ts";
import { classify } from "./faults.ts";

export const TIKTOK_API = "https://open.tiktokapis.com";

export function baseOf(io: Pick<ConnectIo, "setting">): string {
  return io.setting("BASE_URL") ?? TIKTOK_API;
}

interface Call extends Pick<SignedRequest, "query"> {
  readonly path: string;
  /** Left out: a GET. Null: a POST without a body. */
  readonly json?: Json;
  readonly kind: keyof typeof classify;
  /** While connecting, when there is no account yet that could sign. */
  readonly token?: string | undefined;
}

/** Both `PlatformIo` and `ConnectIo`. */
interface Asker extends Pick<ConnectIo, "setting"> {
  ask<T>(request: SignedRequest, schema: z.ZodType<T>): Promise<T>;
}

/** One call of the API, which puts what it answers under `data`. */
export async function callTikTok<T>(
  io: Asker,
  { path, json, kind, query, token }: Call,
  schema: z.ZodType<T>,
): Promise<T> {
  const answer = await io.ask(
    {
      method: json === undefined ? "GET" : "POST",
      url: `${baseOf(io)}${path}`,
      ...(query === undefined ? {} : { query }),
      headers: {
        ...(json === undefined ? {} : { "content-type": "application/json; charset=UTF-8" }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(json === undefined || json === null ? {} : { json }),
      ...(token === undefined ? { sign: bearer() } : {}),
      isIdempotent: kind !== "change",
      classify: classify[kind],
    },
    z.looseObject({ data: schema }),
  );
  return answer.data;
}
