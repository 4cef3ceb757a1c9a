/** The other side of a WebSocket (RFC 6455), in whole text messages. */
export interface Socket {
  /** Resolves when the message is on its way. */
  send(text: string): Promise<void>;
  /** The next message; null when the other side is done. */
  receive(): Promise<string | null>;
}

export interface SocketRequest {
  /** ws: or wss:. */
  readonly url: string;
  readonly signal?: AbortSignal;
  /** The whole conversation, default 30 s. */
  readonly timeoutMs?: number;
  /** All texts that are received, default 4 MiB. One text is at most 1 MiB, and there are at most 1,000. */
  readonly maxBytes?: number;
}

/**
 * The outbound client for conversations: addresses are checked as those that a user gave. Throws `AppError`
 * `invalid` for an address that is never allowed, `OutboundFailure` for a network that failed or a limit that
 * was passed (`wasSent` false: before the first message); what `work` throws goes through.
 */
export interface Sockets {
  /** Opens a connection of its own, which is closed when `work` ends. */
  converse<T>(request: SocketRequest, work: (socket: Socket) => Promise<T>): Promise<T>;
}
