import { isCut, whyHeld } from "../../../domain/accounts/account.ts";
import type { conflictSentence } from "../../../domain/posts/post-states.ts";
import type { PostRow } from "../../schema/tables.ts";
import { findRow } from "../../engine/statements.ts";
import type { Reader } from "../../engine/store.ts";

/** A post with what keeps its channel from trying it, and when it is tried: what a refusal tells of it. */
export type Standing = PostRow & Parameters<typeof conflictSentence>[1];

/** `at`: when that is, and the zone of its times. */
export async function standingOf(
  reader: Reader,
  row: PostRow,
  at: { readonly now: number; readonly timezone?: string },
): Promise<Standing> {
  const account =
    row.next_at === null ? undefined : await findRow(reader, "accounts", { id: row.account_id });
  if (account === undefined) return { ...row, ...at };
  const { provider, id: accountId } = account;
  const why = whyHeld(account);
  const reconnect = isCut(account) ? ({ do: "reconnect", provider, accountId } as const) : null;
  return {
    ...row,
    ...at,
    next_at: Math.max(row.next_at ?? 0, account.next_allowed_at),
    held: why === null ? null : { why, reconnect },
  };
}
