import { HOUR, MINUTE, SECOND } from "./time.ts";

/**
 * The time limits that meet one another, in milliseconds. Which of them must be the larger one stands in
 * `MUST_BE_SHORTER`, and a test holds it.
 */
export const TIME_LIMITS = {
  /** A process tells the database that it lives. */
  beatEvery: 5 * SECOND,
  /** Without an answer for so long a worker on PostgreSQL stops by itself, and sends nothing more. */
  stopsByItself: 10 * SECOND,
  /** After so long without a heartbeat PostgreSQL closes its connection, and its lock is free for others. */
  locksFreed: 20 * SECOND,
  /** After the last heartbeat others take over, where the lock is free on the server that had it. */
  takeOver: 15 * SECOND,
  /** The same on another server, or one that was restarted, which knows less of heartbeats and locks. */
  takeOverElsewhere: MINUTE,
  /** As promised: a host that dies is taken over by then, where the database shows that it is gone. */
  goneWithin: 30 * SECOND,
  /** What a worker sent before it ended has reached the platform by then. Only then is the platform asked. */
  arrives: 30 * SECOND,
  /** One request of a step to a platform. */
  request: 30 * SECOND,
  /** A post this late is left over from downtime. */
  leftOver: 3 * MINUTE,
  /** Between the left-over posts of one channel. */
  spacing: 30 * SECOND,
  /** How late a post may go out; `POSTHORN_MAX_LATENESS` says otherwise. */
  maxLateness: HOUR,
  /** A doubtful outcome is asked about for so long after that. */
  doubtAfterLateness: 10 * MINUTE,
  /** A failing post holds up the later ones of its channel for so long at most. */
  headBlocks: MINUTE,
  /** A post that ended its process in its last two tries waits for so long before the next one. */
  secondCrash: 15 * SECOND,
  /** The same after three. */
  thirdCrash: 45 * SECOND,
  /** So many ends of the program within this time are the machine's trouble, and no post's. */
  machineTrouble: MINUTE,
  /** A publisher without a good tick for so long is not ready. */
  healthyWithin: 10 * SECOND,
  /** Daemons that keep the time keep it closer than this. */
  clockTolerance: SECOND,
  /** A clock, or the notes of it, that jumped by more than this means that nothing ran. */
  noPublisher: 15 * SECOND,
  /** A write waits for SQLite's lock. */
  sqliteBusy: 10 * SECOND,
  /** A statement on PostgreSQL, and a transaction that stands still. */
  statement: 15 * SECOND,
  idleInTransaction: 10 * SECOND,
  /** Added to a statement's limit. After both a silent server's connection is closed. */
  statementSilent: 5 * SECOND,
  /** A COMMIT without an answer is read again for so long. */
  readAgain: 20 * SECOND,
  /** Posts that are being sent are finished, when the process is asked to end. */
  postsDrain: 8 * SECOND,
  /** A request that is answered, or whose body still arrives steadily, is finished then. */
  requestsDrain: 9 * SECOND,
  /** A body that does not arrive is cut off then. */
  silentBody: 2 * SECOND,
  /** Calls over MCP, and renewals of tokens. */
  callsDrain: 5 * SECOND,
  eventsDrain: SECOND,
  /** What systems and containers give a process that they ask to end. */
  killedAfter: 10 * SECOND,
} as const;

type Limit = keyof typeof TIME_LIMITS;

/** The sum of these must be shorter than that one. */
export const MUST_BE_SHORTER: readonly {
  readonly sum: readonly Limit[];
  readonly than: Limit;
  readonly because: string;
}[] = [
  { sum: ["beatEvery"], than: "stopsByItself", because: "one heartbeat may be slow" },
  { sum: ["stopsByItself"], than: "takeOver", because: "nobody sends what another one took over" },
  { sum: ["stopsByItself"], than: "locksFreed", because: "a silent worker stops before its lock is free" },
  { sum: ["takeOver", "beatEvery"], than: "goneWithin", because: "the same where its lock is free at once" },
  { sum: ["takeOver"], than: "takeOverElsewhere", because: "what is known less well waits longer" },
  {
    sum: ["locksFreed", "beatEvery"],
    than: "goneWithin",
    because: "its lock is free by then, with time for a look at it",
  },
  {
    sum: ["takeOverElsewhere", "arrives", "beatEvery"],
    than: "leftOver",
    because: "no take-over makes posts left over from downtime",
  },
  {
    sum: ["secondCrash", "thirdCrash"],
    than: "leftOver",
    because: "posts beside a guilty one are not left over",
  },
  { sum: ["leftOver", "spacing"], than: "maxLateness", because: "left-over posts have time to go out" },
  { sum: ["headBlocks"], than: "leftOver", because: "a failing post makes no other one left over" },
  { sum: ["doubtAfterLateness"], than: "maxLateness", because: "a doubt ends soon after the post's time" },
  { sum: ["beatEvery"], than: "healthyWithin", because: "a tick that writes a heartbeat is a good one" },
  { sum: ["beatEvery"], than: "noPublisher", because: "the time is noted with the heartbeat" },
  { sum: ["stopsByItself"], than: "readAgain", because: "it goes on until the worker has stopped" },
  { sum: ["statement"], than: "locksFreed", because: "a claim ends before its worker is taken over" },
  { sum: ["postsDrain"], than: "requestsDrain", because: "calls wait for posts" },
  { sum: ["eventsDrain", "postsDrain"], than: "killedAfter", because: "all is closed before the kill" },
  { sum: ["requestsDrain"], than: "killedAfter", because: "all is closed before the kill" },
  { sum: ["silentBody", "eventsDrain"], than: "callsDrain", because: "no stranger holds up the end" },
];
