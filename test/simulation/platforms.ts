import type { Answer, Arrived, Server } from "./network.ts";
import { LISTED_AFTER_MS } from "./thread-platform.ts";
import type { World } from "./world.ts";

/** A text that everybody can see now, or could. */
export interface Publication {
  readonly platform: string;
  readonly text: string;
  /** True time, and the time on the clock of who sent it, when it was sent. */
  readonly at: number;
  readonly sentAt: number;
  /** True time when it was sent. */
  readonly leftAt: number;
  /** What the sender's clock showed then. */
  readonly clockAt: number;
  readonly from: string;
}

/**
 * A strict stand-in for a platform of each reconciliation class, as `test/faults/class-platforms.ts` speaks to it. It
 * keeps what became visible, and what no careful client would have sent.
 */
export class Platforms {
  readonly published: Publication[] = [];
  readonly violations: string[] = [];
  readonly #world: World;
  readonly #keys = new Map<string, string>();
  readonly #records = new Set<string>();
  readonly #uploads = new Map<
    string,
    { text: string; size: number; received: number; postId: string | null }
  >();
  readonly #containers = new Map<string, { text: string; readyAt: number; postId: string | null }>();
  readonly #list: { id: string; text: string; at: number; listedAt: number }[] = [];
  #next = 1;

  constructor(world: World) {
    this.#world = world;
  }

  /** For `Network.servers`, under `class-a.example` to `class-g.example`. */
  servers(): Map<string, Server> {
    const routes: Record<string, (request: Arrived, id: string) => Answer | null> = {
      a: (request) => this.withKey("a", request),
      b: (request, id) => this.#record(request, id),
      c: (request, id) => this.#upload(request, id),
      d: (request, id) => this.#container(request, id),
      e: (request) => this.#listed("e", request),
      f: (request) => (this.#show("f", textOf(request), request), { status: 200, body: { ok: true } }),
      g: (request) => this.#listed("g", request),
    };
    return new Map(
      Object.entries(routes).map(([name, route]) => [
        `class-${name}.example`,
        (request) =>
          route(request, request.url.pathname.split("/")[3] ?? "") ??
          this.#refuse(request, "an unknown request"),
      ]),
    );
  }

  #show(name: string, text: string, { sentAt, leftAt, clockAt, from }: Arrived): string {
    const { now: at } = this.#world;
    const sent = { sentAt, leftAt, clockAt, from: from.name };
    this.published.push({ platform: `class_${name}`, text, at, ...sent });
    this.#world.note(`PUBLIC on class_${name}: ${text}`);
    return `${name}${this.#next++}`;
  }

  #refuse(request: Arrived, why: string): Answer {
    this.violations.push(`${request.method} ${request.url.pathname}: ${why}`);
    return { status: 400, body: { error: why } };
  }

  withKey(name: string, request: Arrived): Answer {
    const key = request.headers["idempotency-key"];
    if (key === undefined) return this.#refuse(request, "a post without its key");
    const known = this.#keys.get(key) ?? this.#show(name, textOf(request), request);
    this.#keys.set(key, known);
    return { status: 200, body: { id: known } };
  }

  #record(request: Arrived, key: string): Answer {
    if (request.method === "GET")
      return this.#records.has(key) ? { status: 200, body: { id: key } } : { status: 404, body: {} };
    if (this.#records.has(key)) return { status: 500, body: { error: "There is already a value." } };
    this.#records.add(key);
    this.#show("b", textOf(request), request);
    return { status: 200, body: { id: key } };
  }

  #upload(request: Arrived, id: string): Answer {
    if (request.method === "POST") {
      const { text, size } = JSON.parse(request.body) as { text: string; size: number };
      const session = `u${this.#next++}`;
      this.#uploads.set(session, { text, size, received: 0, postId: null });
      return { status: 200, body: { session } };
    }
    const upload = this.#uploads.get(id);
    if (upload === undefined) return { status: 404, body: {} };
    if (request.method === "PUT") {
      if (upload.postId !== null) return this.#refuse(request, "bytes for a complete upload");
      if (Number(request.headers["x-start"]) !== upload.received)
        return { status: 409, body: { received: upload.received } };
      upload.received += request.body.length;
      if (upload.received === upload.size) upload.postId = this.#show("c", upload.text, request);
    }
    return { status: 200, body: { received: upload.received, postId: upload.postId } };
  }

  #container(request: Arrived, id: string): Answer {
    const { now } = this.#world;
    if (request.url.pathname.startsWith("/d/publish")) return this.#publish(request);
    if (request.method === "POST") {
      const container = `c${this.#next++}`;
      const readyAt = now + this.#world.between(0, 3_000);
      this.#containers.set(container, { text: textOf(request), readyAt, postId: null });
      return { status: 200, body: { container } };
    }
    const known = this.#containers.get(id);
    if (known === undefined) return { status: 404, body: {} };
    const status = known.postId !== null ? "PUBLISHED" : now >= known.readyAt ? "FINISHED" : "IN_PROGRESS";
    return { status: 200, body: { status, postId: known.postId } };
  }

  #publish(request: Arrived): Answer {
    const { container: id } = JSON.parse(request.body) as { container: string };
    const container = this.#containers.get(id);
    if (container === undefined) return this.#refuse(request, "a container that there is not");
    if (container.postId !== null) return this.#refuse(request, "a container a second time");
    container.postId = this.#show("d", container.text, request);
    return { status: 200, body: { postId: container.postId } };
  }

  /** What was taken stands in the listing a little later. */
  #listed(name: string, request: Arrived): Answer {
    const { now } = this.#world;
    if (request.method === "GET") {
      const since = Number(request.url.searchParams.get("since"));
      return { status: 200, body: this.#list.filter(({ at, listedAt }) => at >= since && listedAt <= now) };
    }
    const text = textOf(request);
    const id = this.#show(name, text, request);
    const most = name === "g" ? LISTED_AFTER_MS - 500 : 90;
    this.#list.push({ id, text, at: now, listedAt: now + this.#world.between(0, most) });
    return { status: 200, body: { id } };
  }
}

function textOf({ body }: Arrived): string {
  return (JSON.parse(body) as { text: string }).text;
}
