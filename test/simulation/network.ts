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
  /** The furthest that the sender's clock had shown when it was sent, and what it showed then. */
  readonly sentAt: number;
  /** The true time then. */
  readonly leftAt: number;
  /** What is to happen to it on its way. */
  readonly fault?: string | null;
  readonly clockAt: number;
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
  /** Too many requests: this one and all of its account's, until the time that is told is over. */
  slowDown: 0.03,
  /** It is refused for certain, before the server acts. */
  rejected: 0.01,
  /** It arrives twice, where that is one request to its server. */
  twice: 0.01,
  /** Its sender dies before the answer is there. */
  dies: 0.02,
  /** It arrives late, or its answer does. */
  slow: 0.06,
} as const;
type RoadFault = keyof typeof ROAD_FAULTS;
export const ALL_FAULTS = Object.keys(ROAD_FAULTS) as RoadFault[];

/** A text on its way, and whether its platform refused it for certain. */
export interface Sent {
  readonly platform: string;
  readonly text: string;
  /** True time, and on the clock of who sent it. */
  readonly at: number;
  readonly clockAt: number;
  isRefused: boolean;
}

/** An account must wait. Its host knows once the answer has arrived. */
interface RateLimit {
  readonly until: number;
  knownFrom: number;
}

/** After a fault of an account. The sum of all shares times this is below 1. */
const MORE_IN_A_PATCH = 3;
const PATCH_MS = 60_000;

/** What a dead host had sent has arrived by then. */
const LONGEST_MS = 29_000;

/** The network between the hosts and all that is outside. Servers by the names of their hosts. */
export class Network {
  readonly servers = new Map<string, Server>();
  /** What no careful client sends, of worlds in which hosts and databases have no faults. */
  readonly violations: string[] = [];
  readonly sent: Sent[] = [];
  /** The faults that there are. */
  faults: readonly RoadFault[] = ALL_FAULTS;
  /** Whether this request ends the process that sends it. */
  kills: (request: Arrived) => boolean = () => false;
  /** Ends a process. */
  end: (realm: Realm) => void = () => {};
  /** Until when faults come more often, by the account: they seldom come alone. */
  readonly #patches = new Map<string, number>();
  readonly #limits = new Map<string, RateLimit>();
  /** Changes under way, by their account. */
  readonly #changes = new Map<string, number>();
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

  #fault(account: string): RoadFault | null {
    if (this.faults.length === 0) return null;
    const isPatch = (this.#patches.get(account) ?? 0) > this.#world.elapsed;
    let left = this.#world.random() * (isPatch ? 1 / MORE_IN_A_PATCH : 1);
    for (const [fault, share] of Object.entries(ROAD_FAULTS)) {
      left -= share;
      if (left >= 0) continue;
      const isHere = this.faults.includes(fault as RoadFault) && this.#world.allows(fault);
      if (isHere) this.#patches.set(account, this.#world.elapsed + PATCH_MS);
      return isHere ? (fault as RoadFault) : null;
    }
    return null;
  }

