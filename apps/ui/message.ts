/** What a message says, and where it leads. */
export interface Message {
  readonly text: string;
  /** Something was refused or failed: it stays until it is closed. */
  readonly isBad?: boolean;
  readonly links?: readonly MessageLink[];
}

export interface MessageLink {
  readonly text: string;
  readonly href: string;
  readonly isOutside?: boolean;
  /** Whether the page already shows the target, so that no link is needed. */
  isShown?(): boolean;
}
