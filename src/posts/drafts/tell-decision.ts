import { firstTextOf } from "../../domain/drafts/draft.ts";
import { quote } from "../../domain/text/plain-text.ts";
import { namesOfKeys } from "../../access/api-keys.ts";
import type { Reader } from "../../store/engine/store.ts";
import type { DraftRow } from "../../store/queries/drafts.ts";
import type { PostRow } from "../../store/schema/tables.ts";
import { contentOf } from "./draft-content.ts";

/* What a decision did, as its answer says it: no person may have been asked before. */

/** How a draft is named to people: "the draft "Opening"", "the draft without text". */
export function nameDraft(row: DraftRow): string {
  const content = contentOf(row);
  const text = content.title ?? firstTextOf(content);
  return text === null ? "without text" : quote(text);
}

export function describeNoReason({ note = "" }: { readonly note?: string | undefined }): string[] {
  return note === "" ? [NO_REASON] : [];
}

const NO_REASON =
  "No note was given, so the writer does not learn what is to be changed. Decide changes once more, with a note.";

export async function describeDiscarded(reader: Reader, row: DraftRow): Promise<string> {
  const names = await namesOfKeys(reader, row.owner_id);
  const waited = row.state === "waiting" ? ", which waited for a decision," : "";
  return `The draft ${nameDraft(row)} by ${names(row.key_id)}${waited} is discarded. It cannot be brought back.`;
}

export function describeStopped(row: DraftRow, cancelled: readonly PostRow[]): string {
  const name = nameDraft(row);
  if (cancelled.length === 0) return `The series ${name} is ended. None of its posts waited.`;
  const posts = `${cancelled.length} waiting ${cancelled.length === 1 ? "post" : "posts"}`;
  const changed = cancelled.filter(({ created_at: made, updated_at: at }) => at > made).length;
  const since =
    changed === 0
      ? ""
      : `; ${changed} of them had been changed since ${changed === 1 ? "it was" : "they were"} made`;
  return `The series ${name} is ended, and ${posts} of it ${cancelled.length === 1 ? "is" : "are"} cancelled${since}.`;
}
