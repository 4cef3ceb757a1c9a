import type { ConnectionStatus } from "../../../../src/domain/accounts/connection.ts";
import type { Account } from "../../../../src/domain/accounts/account.ts";
import { listed } from "../../../shared/texts.ts";

/** An open link, and how far the person has come with it. */
export interface OpenLink {
  readonly connectId: string;
  readonly url: string;
  /** Why the last try on that page failed; it can be tried again there. */
  readonly note: string | null;
  readonly isChoosing: boolean;
}

export type Connection =
  | {
      readonly step: "form";
      readonly error: { readonly field: string | null; readonly sentence: string } | null;
    }
  | { readonly step: "waiting"; readonly link: OpenLink }
  | { readonly step: "connected"; readonly accounts: readonly Account[] }
  | { readonly step: "failed"; readonly sentence: string }
  | { readonly step: "expired" };

export const AT_START: Connection = { step: "form", error: null };

interface CheckAnswer {
  readonly status: ConnectionStatus;
  readonly accounts: readonly Account[];
  readonly error: string | null;
}

/** What follows from what the server says of an open link. */
export function afterCheck(link: OpenLink, { status, accounts, error }: CheckAnswer): Connection {
  switch (status) {
    case "pending":
    case "choose":
      return {
        step: "waiting",
        link: { ...link, isChoosing: status === "choose", note: error },
      };
    case "connected":
      return { step: "connected", accounts };
    case "failed":
      return { step: "failed", sentence: error ?? "It was not connected." };
    case "expired":
      return { step: "expired" };
  }
}

/** `Connected: @alice`, or how many. */
export function connectedInWords(accounts: readonly Pick<Account, "name" | "handle">[]): string {
  const names = accounts.map(({ name, handle }) => handle ?? name);
  return names.length === 0 ? "Connected." : `Connected: ${listed(names)}`;
}
