import { AsyncLocalStorage } from "node:async_hooks";
import type { Response } from "express";
import { ProtocolErrorCode, type ServerEvent, type ServerEventBus } from "@modelcontextprotocol/server";
import { sentenceOf } from "../../domain/errors.ts";
import type { Caller } from "../../domain/permissions.ts";
import { isSameKey } from "../calls/caller-of.ts";
import type { McpDeps } from "../deps.ts";
import { listenedUris, narrowListen, readListenRequest } from "./listen-request.ts";
import { RESOURCES } from "../resources/resources.ts";
import { Subscriptions } from "../resources/subscriptions.ts";

const MAX_STREAMS_PER_KEY = 100;

type Listener = (event: ServerEvent) => void;

interface Stream {
  readonly caller: Caller;
  readonly subscriptions: Subscriptions;
  listener: Listener | null;
  isOpen: boolean;
}

interface Exchange {
  readonly caller: Caller;
  readonly body: unknown;
  readonly response: Response;
}

/**
 * The streams of `subscriptions/listen` over HTTP. The SDK has one bus for all of them; each stream hears
 * here of what its own caller may see, and nothing else.
 */
export class HttpListens implements ServerEventBus {
  readonly #deps: McpDeps;
  readonly #streams = new Set<Stream>();
  /** The SDK registers a listener deep inside the request that it is for. */
  readonly #current = new AsyncLocalStorage<Stream>();

  constructor(deps: McpDeps) {
    this.#deps = deps;
  }

  /** Nothing is of interest to all. */
  publish(): void {}

  subscribe(listener: Listener): () => void {
    const stream = this.#current.getStore();
    if (stream === undefined) return () => {};
    stream.listener = listener;
    return () => this.#close(stream);
  }

  /** Serves a request; one that listens hears of changes until its response is closed. */
  async during({ caller, body, response }: Exchange, serve: (body: unknown) => Promise<void>): Promise<void> {
    const request = readListenRequest(body);
    if (request === null) return serve(body);
    const stream = this.#open(caller);
    const refuse = (message: string): void => {
      this.#close(stream);
      response.json({
        jsonrpc: "2.0",
        id: request.id,
        error: { code: ProtocolErrorCode.InvalidRequest, message },
      });
    };
    response.once("close", () => this.#close(stream));
    if ([...this.#streams].filter((one) => isSameKey(one.caller, caller)).length > MAX_STREAMS_PER_KEY) {
      return refuse(`This key has ${MAX_STREAMS_PER_KEY} streams open. End one first.`);
    }
    const uris = listenedUris(request).filter((uri) => stream.subscriptions.accepts(uri));
    try {
      await stream.subscriptions.add(uris);
    } catch (error) {
      return refuse(sentenceOf(error));
    }
    await this.#current.run(stream, () => serve(narrowListen(request, uris)));
  }

  #open(caller: Caller): Stream {
    const { toolbox, ctx, resources: kinds = RESOURCES } = this.#deps;
    const stream: Stream = {
      caller,
      listener: null,
      isOpen: true,
      subscriptions: new Subscriptions({
        kinds,
        scope: { toolbox, ctx, caller, signal: new AbortController().signal },
        isOpen: () => stream.isOpen,
        notify: (uri) => stream.listener?.({ kind: "resource_updated", uri }),
      }),
    };
    this.#streams.add(stream);
    return stream;
  }

  #close(stream: Stream): void {
    stream.isOpen = false;
    stream.subscriptions.end();
    this.#streams.delete(stream);
  }
}
