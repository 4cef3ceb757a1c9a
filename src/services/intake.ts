import { Gate } from "../domain/gate.ts";

/** Files that are being taken in by this process, and how many of them may be one owner's. */
export interface Intake {
  /** Bytes that a client sends: whole files, and parts of resumable uploads. */
  readonly uploads: Gate;
  /** Files that are fetched from an address. */
  readonly imports: Gate;
}

/**
 * Each of them holds a connection, a file and a writer of the disk. Whoever uploads is told at once that it
 * is too much, because a sender that nobody reads is left after a while; an import can wait for its turn.
 */
export function createIntake(): Intake {
  return {
    uploads: new Gate(512, {
      maxPerOwner: 32,
      maxWaitingPerOwner: 0,
      tooMany: "Too many files are being uploaded at once. Wait until one of them is done, then try again.",
    }),
    imports: new Gate(256, {
      maxPerOwner: 16,
      maxWaitingPerOwner: 48,
      tooMany:
        "url: too many files are being imported at once. Wait until one of them is done, then try again.",
    }),
  };
}
