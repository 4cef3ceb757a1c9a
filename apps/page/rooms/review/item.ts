import type { Draft as ServerDraft } from "../../../../src/domain/drafts/draft.ts";
import { type Draft, ON_THIS_COMPUTER, readDraft } from "../../../shared/drafts.ts";
import { jsonOf } from "../../../shared/json.ts";
import { isOwnKey } from "../../data/session.ts";
import { call } from "../../data/tools.ts";
import { CallError, isFinal } from "../../data/wire.ts";
import { sentenceOf } from "../../../shared/texts.ts";

/** A draft as the server gives it, and in the words that pages show. */
export interface Item {
  readonly raw: ServerDraft;
  readonly shown: Draft;
}

interface ItemPage {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

function toItems(drafts: readonly ServerDraft[]): readonly Item[] {
  return drafts.flatMap((raw) => {
    const shown = readDraft(jsonOf(raw));
    return shown === null ? [] : [{ raw, shown: asOwn(raw, shown) }];
  });
}

/** What a person did by the key that they are signed in with, they did themselves. */
function asOwn({ writtenBy, decision }: ServerDraft, shown: Draft): Draft {
  // Without a key, assistants write too; only people decide.
  const isOwn = isOwnKey(writtenBy.keyId);
  const wrote = shown.writtenBy.endsWith(ON_THIS_COMPUTER) ? "written here" : "by you";
  const decided = decision !== null && isOwnKey(decision.by.keyId);
  return {
    ...shown,
    writtenBy: isOwn ? wrote : shown.writtenBy,
    decision: shown.decision && { ...shown.decision, by: decided ? "You" : shown.decision.by },
  };
}

const PAGE = 100;

export async function loadItems(
  state: readonly ServerDraft["state"][],
  cursor: string | null,
  signal?: AbortSignal,
): Promise<ItemPage> {
  const { drafts, nextCursor } = await call(
    "list_drafts",
    { state, limit: PAGE, ...(cursor !== null && { cursor }) },
    signal === undefined ? {} : { signal },
  );
  return { items: toItems(drafts), nextCursor };
}

/** Every draft of these states. */
export async function loadAll(
  state: readonly ServerDraft["state"][],
  signal?: AbortSignal,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const page: ItemPage = await loadItems(state, cursor, signal);
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return items;
}

/** Why there is no such draft, as a sentence, or the draft. Rejects where that is not known. */
export async function findItem(id: string, signal: AbortSignal): Promise<Item | string> {
  try {
    return await loadItem(id, signal);
  } catch (error) {
    if (isFinal(error)) return sentenceOf(error);
    throw error;
  }
}

/** Rejects where there is none. */
export async function loadItem(id: string, signal?: AbortSignal): Promise<Item> {
  const { drafts } = await call("list_drafts", { id }, signal === undefined ? {} : { signal });
  const [item] = toItems(drafts);
  if (item === undefined) throw new CallError(404, "There is no such draft.");
  return item;
}
