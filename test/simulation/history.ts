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
  /** By the machine's clock. Null: when it is approved. */
  readonly scheduledAt: number;
  readonly deed: Deed;
}

/** A post as people know it, however many rows it has. */
export interface Wish {
  readonly name: string;
  readonly channel: string;
  id: string | null;
  readonly versions: Version[];
  readonly cancels: Deed[];
  /** Of a draft: the decisions about it. Null: it needs none. */
  readonly approvals: Deed[] | null;
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
}
