import * as z from "zod";
import type { ConnectIo } from "../../ports/connect.ts";
import {
  PlatformFault,
  type PlatformAccount,
  type PlatformIo,
  type PlatformRequest,
} from "../../ports/platform-io.ts";
import { bearer } from "../shared/faults.ts";
import { classify } from "./faults.ts";

export interface Call extends Omit<PlatformRequest, "url"> {
  /** Below the server's address and /_matrix. */
  readonly path: string;
}

/** One call with an account's token, stored or not. */
export type Ask = <T>(call: Call, schema: z.ZodType<T>) => Promise<T>;

/** While the account is not connected yet; without a token, as nobody. */
export function askWith(io: Pick<ConnectIo, "ask">, base: string, token?: string): Ask {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return ({ path, ...rest }, schema) =>
    io.ask(
      { classify, ...rest, headers: { ...headers, ...rest.headers }, url: `${base}/_matrix${path}` },
      schema,
    );
}

export function askAs(io: PlatformIo): Ask {
  const { baseUrl } = placeOf(io.account);
  return ({ path, ...rest }, schema) =>
    io.ask({ classify, ...rest, url: `${baseUrl}/_matrix${path}`, sign: bearer() }, schema);
}

/** Null where what it is about is not there (HTTP 404, or another status that says so here). */
export async function orNull<T>(answer: Promise<T>, statuses: readonly number[] = [404]): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof PlatformFault && statuses.includes(error.httpStatus ?? 0)) return null;
    throw error;
  }
}

const Settings = z.looseObject({ baseUrl: z.string(), userId: z.string(), roomId: z.string() });
export type MatrixPlace = z.infer<typeof Settings>;

/** What connecting stored of the room. */
export function placeOf({ settings }: Pick<PlatformAccount, "settings">): MatrixPlace {
  const { data } = Settings.safeParse(settings);
  if (data !== undefined) return data;
  throw new PlatformFault("auth", "The channel's room is not known. Reconnect the channel.");
}

export function roomPath(roomId: string, version = "v3"): string {
  return `/client/${version}/rooms/${encodeURIComponent(roomId)}`;
}

/** Where a browser or an app finds a room, or an event in it. */
export function linkTo(id: string, at?: { readonly eventId: string; readonly userId: string }): string {
  const room = `https://matrix.to/#/${encodeURIComponent(id)}`;
  if (at === undefined) return room;
  const via = at.userId.slice(at.userId.indexOf(":") + 1);
  return `${room}/${encodeURIComponent(at.eventId)}?via=${encodeURIComponent(via)}`;
}
