import * as z from "zod";
import type {
  PlatformIo,
  PlatformRequest,
  PlatformResponse,
  SignedRequest,
} from "../../ports/platform-io.ts";
import { classify } from "./faults.ts";
import { signer } from "./sign.ts";

export const API = "https://api.x.com";

/** X's ids are longer than numbers are exact. */
export const Id = z.string().regex(/^\d{1,19}$/);

export interface XCall extends Pick<
  PlatformRequest,
  "method" | "query" | "json" | "multipart" | "classify" | "isIdempotent" | "timeoutMs" | "idleMs"
> {
  readonly path: string;
}

/** The request of a call, not signed yet. */
export function requestOf(io: Pick<PlatformIo, "setting">, { path, ...call }: XCall): PlatformRequest {
  return { ...call, url: `${io.setting("BASE_URL") ?? API}${path}`, classify: call.classify ?? classify };
}

type Io = Pick<PlatformIo, "setting" | "now">;

function signed(io: Io, call: XCall): SignedRequest {
  const request = requestOf(io, call);
  return { ...request, sign: (secrets) => signer(request, io.now())(secrets) };
}

/** One call on the channel's behalf. */
export function send(io: Io & Pick<PlatformIo, "request">, call: XCall): Promise<PlatformResponse> {
  return io.request(signed(io, call));
}

/** The same, its answer read. */
export function ask<T>(io: Io & Pick<PlatformIo, "ask">, call: XCall, schema: z.ZodType<T>): Promise<T> {
  return io.ask(signed(io, call), schema);
}

/** The person whose channel it is. */
const User = z.looseObject({
  id: Id,
  username: z.string().min(1),
  name: z.string().catch(""),
  profile_image_url: z
    .url({ protocol: /^https$/ })
    .nullable()
    .catch(null),
  subscription_type: z.string().nullable().catch(null),
  public_metrics: z
    .looseObject({ followers_count: z.int().min(0).optional(), following_count: z.int().min(0).optional() })
    .catch({}),
});
export type User = z.infer<typeof User>;

export const UserAnswer = z.looseObject({ data: User });

/** Asked for the account itself. */
export const ME: XCall = {
  method: "GET",
  path: "/2/users/me",
  query: { "user.fields": "name,profile_image_url,public_metrics,subscription_type,username" },
};
