/** A step's outcome stays open and the platform cannot tell: a person has to look. */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";
}

/** The platform has not settled an open step yet. */
export class AskAgain extends Error {
  override readonly name = "AskAgain";
  readonly afterMs: number;

  constructor(afterMs: number) {
    super("The platform has not settled it yet.");
    this.afterMs = afterMs;
  }
}

/** Its time passed before anything of it reached the platform. */
export class TooLate extends Error {
  override readonly name = "TooLate";
}

/** In a run that only reconciles: all before this step is settled, and this one was never sent or did not happen. */
export class NothingSent extends Error {
  override readonly name = "NothingSent";
}