  #request(realm: Realm, request: OutboundRequest): Promise<OutboundResponse> {
    const world = this.#world;
    const url = new URL(request.url);
    const what = `${request.method} ${url.host}${url.pathname}`;
    const headers = lowerCase(request.headers ?? {});
    const fault = this.#fault(headers[ACCOUNT] ?? "");
    return new Promise((resolve, reject) => {
      const arrived = {
        method: request.method,
        url,
        headers,
        body: typeof request.body === "string" ? request.body : (request.body?.toString() ?? ""),
        from: realm,
        sentAt: Math.floor(Math.max(world.now + realm.skewMs, realm.shown)),
        leftAt: world.now,
        fault,
        clockAt: Math.floor(world.now + realm.skewMs),
      };
      const over = this.#begin(arrived);
      const sent = fault === "refused" ? null : this.#note(arrived);
      let isOver = false;
      let hasArrived = false;
      const end = (finish: () => void): void => {
        if (isOver) return;
        isOver = true;
        over();
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
      if (this.kills(arrived)) return this.end(realm);
      if (fault === "dies") world.after(world.between(0, 80), () => this.end(realm), OUTSIDE);
      const isSlow = fault === "slow";
      const isLate = (isSlow || fault === "dies") && world.chance(0.5);
      const onWay = isLate ? world.between(isSlow ? 1_000 : 10_000, LONGEST_MS) : world.between(1, 40);
      const arrive = (): void => {
        if (hasArrived) return;
        hasArrived = true;
        underway.get(realm)?.delete(die);
        if (fault === "lostRequest") return world.note(`${what} → lost`);
        const early = this.#earlyAnswer(fault, arrived);
        const answer = early ?? this.#serve(arrived);
        if (fault === "twice" && isRepeatable(arrived)) this.#serve(arrived);
        world.note(`${what} → ${answer.status}${fault === null ? "" : ` (${fault})`}`);
        if (fault === "lostAnswer") return;
        const back = isSlow && onWay < 1_000 ? world.between(1_000, 29_000) : world.between(1, 40);
        world.after(
          back,
          () => {
            if (!isOver && answer.status === 429) this.#learn(arrived);
            if (sent !== null) sent.isRefused = !isOver && fault === "rejected";
            end(() => resolve(respond(request.url, answer, { fault, now: world.now })));
          },
          realm,
        );
      };
      world.after(onWay, arrive, OUTSIDE);
      underway.set(realm, (underway.get(realm) ?? new Set()).add(die));
    });
  }

  /** Returns what ends the request. Of one account no two changes are under way. */
  #begin(arrived: Arrived): () => void {
    const account = accountOf(arrived);
    if (account === "") return () => {};
    const what = `${arrived.method} ${arrived.url.pathname} of ${account}`;
    const limit = this.#limits.get(account);
    if (limit !== undefined && this.#world.now > limit.knownFrom && this.#world.now < limit.until)
      this.violations.push(`${what} before the time was over that the account was told to wait`);
    if (arrived.method === "GET") return () => {};
    const others = this.#changes.get(account) ?? 0;
    if (others > 0) this.violations.push(`${what} beside another change of the account`);
    this.#changes.set(account, others + 1);
    return () => this.#changes.set(account, (this.#changes.get(account) ?? 1) - 1);
  }

  #note(arrived: Arrived): Sent | null {
    const text = /"text":"([^"]*)"/.exec(arrived.body)?.[1] ?? null;
    if (text === null || arrived.method === "GET" || accountOf(arrived) === "") return null;
    const [platform = ""] = arrived.url.hostname.replace("-", "_").split(".");
    const sent = { platform, text, at: arrived.leftAt, clockAt: arrived.clockAt, isRefused: false };
    this.sent.push(sent);
    return sent;
  }

  #learn(arrived: Arrived): void {
    const limit = this.#limits.get(accountOf(arrived));
    // A moment later what was begun meanwhile is on its way.
    if (limit !== undefined) limit.knownFrom = Math.min(limit.knownFrom, this.#world.now + 20);
  }

  #earlyAnswer(fault: RoadFault | null, arrived: Arrived): Answer | null {
    const { now } = this.#world;
    const account = accountOf(arrived);
    if (account === "") return fault === "slowDown" ? slowDown(this.#world.between(1, 90)) : null;
    if (fault === "slowDown" && (this.#limits.get(account)?.until ?? 0) <= now)
      this.#limits.set(account, { until: now + this.#world.between(1, 90) * 1_000, knownFrom: Infinity });
    const until = this.faults.length === 0 ? 0 : (this.#limits.get(account)?.until ?? 0);
    if (until > now) return slowDown(Math.ceil((until - now) / 1_000));
    if (fault === "badGatewayBefore") return { status: 502, body: { error: "Bad gateway." } };
    return fault === "rejected" ? { status: 400, body: { error: "Not like this." } } : null;
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

/** Whose request it is, for the judge. */
const ACCOUNT = "x-account";

function slowDown(seconds: number): Answer {
  return { status: 429, headers: { "retry-after": String(seconds) }, body: { error: "Slow down." } };
}

function accountOf({ headers }: Arrived): string {
  return headers[ACCOUNT] ?? "";
}

/** Two of them are one to its server. */
function isRepeatable({ method, headers }: Arrived): boolean {
  return method === "GET" || headers["idempotency-key"] !== undefined;
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
