import { OutboundFailure } from "../ports/outbound.ts";

/** More are not remembered. */
const MAX_HOSTS = 1_000;

/** Hosts that did not answer are not asked again for a while: who names them next would wait as long. */
export class SilentHosts {
  readonly #silent = new Map<string, { readonly failure: OutboundFailure; readonly until: number }>();
  readonly #now: () => number;
  readonly #forMs: number;

  /** `now`: a clock that only goes forward. */
  constructor(now: () => number, forMs: number) {
    this.#now = now;
    this.#forMs = forMs;
  }

  /** What `work` gives. Throws what the host's last failure was, without asking it. */
  async ask<T>(url: string, work: () => Promise<T>): Promise<T> {
    const { host } = new URL(url);
    const known = this.#silent.get(host);
    if (known !== undefined && this.#now() < known.until) throw known.failure;
    this.#silent.delete(host);
    try {
      return await work();
    } catch (error) {
      if (error instanceof OutboundFailure) this.#note(host, error);
      throw error;
    }
  }

  #note(host: string, failure: OutboundFailure): void {
    const [oldest] = this.#silent.keys();
    if (this.#silent.size >= MAX_HOSTS && oldest !== undefined) this.#silent.delete(oldest);
    this.#silent.set(host, { failure, until: this.#now() + this.#forMs });
  }
}
