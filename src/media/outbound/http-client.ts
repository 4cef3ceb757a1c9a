import { deadline, SECOND } from "../../domain/time.ts";
import { TIME_LIMITS } from "../../domain/time-limits.ts";
import { lookup as systemLookup } from "node:dns/promises";
import { Readable } from "node:stream";
import { Agent, type buildConnector, Client, type Dispatcher } from "undici";
import { AppError } from "../../domain/errors.ts";
import { parseUrl } from "../../domain/parse-url.ts";
import { toBuffer } from "../../domain/to-buffer.ts";
import {
  type Outbound,
  OutboundFailure,
  type OutboundRequest,
  type OutboundResponse,
} from "../../ports/outbound.ts";
import type { Sockets } from "../../ports/sockets.ts";
import type { AddressPolicy } from "./address-policy.ts";
import {
  createGuardedConnector,
  createOpenConnector,
  type Lookup,
  onceAtATime,
  type OutboundOptions,
  reasonUnreachable,
} from "./connector.ts";
import { converse } from "./sockets.ts";

const resolveBySystem: Lookup = (hostname) => systemLookup(hostname, { all: true });

const DEFAULT_TIMEOUT_MS = TIME_LIMITS.request;
const DEFAULT_IDLE_MS = 15 * SECOND;
const MAX_HEADER_BYTES = 32 * 1024;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** What goes along to another origin; everything else may be a credential. */
const HARMLESS_HEADERS = ["accept", "accept-encoding", "accept-language", "range", "user-agent"];

export type HttpClient = Pick<Outbound, "request"> & Sockets & AsyncDisposable;

interface Ways {
  readonly policy: AddressPolicy;
  readonly userAgent: string;
  /** Kept connections, and how to make a single one; `open` is for excepted hosts. */
  readonly pools: Readonly<Record<"open" | "guarded", Agent>>;
  readonly connectors: Readonly<Record<"open" | "guarded", buildConnector.connector>>;
  single(origin: string, isExcepted: boolean): Client;
}

/** Redirects are followed for GET and HEAD, others are handed back. */
export function openHttpClient(policy: AddressPolicy, options: OutboundOptions): HttpClient {
  const ways = openWays(policy, options);
  return {
    request: (request) => follow(ways, request),
    converse: (request, work) => converse(ways, request, work),
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(ways.pools).map((pool) => pool.destroy()));
    },
  };
}

function openWays(policy: AddressPolicy, options: OutboundOptions): Ways {
  const lookup = onceAtATime(options.lookup ?? resolveBySystem);
  const connectors = {
    open: createOpenConnector(lookup),
    guarded: createGuardedConnector(lookup),
  };
  const open = { connect: connectors.open, maxHeaderSize: MAX_HEADER_BYTES };
  const guarded = { connect: connectors.guarded, maxHeaderSize: MAX_HEADER_BYTES };
  return {
    policy,
    userAgent: options.userAgent ?? "Posthorn",
    connectors,
    pools: { open: new Agent(open), guarded: new Agent(guarded) },
    // Without pipelining the connection is closed after its one answer.
    single: (origin, isExcepted) => new Client(origin, { ...(isExcepted ? open : guarded), pipelining: 0 }),
  };
}

type AbortableRequest = OutboundRequest & { readonly signal: AbortSignal };

async function follow(ways: Ways, first: OutboundRequest): Promise<OutboundResponse> {
  const timeoutMs = first.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new Error("No answer began in time.")),
    first.headersMs ?? timeoutMs,
  );
  const signal = deadline(timeoutMs, late.signal, ...(first.signal ? [first.signal] : []));
  try {
    return await followRedirects(ways, first, signal);
  } finally {
    clearTimeout(timer);
  }
}

async function followRedirects(
  ways: Ways,
  first: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const maxRedirects = first.method === "GET" || first.method === "HEAD" ? (first.maxRedirects ?? 0) : 0;
  let request: AbortableRequest = { ...first, signal, headers: withDefaults(ways, first.headers) };
  for (let redirects = 0; ; redirects += 1) {
    const response = await send(ways, request, redirects > 0);
    const location = response.headers["location"];
    if (maxRedirects === 0 || !REDIRECTS.includes(response.status) || location === undefined) return response;
    response.body.destroy();
    if (redirects === maxRedirects) throw new OutboundFailure(`More than ${maxRedirects} redirects.`, true);
    request = redirected(request, location);
  }
}

