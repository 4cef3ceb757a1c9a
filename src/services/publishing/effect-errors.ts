/** A step's outcome stays open and the platform cannot tell: a person has to look. */
export class OutcomeUnknown extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "OutcomeUnknown";
  }
}

/** The platform has not settled an open step yet. */
export class AskAgain extends Error {
  readonly afterMs: number;

  constructor(afterMs: number) {
    super("The platform has not settled it yet.");
    this.name = "AskAgain";
    this.afterMs = afterMs;
  }
}

/** Its time passed before anything of it reached the platform. */
export class TooLate extends Error {
  constructor() {
    super("Its time passed before it could be sent.");
    this.name = "TooLate";
  }
}

/**
 * In a run that only settles: everything before this step is settled, and this one was never sent or did not
 * happen.
 */
export class NothingSent extends Error {
  constructor() {
    super("The next step was not sent.");
    this.name = "NothingSent";
  }
}
