/** What a message says, and where it leads. */
export interface Message {
  readonly text: string;
  /** Something was refused or failed: it stays until it is closed. */
  readonly isBad?: boolean;
  /** `isShown`: whether the page shows already what it leads to, and needs no link. */
  readonly link?: {
    readonly text: string;
    readonly href: string;
    readonly isOutside?: boolean;
    isShown?(): boolean;
  };
}
