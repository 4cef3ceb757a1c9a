import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Of one connection; whoever sends more requests before the first answer does not wait for answers. */
const MAX_PIPELINED = 100;

/** What one address may have of all connections: a reverse proxy has few others beside it. */
const SHARE_OF_ONE_ADDRESS = 3 / 4;

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** Under way, in the order of their requests. */
  readonly answers: ServerResponse[];
  hasAsked: boolean;
}

/**
 * The connections of a server, never more than `max`: a new one takes the place of one that asks nothing. The
 * requests of each are served one after another, so that answers which nobody takes do not pile up.
 */
export class Connections {
  readonly #max: number;
  /** The oldest first. */
  readonly #connections = new Map<Socket, Connection>();
  readonly #ofAddress = new Map<string, number>();
  #isClosing = false;

  constructor(max: number) {
    this.#max = max;
  }

  add(socket: Socket): void {
    const address = socket.remoteAddress ?? "";
    const maxOwn = Math.ceil(this.#max * SHARE_OF_ONE_ADDRESS);
    const hasRoom =
      (this.#count(address) < maxOwn || this.#makeRoom(address)) &&
      (this.#connections.size < this.#max || this.#makeRoom(null));
    if (!hasRoom) return void socket.destroy();
    this.#connections.set(socket, { socket, address, answers: [], hasAsked: false });
    this.#ofAddress.set(address, this.#count(address) + 1);
    socket.once("close", () => this.#remove(socket));
  }

  /** Serves a request when those before it on its connection have been answered. */
  serve(request: IncomingMessage, response: ServerResponse, serveNow: () => void): void {
    const { socket } = request;
    const connection = this.#connections.get(socket);
    if (connection === undefined || connection.answers.length >= MAX_PIPELINED) return void socket.destroy();
    const { answers } = connection;
    const last = answers.at(-1);
    connection.hasAsked = true;
    answers.push(response);
    if (this.#isClosing) response.setHeader("Connection", "close");
    response.once("close", () => {
      answers.splice(answers.indexOf(response), 1);
      if (this.#isClosing && answers.length === 0) socket.destroySoon();
    });
    if (last === undefined) return serveNow();
    last.once("close", () => {
      if (!socket.destroyed) serveNow();
    });
  }

  /** Ends those that ask nothing, and each other one after its answers. */
  close(): void {
    this.#isClosing = true;
    for (const { socket, answers } of this.#connections.values()) {
      for (const answer of answers) if (!answer.headersSent) answer.setHeader("Connection", "close");
      if (answers.length === 0) socket.destroySoon();
    }
  }

  #count(address: string): number {
    return this.#ofAddress.get(address) ?? 0;
  }

  /** Drops the oldest that asks nothing, of an address or of all; false where each is being answered. */
  #makeRoom(address: string | null): boolean {
    const idle = [...this.#connections.values()].filter(
      (one) => one.answers.length === 0 && (address === null || one.address === address),
    );
    const victim = idle.find(({ hasAsked }) => !hasAsked) ?? idle[0];
    if (victim === undefined) return false;
    this.#remove(victim.socket);
    victim.socket.destroy();
    return true;
  }

  #remove(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    this.#connections.delete(socket);
    const left = this.#count(connection.address) - 1;
    if (left === 0) this.#ofAddress.delete(connection.address);
    else this.#ofAddress.set(connection.address, left);
  }
}
