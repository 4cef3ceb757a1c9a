/** What a message says, and where it leads. */
export interface Message {
  readonly text: string;
  /** Something was refused or failed: it stays until it is closed. */
  readonly isBad?: boolean;
  /** `isPlan`: it leads to the plan, which needs no link while it is shown. */
  readonly link?: {
    readonly text: string;
    readonly href: string;
    readonly isOutside?: boolean;
    readonly isPlan?: true;
  };
}