/** The next hop is an address that the answering server gave. */
function redirected(request: AbortableRequest, location: string): AbortableRequest {
  const from = new URL(request.url);
  const to = parseUrl(location, from);
  if (to === null) throw new OutboundFailure("A redirect leads to no address.", true);
  const headers = from.origin === to.origin ? request.headers : onlyHarmless(request.headers);
  return {
    ...request,
    url: to.href,
    mayBePrivate: request.mayBePrivate === true && from.origin === to.origin,
    headers: headers ?? {},
  };
}

function withDefaults(ways: Ways, headers: OutboundRequest["headers"] = {}): Record<string, string> {
  const given = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  // Nothing is unpacked here, so that no answer can grow beyond what was sent.
  return { "user-agent": ways.userAgent, "accept-encoding": "identity", ...given };
}

function onlyHarmless(headers: OutboundRequest["headers"] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS_HEADERS.includes(name)));
}

/** One hop. `wasSent` is told by whether the request was ever put on a connection. */
async function send(ways: Ways, request: AbortableRequest, isRedirect: boolean): Promise<OutboundResponse> {
  const { url, isExcepted } = ways.policy.check(request.url, request.mayBePrivate ?? false);
  const single = request.newConnection === true ? ways.single(url.origin, isExcepted) : null;
  let wasSent = isRedirect;
  const dispatcher = noteStart(single ?? ways.pools[isExcepted ? "open" : "guarded"], () => {
    request.beforeWriting?.();
    wasSent ||= !request.signal.aborted;
  });
  try {
    const response = await dispatcher.request({
      ...toUndici(request),
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
    });
    // The reader of the body gets its error. That of a body that is not read must not end the process.
    response.body.on("error", () => {});
    if (single !== null) response.body.once("close", () => void single.destroy());
    const { statusCode: status, headers, body } = response;
    return { status, headers: flatten(headers), url: url.href, body };
  } catch (error) {
    void single?.destroy();
    if (error instanceof AppError) throw error;
    throw new OutboundFailure(describe(error), wasSent, { cause: error, reason: reasonUnreachable(error) });
  }
}

/** Calls back when the request is about to be written, which is after the connection (and TLS) came up. */
function noteStart(dispatcher: Agent | Client, onStart: () => void): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => {
    const noting: Dispatcher.DispatchHandler = {
      onRequestStart(...args) {
        onStart();
        handler.onRequestStart?.(...args);
      },
      onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
      onResponseStart: (...args) => handler.onResponseStart?.(...args),
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
      onResponseError: (...args) => handler.onResponseError?.(...args),
    };
    return dispatch(options, noting);
  });
}

function toUndici(request: OutboundRequest): Omit<Dispatcher.RequestOptions, "path"> {
  const timeoutMs = request.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const idleMs = request.idleMs ?? DEFAULT_IDLE_MS;
  const { body, beforeWriting } = request;
  return {
    method: request.method,
    headers: { ...request.headers },
    signal: request.signal ?? null,
    // A server may think about an upload for as long as the whole request may last.
    headersTimeout: timeoutMs,
    bodyTimeout: idleMs,
    ...(body === undefined
      ? {}
      : { body: body instanceof Readable ? watchStream(body, idleMs, beforeWriting) : body }),
  };
}

/**
 * The same stream, which fails when its reader takes nothing for `idleMs`: a server that stops reading an
 * upload would hold it until the whole request's time is over. A source that is slow itself counts too.
 * `beforeEach` is called before a piece of it goes on.
 */
function watchStream(source: Readable, idleMs: number, beforeEach: () => void = () => {}): Readable {
  let timer: NodeJS.Timeout | undefined;
  const watched = Readable.from(pass(), { objectMode: false });
  watched.once("close", () => clearTimeout(timer));
  return watched;

  function touch(): void {
    clearTimeout(timer);
    timer = setTimeout(() => watched.destroy(new Error(`Nothing moved for ${idleMs} ms.`)), idleMs).unref();
  }

  async function* pass(): AsyncGenerator<Buffer> {
    touch();
    for await (const chunk of source) {
      touch();
      beforeEach();
      yield toBuffer(chunk);
    }
    clearTimeout(timer);
  }
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value] as const],
  );
  return Object.fromEntries(pairs);
}

/** For the log: undici's own words name the host and the kind of failure, never headers or bodies. */
function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
