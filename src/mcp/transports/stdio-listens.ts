import type { JSONRPCMessage, RequestId, Server, Transport } from "@modelcontextprotocol/server";
import type { Caller } from "../../domain/permissions.ts";
import type { McpDeps } from "../deps.ts";
import { listenedUris, narrowListen, readListenRequest } from "./listen-request.ts";
import { RESOURCES } from "../resources/resources.ts";
import { Subscriptions } from "../resources/subscriptions.ts";

/**
 * The subscriptions of a client of revision 2026-07-28 on standard streams. The SDK answers
 * `subscriptions/listen` by itself and passes notifications on to those who listen; what they listen to is
 * learned here.
 */
export class StdioListens {
  /** Sends the notifications. */
  server: Server | null = null;
  readonly #ctx: McpDeps["ctx"];
  readonly #subscriptions: Subscriptions;
  readonly #uris = new Map<RequestId, readonly string[]>();
  #isOpen = true;

  constructor({ toolbox, ctx, resources: kinds = RESOURCES }: McpDeps, caller: Caller) {
    this.#ctx = ctx;
    this.#subscriptions = new Subscriptions({
      kinds,
      scope: { toolbox, ctx, caller, signal: new AbortController().signal },
      isOpen: () => this.#isOpen,
      notify: (uri) => {
        this.server?.sendResourceUpdated({ uri }).catch(() => {
          // The client has gone.
        });
      },
    });
  }

  /** Reads along on a transport whose messages the SDK handles already. */
  follow(transport: Transport): void {
    const deliver = transport.onmessage;
    transport.onmessage = (message) => this.#read(message, (seen) => deliver?.(seen));
  }

  end(): void {
    this.#isOpen = false;
    this.#subscriptions.end();
  }

  #read(message: JSONRPCMessage, deliver: (message: JSONRPCMessage) => void): void {
    const request =
      "method" in message && message.method === "subscriptions/listen" ? readListenRequest(message) : null;
    if (request !== null) {
      const uris = listenedUris(request).filter((uri) => this.#subscriptions.accepts(uri));
      this.#uris.set(request.id, uris);
      // What is known now first: a change after the acknowledgement must not be missed.
      void this.#watch(uris).then(
        () => this.#uris.has(request.id) && deliver(narrowListen({ ...message, ...request }, uris)),
      );
      return;
    }
    if ("method" in message && message.method === "notifications/cancelled")
      this.#forget(message.params?.["requestId"]);
    deliver(message);
  }

  async #watch(uris: readonly string[]): Promise<void> {
    try {
      await this.#subscriptions.add(uris);
    } catch (error) {
      this.#ctx.log.warn({ err: error }, "A client cannot be told of changes");
    }
  }

  #forget(id: unknown): void {
    if (typeof id !== "string" && typeof id !== "number") return;
    const uris = this.#uris.get(id) ?? [];
    this.#uris.delete(id);
    const still = new Set([...this.#uris.values()].flat());
    for (const uri of uris) if (!still.has(uri)) this.#subscriptions.remove(uri);
  }
}
