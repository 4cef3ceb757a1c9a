import { Readable } from "node:stream";
import {
  type Outbound,
  OutboundFailure,
  type OutboundRequest,
  type OutboundResponse,
} from "../../src/ports/outbound.ts";
import { OUTSIDE, type Realm, type World } from "./world.ts";

/** A request as it arrives. */
export interface Arrived {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Who sent it, for the judge alone. */
  readonly from: Realm;
  /** The furthest that the sender's clock had shown when it was sent. */
  readonly sentAt: number;
  /** The true time then. */
  readonly leftAt: number;
  /** What is to happen to it on its way. */
  readonly fault: string | null;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Does what the request asks, at once. */
export type Server = (request: Arrived) => Answer;

/** What the way does to a request, and how often: the sum is below 1. */
export const ROAD_FAULTS = {
  /** Nothing listens: not one byte leaves. */
  refused: 0.02,
  /** It leaves and never arrives. */
  lostRequest: 0.02,
  /** It is done, and the answer never comes. */
  lostAnswer: 0.03,
  /** It is done, and the answer breaks off. */
  cutAnswer: 0.02,
  /** A gateway answers before or after the server acts. */
  badGatewayBefore: 0.02,
  badGatewayAfter: 0.02,
  /** Something in between answers with a page. */
  html: 0.01,
  /** Too many requests. */
  slowDown: 0.03,
  /** It arrives late, or its answer does. */
  slow: 0.06,
} as const;
type RoadFault = keyof typeof ROAD_FAULTS;

/** What a dead host had sent has arrived by then. */
const LONGEST_MS = 25_000;

/** The network between the hosts and all that is outside. Servers by the names of their hosts. */
export class Network {
  readonly servers = new Map<string, Server>();
  /** No faults once this is set. */
  isCalm = false;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** The way out of one host. */
  door(realm: Realm): Outbound {
    return {
      request: (request) => this.#request(realm, request),
      assertAllowed: (_field, url) => new URL(url),
    };
  }

  #fault(): RoadFault | null {
    if (this.isCalm) return null;
    let left = this.#world.random();
    for (const [fault, share] of Object.entries(ROAD_FAULTS)) {
      left -= share;
      if (left < 0) return this.#world.allows(fault) ? (fault as RoadFault) : null;
    }
    return null;
  }

  #request(realm: Realm, request: OutboundRequest): Promise<OutboundResponse> {
    const world = this.#world;
    const fault = this.#fault();
    const url = new URL(request.url);
    const what = `${request.method} ${url.host}${url.pathname}`;
    return new Promise((resolve, reject) => {
      const arrived = {
        method: request.method,
        url,
        headers: lowerCase(request.headers ?? {}),
        body: typeof request.body === "string" ? request.body : (request.body?.toString() ?? ""),
        from: realm,
        sentAt: Math.floor(Math.max(world.now + realm.skewMs, realm.shown)),
        leftAt: world.now,
        fault,
      };
      let isOver = false;
      let hasArrived = false;
      const end = (finish: () => void): void => {
        if (isOver) return;
        isOver = true;
        request.signal?.removeEventListener("abort", onAbort);
        limit.isCancelled = true;
        finish();
      };
      const fail = (wasSent: boolean, why: string): void =>
        end(() => reject(new OutboundFailure(`${url.host}: ${why}.`, wasSent)));
      const onAbort = (): void => {
        if (!hasArrived && underway.get(realm)?.delete(die) === true) die();
        end(() => reject(request.signal?.reason as Error));
      };
      // The kernel delivers what it has taken, or drops it, at once.
      const die = (): void => {
        hasArrived = true;
        if (world.chance(0.5)) this.#serve(arrived);
      };
      request.signal?.addEventListener("abort", onAbort, { once: true });
      const limit = world.after(request.timeoutMs ?? 30_000, () => fail(true, "no answer came in time"));
      if (request.signal?.aborted === true) return onAbort();
      if (fault === "refused") {
        world.note(`${what} → refused`);
        return void world.after(world.between(1, 50), () => fail(false, "the connection was refused"));
      }
      try {
        request.beforeWriting?.();
      } catch (error) {
        return end(() => reject(error as Error));
      }
      const isSlow = fault === "slow";
      const onWay = isSlow && world.chance(0.5) ? world.between(1_000, LONGEST_MS) : world.between(1, 40);
      const arrive = (): void => {
        if (hasArrived) return;
        hasArrived = true;
        underway.get(realm)?.delete(die);
        if (fault === "lostRequest") return world.note(`${what} → lost`);
        const early = earlyAnswer(fault, () => world.between(1, 90));
        const answer = early ?? this.#serve(arrived);
        world.note(`${what} → ${answer.status}${fault === null ? "" : ` (${fault})`}`);
        if (fault === "lostAnswer") return;
        const back = isSlow && onWay < 1_000 ? world.between(1_000, 29_000) : world.between(1, 40);
        world.after(
          back,
          () => end(() => resolve(respond(request.url, answer, { fault, now: world.now }))),
          realm,
        );
      };
      world.after(onWay, arrive, OUTSIDE);
      underway.set(realm, (underway.get(realm) ?? new Set()).add(die));
    });
  }

  #serve(arrived: Arrived): Answer {
    const server = this.servers.get(arrived.url.hostname);
    return server === undefined ? { status: 404, body: { error: "No such server." } } : server(arrived);
  }
}

/** What each host has sent that has not arrived. */
const underway = new WeakMap<Realm, Set<() => void>>();

/** A process has ended, and its connections with it. */
export function endConnections(realm: Realm): void {
  const ends = underway.get(realm) ?? [];
  underway.delete(realm);
  for (const end of ends) end();
}

function earlyAnswer(fault: RoadFault | null, seconds: () => number): Answer | null {
  switch (fault) {
    case "badGatewayBefore":
      return { status: 502, body: { error: "Bad gateway." } };
    case "slowDown":
      return { status: 429, headers: { "retry-after": String(seconds()) }, body: { error: "Slow down." } };
    default:
      return null;
  }
}

function respond(
  url: string,
  answer: Answer,
  { fault, now }: { readonly fault: RoadFault | null; readonly now: number },
): OutboundResponse {
  const text = JSON.stringify(answer.body);
  const isPage = fault === "html";
  const status = fault === "badGatewayAfter" ? 502 : isPage ? 200 : answer.status;
  const body = isPage ? "<html><body>Sign in to the Wi-Fi</body></html>" : text;
  const cut = fault === "cutAnswer";
  return {
    status,
    headers: {
      date: new Date(now).toUTCString(),
      "content-type": isPage ? "text/html" : "application/json",
      ...answer.headers,
    },
    url,
    body: Readable.from(cut ? broken(body) : [Buffer.from(body)]),
  };
}

async function* broken(body: string): AsyncGenerator<Buffer> {
  yield Buffer.from(body.slice(0, Math.floor(body.length / 2)));
  throw Object.assign(new Error("The connection broke off."), { code: "ECONNRESET" });
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
