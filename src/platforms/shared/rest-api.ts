import type * as z from "zod";
import type { ConnectIo, Secrets } from "../../ports/connect.ts";
import type {
  PlatformIo,
  PlatformRequest,
  PlatformResponse,
  RequestSignature,
  SignedRequest,
} from "../../ports/platform-io.ts";
import { bearer, type FaultRule, faultsBy, type FaultTable, type Match, orNull } from "./faults.ts";

/** One call of a platform's API. */
export interface ApiCall extends Omit<PlatformRequest, "url" | "method" | "classify"> {
  /** Default: GET. */
  readonly method?: PlatformRequest["method"];
  /** Follows the address of the API. */
  readonly path: string;
  /** Readings of errors that only this call has; they go before those of the API. */
  readonly rules?: readonly FaultRule[];
  /** What its errors mean, where that is not as everywhere in the API. */
  readonly faults?: FaultTable;
  /** The refusals by which `askOrGone` knows that what it is about is not there. Default: those of the API. */
  readonly gone?: readonly Match[];
}

type Surroundings = Pick<ConnectIo, "setting" | "publicUrl" | "now">;
type OfAccount = Surroundings & Pick<PlatformIo, "account">;

interface RestApi {
  /** The platform's address, which the setting BASE_URL replaces; or the server of the account. */
  readonly base: string | ((io: OfAccount) => string);
  /** Between it and the path of a call: "/v2". */
  readonly below?: string;
  readonly headers?: (io: Surroundings) => Readonly<Record<string, string>>;
  readonly query?: PlatformRequest["query"];
  /** Default: the secret `accessToken` as a bearer. While connecting, `io` has no account. */
  readonly sign?: (
    secrets: Secrets,
    io: Surroundings & Partial<OfAccount>,
    call: ApiCall & { readonly url: string },
  ) => RequestSignature;
  /** What its errors mean. */
  readonly faults: FaultTable | ((io: Surroundings, call: ApiCall) => FaultTable);
  /** Every change goes over a connection of its own, one that may be repeated too. */
  readonly freshConnections?: true;
  /** The refusals by which it says that something is not there (any more). Default: 404. */
  readonly gone?: readonly Match[];
}

/** Who is asked, and as whom, while no account is connected yet. Left out: the usual server, as a guest. */
interface Asking {
  readonly server?: string;
  readonly secrets?: Secrets;
}

/** The calls of an API of JSON: as the connected account, and while connecting. */
export function restApi(api: RestApi) {
  const {
    base,
    below = "",
    sign = bearer(),
    freshConnections = false,
    gone: isGone = [{ status: 404 }],
  } = api;
  const build = (io: Surroundings, server: string, call: ApiCall): PlatformRequest => {
    const { path, rules = [], gone = [], faults, ...rest } = call;
    const table = faults ?? (typeof api.faults === "function" ? api.faults(io, call) : api.faults);
    const query = { ...api.query, ...call.query };
    const isFresh = freshConnections && call.method !== undefined && call.method !== "GET";
    return {
      method: "GET",
      classify: faultsBy(table, { rules, gone }),
      ...(isFresh ? { newConnection: true } : {}),
      ...rest,
      url: `${server}${below}${path}`,
      headers: { ...api.headers?.(io), ...call.headers },
      ...(Object.keys(query).length === 0 ? {} : { query }),
    };
  };
  const request = (io: OfAccount, call: ApiCall): SignedRequest => {
    const server = typeof base === "string" ? (io.setting("BASE_URL") ?? base) : base(io);
    const asked = build(io, server, call);
    return { ...asked, sign: (secrets) => sign(secrets, io, { ...call, url: asked.url }) };
  };
  const requestWith = (io: ConnectIo, { server, secrets }: Asking, call: ApiCall): PlatformRequest => {
    const usual = io.setting("BASE_URL") ?? (typeof base === "string" ? base : "");
    const asked = build(io, server ?? usual, call);
    if (secrets === undefined) return asked;
    const signed = sign(secrets, io, { ...call, url: asked.url });
    return { ...asked, ...signed, headers: { ...asked.headers, ...signed.headers } };
  };
  type Io = OfAccount & Pick<PlatformIo, "ask" | "request">;
  const ask = <T>(io: Pick<Io, keyof OfAccount | "ask">, call: ApiCall, schema: z.ZodType<T>): Promise<T> =>
    io.ask(request(io, call), schema);
  const send = (io: Pick<Io, keyof OfAccount | "request">, call: ApiCall): Promise<PlatformResponse> =>
    io.request(request(io, call));
  const askOrGone = <T>(...[io, call, schema]: Parameters<typeof ask<T>>): Promise<T | null> =>
    orNull(ask(io, { gone: isGone, ...call }, schema));
  const sendOrGone = (...[io, call]: Parameters<typeof send>): Promise<PlatformResponse | null> =>
    orNull(send(io, { gone: isGone, ...call }));
  return {
    ask,
    /** Null where what it is about is not there (any more). */
    askOrGone,
    /** For what is answered without a body, or in headers. */
    send,
    sendOrGone,
    request,
    requestWith,
    askWith: <T>(io: ConnectIo, as: Asking, call: ApiCall, schema: z.ZodType<T>): Promise<T> =>
      io.ask(requestWith(io, as, call), schema),
  };
}
