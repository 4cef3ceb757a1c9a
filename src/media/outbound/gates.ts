import { Gate } from "../../domain/gate.ts";
import type { OutboundPurpose } from "../../ports/outbound.ts";

/**
 * Requests whose answer is awaited at a time, by what they are for: each takes a connection, and systems give
 * a process some thousand. To platforms as many as posts are sent at once. No owner has all of them, as each
 * may wait for a server that never answers: of those that anybody may point at such a one a quarter, of the
 * others more, because most installations have one owner. The time allowed for one begins when it is made.
 */
export function createGates(): Record<OutboundPurpose | "socket", Gate> {
  return {
    platform: new Gate(1_024, { maxPerOwner: 768 }),
    bucket: new Gate(512),
    media: new Gate(512, { maxPerOwner: 128 }),
    webhook: new Gate(256, { maxPerOwner: 64 }),
    // Each may hold a message of 1 MiB.
    socket: new Gate(128, { maxPerOwner: 32 }),
  };
}
