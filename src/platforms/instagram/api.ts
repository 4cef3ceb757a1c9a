import type * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { ConnectIo } from "../../ports/connect.ts";
import type { PlatformIo, PlatformRequest, SignedRequest } from "../../ports/platform-io.ts";
import { graphUrl, proofOf } from "../shared/meta/graph.ts";
import { classify } from "./faults.ts";

export const INSTAGRAM_HOST = "https://graph.instagram.com";
export const FACEBOOK_HOST = "https://graph.facebook.com";

/** How the account was connected; an Instagram account of a Facebook Page is asked for at Facebook. */
export function isOfPage({ account }: Pick<PlatformIo, "account">): boolean {
  return account.settings["login"] === "facebook";
}

export function facebookUrl(io: Pick<ConnectIo, "setting">): string {
  return graphUrl(io, FACEBOOK_HOST, "facebook");
}

export function instagramUrl(io: Pick<ConnectIo, "setting">): string {
  return graphUrl(io, INSTAGRAM_HOST);
}

/** The professional account's id. */
export function accountId({ account }: Pick<PlatformIo, "account">): string {
  if (account.platformAccountId !== null) return account.platformAccountId;
  throw new AppError("conflict", "The channel does not say which Instagram account it is. Connect it again.");
}

type Call = Pick<PlatformRequest, "method" | "query" | "form" | "classify" | "isIdempotent">;

/** A request to the account's API; `path` follows the version. */
export function call(io: PlatformIo, path: string, parts: Call): SignedRequest {
  const base = isOfPage(io) ? facebookUrl(io) : instagramUrl(io);
  return { classify, ...parts, url: `${base}/${path}`, sign: signedBy(io, parts) };
}

/** Facebook's app may demand a proof beside the token of a Page. */
function signedBy(io: PlatformIo, { form }: Call): NonNullable<SignedRequest["sign"]> {
  return ({ accessToken = "", pageToken }) => {
    const headers = { authorization: `Bearer ${pageToken ?? accessToken}` };
    if (pageToken === undefined) return { headers };
    const proof = proofOf(io.setting("CLIENT_SECRET", "facebook"), pageToken);
    return form === undefined ? { headers, query: proof } : { headers, form: proof };
  };
}

/** Asks for one object. */
export function get<T>(
  io: PlatformIo,
  path: string,
  { schema, ...parts }: Omit<Call, "method"> & { readonly schema: z.ZodType<T> },
): Promise<T> {
  return io.ask(call(io, path, { method: "GET", ...parts }), schema);
}
