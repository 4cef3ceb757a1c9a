import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/**
 * A strict stand-in for a platform of each reconciliation class . It counts what becomes
 * visible, refuses what the class does not offer, and notes every request that breaks its rules.
 */
export interface ClassServers extends AsyncDisposable {
  readonly baseUrl: string;
  /** How often each text became visible. */
  visible(): ReadonlyMap<string, number>;
  /** Bytes of uploads that arrived, those that came twice counted twice. */
  uploadedBytes(): number;
  /** Asked for the text of every request that changes something; false: the server is gone before it acts. */
  onChange: ((text: string) => boolean) | null;
  /** What a 429 says in its `Retry-After`; default "0". */
  retryAfter: string;
  /** Requests that no careful client would send. */
  readonly violations: readonly string[];
  /** What happens to the next requests that would make a post visible, one entry each. */
  misbehave(...faults: Fault[]): void;
  reset(): void;
}

/** `…-before`: nothing happened; `…-after`: the post is visible, and the client is not told. */
export type Fault =
  | "drop-before"
  | "drop-after"
  | "500-before"
  | "500-after"
  | "429-before"
  | "garbage-after"
  | "truncate-after"
  | "hang-before"
  | "hang-after"
  | "trickle-after"
  | "ok";

interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** Called when the request makes a post visible. */
  readonly commit?: () => void;
}

interface Upload {
  readonly text: string;
  readonly size: number;
  received: number;
  postId: string | null;
}

/** `delayMs`: how long each answer takes. */
export async function startClassServers(options: { readonly delayMs?: number } = {}): Promise<ClassServers> {
  const state = new State(options.delayMs ?? 0);
  const server = createServer((request, response) => void state.serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    set onChange(hook: State["onChange"]) {
      state.onChange = hook;
    },
    set retryAfter(text: string) {
      state.retryAfter = text;
    },
    uploadedBytes: () => state.uploadedBytes,
    visible: () => state.visible,
    violations: state.violations,
    misbehave: (...faults) => void state.faults.push(...faults),
    reset: () => state.reset(),
    [Symbol.asyncDispose]: () => close(server),
  };
}

function close(server: Server): Promise<void> {
  // In this order: a connection that comes in between would be waited for.
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  return closed;
}

class State {
  readonly visible = new Map<string, number>();
  readonly violations: string[] = [];
  readonly faults: Fault[] = [];
  onChange: ((text: string) => boolean) | null = null;
  retryAfter = "0";
  uploadedBytes = 0;
  readonly #keys = new Map<string, string>();
  readonly #records = new Map<string, string>();
  readonly #uploads = new Map<string, Upload>();
  readonly #containers = new Map<string, { text: string; polls: number; postId: string | null }>();
  readonly #list: { id: string; text: string; at: number }[] = [];
  readonly #delayMs: number;
  #next = 1;

  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  reset(): void {
    for (const map of [this.visible, this.#keys, this.#records, this.#uploads, this.#containers]) map.clear();
    this.#list.length = 0;
    this.violations.length = 0;
    this.faults.length = 0;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return; // The client died while it sent: nothing of it counts.
    }
    if (this.#delayMs > 0) await delay(this.#delayMs / 2);
    if (request.method !== "GET" && this.onChange?.(this.#textOf(request, Buffer.concat(chunks))) === false) {
      response.destroy();
      return;
    }
    const answer = this.#route(request, Buffer.concat(chunks));
    if (this.#delayMs === 0) return this.#send(response, answer);
    // The deed is done now, the answer comes later: a kill in between leaves the client in doubt.
    answer.commit?.();
    await delay(this.#delayMs / 2);
    this.#send(response, { status: answer.status, body: answer.body });
  }

  #send(response: ServerResponse, answer: Answer): void {
    const fault = answer.commit === undefined ? "ok" : (this.faults.shift() ?? "ok");
    if (fault.endsWith("-after") || fault === "ok") answer.commit?.();
    switch (fault) {
      case "drop-before":
      case "drop-after":
        response.destroy();
        return;
      case "hang-before":
      case "hang-after":
        return; // The connection stays open, and nothing comes.
      case "trickle-after":
        return void trickle(response);
      case "500-before":
      case "500-after":
        response.writeHead(500, { "content-type": "application/json" }).end('{"error":"oops"}');
        return;
      case "429-before":
        response
          .writeHead(429, { "content-type": "application/json", "retry-after": this.retryAfter })
          .end('{"error":"slow down"}');
        return;
      case "garbage-after":
        response.writeHead(200, { "content-type": "application/json" }).end("<html>not json</html>");
        return;
      case "truncate-after":
        response.writeHead(200, { "content-type": "application/json", "content-length": "500" });
        response.write('{"id":"');
        response.destroy();
        return;
      case "ok":
        response
          .writeHead(answer.status, { "content-type": "application/json" })
          .end(JSON.stringify(answer.body));
    }
  }

  /** Whose text a request is about. */
  #textOf(request: IncomingMessage, body: Buffer): string {
    const id = (request.url ?? "").split("/")[3] ?? "";
    if (request.method === "PUT" && request.url?.startsWith("/c/") === true)
      return this.#uploads.get(id)?.text ?? "";
    const { text, container } = JSON.parse(body.toString()) as { text?: string; container?: string };
    return text ?? this.#containers.get(container ?? "")?.text ?? "";
  }

  #show(text: string): string {
    this.visible.set(text, (this.visible.get(text) ?? 0) + 1);
    return `id${this.#next++}`;
  }

  #refuse(why: string): Answer {
    this.violations.push(why);
    return { status: 400, body: { error: why } };
  }

  #route(request: IncomingMessage, body: Buffer): Answer {
    const url = new URL(request.url ?? "/", "http://platform.example");
    const [, kind, , id] = url.pathname.split("/");
    const what = `${request.method} ${url.pathname.split("/").slice(0, 3).join("/")}`;
    switch (what) {
      case "POST /a/posts":
        return this.#withKey(request, textOf(body));
      case "PUT /b/records":
        return this.#putRecord(id ?? "", textOf(body));
      case "GET /b/records":
        return this.#records.has(id ?? "") ? { status: 200, body: { id } } : { status: 404, body: {} };
      case "POST /c/uploads":
        return this.#startUpload(body);
      case "GET /c/uploads":
        return this.#uploadStatus(id ?? "");
      case "PUT /c/uploads":
        return this.#receive(id ?? "", request, body);
      case "POST /d/containers":
        return this.#startContainer(textOf(body));
      case "GET /d/containers":
        return this.#pollContainer(id ?? "");
      case "POST /d/publish":
        return this.#publishContainer(body);
      case "POST /e/posts":
        return this.#append(textOf(body));
      case "GET /e/posts":
        return {
          status: 200,
          body: this.#list.filter((post) => post.at >= Number(url.searchParams.get("since"))),
        };
      case "POST /f/messages":
        return { status: 200, body: { ok: true }, commit: () => this.#show(textOf(body)) };
      default:
        return this.#refuse(`unknown request ${what} (${String(kind)})`);
    }
  }

  #withKey(request: IncomingMessage, text: string): Answer {
    const key = request.headers["idempotency-key"];
    if (typeof key !== "string" || key === "") return this.#refuse("a post without its idempotency key");
    const known = this.#keys.get(key);
    if (known !== undefined) return { status: 200, body: { id: known } };
    const id = `a-${key.slice(0, 8)}`;
    const commit = (): void => {
      this.#show(text);
      this.#keys.set(key, id);
    };
    return { status: 200, body: { id }, commit };
  }

