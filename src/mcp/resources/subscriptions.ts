import { AppError } from "../../domain/errors.ts";
import { SECOND } from "../../domain/time.ts";
import { matchAddress, type ResourceKind } from "../resource-kind.ts";
import type { Scope } from "../scope.ts";

/** Changes are made by any process on the database, so they are looked for. */
const POLL_MS = SECOND;

const MAX_WATCHED = 1_000;

type Notify = (uri: string) => void;

interface Watching {
  readonly kinds: readonly ResourceKind[];
  readonly scope: Scope;
  readonly notify: Notify;
  /** False when nobody listens any more: all subscriptions end then. */
  readonly isOpen: () => boolean;
}

/** The resources that one connection is told of when they change. */
export class Subscriptions {
  readonly #watching: Watching;
  readonly #end = new AbortController();
  /** What is known of each address. */
  readonly #versions = new Map<string, string | undefined>();
  #isPolling = false;

  constructor(watching: Watching) {
    this.#watching = watching;
  }

  /** Whether this is the address of something that can be watched. */
  accepts(uri: string): boolean {
    return this.#watching.kinds.some(
      (kind) => kind.versions !== undefined && matchAddress(kind, uri) !== null,
    );
  }

  /** Changes from now on are told. Throws `too_large` for too many. */
  async add(uris: readonly string[]): Promise<void> {
    const added = uris.filter((uri) => !this.#versions.has(uri) && this.accepts(uri));
    if (this.#versions.size + added.length > MAX_WATCHED) {
      throw new AppError(
        "too_large",
        `A connection can subscribe to ${MAX_WATCHED} resources. Unsubscribe from some first.`,
      );
    }
    const versions = await this.#read(added);
    for (const uri of added) this.#versions.set(uri, versions.get(uri));
    if (!this.#isPolling && this.#versions.size > 0) void this.#pollAgainAndAgain();
  }

  remove(uri: string): void {
    this.#versions.delete(uri);
  }

  end(): void {
    this.#end.abort();
    this.#versions.clear();
  }

  async #pollAgainAndAgain(): Promise<void> {
    const { clock, log } = this.#watching.scope.ctx;
    this.#isPolling = true;
    while (this.#versions.size > 0 && this.#watching.isOpen()) {
      try {
        await clock.sleep(POLL_MS, this.#end.signal);
        if (this.#watching.isOpen()) await this.#poll();
      } catch (error) {
        if (this.#end.signal.aborted) break;
        log.warn({ err: error }, "Changes of posts could not be looked for");
      }
    }
    this.#isPolling = false;
    if (!this.#watching.isOpen()) this.#versions.clear();
  }

  async #poll(): Promise<void> {
    const versions = await this.#read([...this.#versions.keys()]);
    for (const [uri, known] of this.#versions) {
      const version = versions.get(uri);
      if (version === known) continue;
      this.#versions.set(uri, version);
      this.#watching.notify(uri);
    }
  }

  /** By address. */
  async #read(uris: readonly string[]): Promise<Map<string, string>> {
    const versions = new Map<string, string>();
    for (const kind of this.#watching.kinds) {
      const values = new Map(uris.flatMap((uri) => valueIn(kind, uri).map((value) => [value, uri] as const)));
      const found =
        values.size === 0 ? [] : ((await kind.versions?.([...values.keys()], this.#watching.scope)) ?? []);
      for (const [value, version] of found) {
        const uri = values.get(value);
        if (uri !== undefined) versions.set(uri, version);
      }
    }
    return versions;
  }
}

function valueIn(kind: ResourceKind, uri: string): string[] {
  const value = matchAddress(kind, uri);
  return value === null ? [] : [value];
}
