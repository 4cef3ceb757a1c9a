import type * as z from "zod";
import type { ConnectIo } from "../../ports/connect.ts";
import type { PlatformIo, PlatformRequest, SignedRequest } from "../../ports/platform-io.ts";
import { graphUrl, proofOf } from "../shared/meta/graph.ts";
import { facebookFaults } from "./faults.ts";

export const GRAPH_HOST = "https://graph.facebook.com";

type Settings = Pick<ConnectIo, "setting">;

/** Below it stand all methods, with the version. */
export function graphBase(io: Settings): string {
  return graphUrl(io, GRAPH_HOST);
}

/**
 * The same where films are published, which had a host of its own until Meta gave it up:
 * https://developers.facebook.com/docs/video-api/overview
 */
export function videoBase(io: Settings): string {
  const host = io.setting("VIDEO_URL");
  const version = new URL(graphBase(io)).pathname.split("/").at(-1) ?? "";
  return host === null ? graphBase(io) : `${host}/${version}`;
}

/** Signs as the Page, or as the person who connected it (`accessToken`). */
export function signedBy(io: Settings, name = "pageToken"): NonNullable<SignedRequest["sign"]> {
  return (secrets) => {
    const token = secrets[name] ?? "";
    return {
      headers: { authorization: `Bearer ${token}` },
      query: proofOf(io.setting("CLIENT_SECRET"), token),
    };
  };
}

export interface Call extends Omit<PlatformRequest, "url"> {
  /** Below the version: "me/accounts", an id, "123/feed". */
  readonly path: string;
  /** Instead of the Graph API's host. */
  readonly base?: string;
}

/** One request as the Page. */
export function askPage<T>(io: PlatformIo, { path, base, ...call }: Call, schema: z.ZodType<T>): Promise<T> {
  return io.ask(pageRequest(io, { path, ...(base === undefined ? {} : { base }), ...call }), schema);
}

export function pageRequest(io: PlatformIo, { path, base = graphBase(io), ...call }: Call): SignedRequest {
  return { classify: facebookFaults, ...call, url: `${base}/${path}`, sign: signedBy(io) };
}

export function pageOf(io: Pick<PlatformIo, "account">): string {
  return io.account.platformAccountId ?? "";
}