  #putRecord(key: string, text: string): Answer {
    if (!/^[a-z0-9]{13,}$/.test(key)) return this.#refuse(`a record key of another form: ${key}`);
    // As a PDS does: a second creation under one key is an error, not a second post.
    if (this.#records.has(key)) return { status: 500, body: { error: "there is already a value" } };
    const commit = (): void => {
      this.#show(text);
      this.#records.set(key, text);
    };
    return { status: 200, body: { id: key }, commit };
  }

  #startUpload(body: Buffer): Answer {
    const { text, size } = JSON.parse(body.toString()) as { text: string; size: number };
    const session = `u${this.#next++}`;
    this.#uploads.set(session, { text, size, received: 0, postId: null });
    return { status: 200, body: { session } };
  }

  #uploadStatus(session: string): Answer {
    const upload = this.#uploads.get(session);
    if (upload === undefined) return { status: 404, body: {} };
    return { status: 200, body: { received: upload.received, postId: upload.postId } };
  }

  #receive(session: string, request: IncomingMessage, body: Buffer): Answer {
    const upload = this.#uploads.get(session);
    if (upload === undefined) return { status: 404, body: {} };
    const start = Number(request.headers["x-start"]);
    if (upload.postId !== null) return this.#refuse("bytes for an upload that is complete");
    if (start !== upload.received)
      return this.#refuse(`bytes from ${start} where ${upload.received} were received`);
    const isLast = start + body.length === upload.size;
    const store = (): void => {
      this.uploadedBytes += body.length;
      upload.received += body.length;
      if (isLast) upload.postId = this.#show(upload.text);
    };
    if (isLast)
      return { status: 200, body: { received: upload.size, postId: `id${this.#next}` }, commit: store };
    store();
    return { status: 200, body: { received: upload.received, postId: null } };
  }

  #startContainer(text: string): Answer {
    const container = `c${this.#next++}`;
    this.#containers.set(container, { text, polls: 0, postId: null });
    return { status: 200, body: { container } };
  }

  #pollContainer(id: string): Answer {
    const container = this.#containers.get(id);
    if (container === undefined) return { status: 404, body: {} };
    container.polls += 1;
    const status = container.postId !== null ? "PUBLISHED" : container.polls > 1 ? "FINISHED" : "IN_PROGRESS";
    return { status: 200, body: { status, postId: container.postId } };
  }

  #publishContainer(body: Buffer): Answer {
    const { container: id } = JSON.parse(body.toString()) as { container: string };
    const container = this.#containers.get(id);
    if (container === undefined) return this.#refuse("publishing a container that does not exist");
    if (container.postId !== null) return this.#refuse("publishing a container twice");
    const postId = `d${this.#next++}`;
    const commit = (): void => {
      this.#show(container.text);
      container.postId = postId;
    };
    return { status: 200, body: { postId }, commit };
  }

  #append(text: string): Answer {
    const id = `e${this.#next++}`;
    const commit = (): void => {
      this.#show(text);
      this.#list.push({ id, text, at: Date.now() });
    };
    return { status: 200, body: { id }, commit };
  }
}

/** A byte now and then, for as long as somebody listens. */
async function trickle(response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "application/json" });
  while (!response.destroyed) {
    response.write(" ");
    await delay(20);
  }
}

function textOf(body: Buffer): string {
  return (JSON.parse(body.toString()) as { text: string }).text;
}
