import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/server";

/** Requests under way at once; the others wait their turn, and what is no request waits for nobody. */
const MAX_UNDER_WAY = 100;

/** While more than this waits to be begun, nothing more is to be read. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

interface Call {
  readonly id: RequestId;
  readonly message: JSONRPCMessage;
  readonly bytes: number;
}

interface CallQueueHandlers {
  /** False while the answers given so far are not read. */
  readonly mayBegin: () => boolean;
  readonly begin: (message: JSONRPCMessage) => void;
}

/** The requests of one client, in their order: a client that does not read its answers is not given more. */
export class CallQueue {
  readonly #handlers: CallQueueHandlers;
  readonly #waiting = new Set<Call>();
  readonly #underWay = new Set<RequestId>();
  #waitingBytes = 0;

  constructor(handlers: CallQueueHandlers) {
    this.#handlers = handlers;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0 && this.#underWay.size === 0;
  }

  get isFull(): boolean {
    return this.#waitingBytes > MAX_WAITING_BYTES;
  }

  add(call: Call): void {
    this.#waiting.add(call);
    this.#waitingBytes += call.bytes;
  }

  /** The request has its answer, or nobody wants one any more. */
  remove(id: RequestId): void {
    this.#underWay.delete(id);
  }

  /** One that was begun goes on, and one that waits is never begun. */
  cancel(id: RequestId): void {
    this.remove(id);
    for (const call of this.#waiting) if (call.id === id) this.#take(call);
  }

  /** Begins those whose turn it is. */
  advance(): void {
    for (const call of this.#waiting) {
      if (this.#underWay.size >= MAX_UNDER_WAY || !this.#handlers.mayBegin()) return;
      this.#take(call);
      this.#underWay.add(call.id);
      this.#handlers.begin(call.message);
    }
  }

  #take(call: Call): void {
    this.#waiting.delete(call);
    this.#waitingBytes -= call.bytes;
  }
}
