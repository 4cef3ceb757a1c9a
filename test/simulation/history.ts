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
}

/** A text at a time, as somebody wished it for a post. */
export interface Version {
  readonly text: string;
  /** By the machine's clock; -Infinity: as soon as it may. */
  readonly scheduledAt: number;
  readonly deed: Deed;
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
}

/** What the database says at the end. */
export interface FinalPost {
  readonly id: string;
  readonly caption: string;
  readonly status: string;
  readonly error: string | null;
  readonly inDoubt: boolean;
  readonly scheduledAt: number;
  readonly isHeld: boolean;
  readonly hasWarnings: boolean;
}
