/** By then what is due is settled, once no fault happens any more. */
export const SETTLED_WITHIN_MS = 10 * 60_000;

/** `calm`: nothing fails, and what goes out is held to the second. `limits`: platforms slow down and refuse. */
export type Mood = "calm" | "limits" | "wild";

/** For some seconds a machine's clock was ahead by so many ms. */
export interface Glitch {
  /** In true time. */
  readonly from: number;
  to: number;
  readonly byMs: number;
  /** The processes that saw it begin. */
  readonly hosts: readonly string[];
}

/** What was asked, and what came of it: what the judge reads. Times are true times in ms. */
export interface Deed {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly invokedAt: number;
  /** On the clock of the machine that was asked. */
  readonly clockAt: number;
  answeredAt: number | null;
  /** `unknown`: no answer came. */
  outcome: "done" | "refused" | "unknown";
  answer: Record<string, unknown>;
  /** As of a wish: the database may not know of it any more. */
  isForgotten?: boolean;
  /** The key that it was asked with, where a program did. */
  by?: string;
  /** Beyond what that key allows. */
  mayNot?: boolean;
}

/** A text at a time, as somebody wished it for a post. */
export interface Version {
  readonly text: string;
  /** By the machine's clock; -Infinity: as soon as it may. */
  readonly scheduledAt: number;
  readonly deed: Deed;
  /** What of both it changes, whatever else was changed meanwhile. Missing: both. */
  readonly sets?: readonly ("text" | "time")[];
  /** Of a draft: which revision it is. Null: no answer told. */
  revision?: number | null;
}

/** A post as people know it, however many rows it has. */
export interface Wish {
  readonly name: string;
  /** Its platform, and its account. */
  readonly channel: string;
  readonly channelId: string;
  id: string | null;
  readonly versions: Version[];
  readonly cancels: Deed[];
  /** Sent again, or settled by somebody who had looked. */
  readonly repeats: Deed[];
  /** Of a draft: the approvals that somebody gave. Null: it needs none. */
  readonly approvals: Deed[] | null;
  /** What it was answered to have as its slot; null: it asked for none, or was moved since. */
  slotAt: number | null;
  /** An older copy took the database's place, which does not know all that was done with it. */
  isForgotten: boolean;
  /** The table that it is a row of. */
  readonly table?: string;
}

/** What comes again each day, at a time of the day in a zone, with a text of its own each time. */
export interface Series {
  readonly name: string;
  readonly channel: string;
  readonly channelId: string;
  readonly time: string;
  readonly zone: string;
  readonly texts: readonly string[];
  readonly saved: Deed;
  readonly approvals: Deed[];
  readonly stops: Deed[];
  isForgotten: boolean;
}

/** Somebody wants to be told of what happens. */
export interface Hook {
  readonly path: string;
  /** Null: of all. */
  readonly channelIds: readonly string[] | null;
  readonly deed: Deed;
  id: string | null;
  /** An older copy took the database's place since. */
  isRestored: boolean;
}

/** What the database says at the end. */
export interface FinalPost {
  readonly id: string;
  readonly channelId: string;
  readonly caption: string;
  readonly status: string;
  readonly error: string | null;
  readonly inDoubt: boolean;
  readonly scheduledAt: number;
  readonly isHeld: boolean;
  readonly hasWarnings: boolean;
  /** It is looked at again: what follows it is tried for an hour. */
  readonly isTried: boolean;
  /** A process ended while it was at work on it. */
  readonly wasInterrupted: boolean;
  /** By the clock of the host that wrote it. */
  readonly updatedAt: number;
}
