import type { SentencesAt } from "../../toolkit/words.ts";
import { abilitiesOf, type CallFrom } from "./client-session.ts";

/** Of clients that draw views. */
const DRAWS_VIEWS = "io.modelcontextprotocol/ui";

/** Where the sentences of an answer stand, by JSON pointer; "" for those of a refusal. */
const KEY = "posthorn/sentences";

/**
 * What stands in an answer as data, for views, which word it for people. Other clients get none of it: nothing in
 * them would read it.
 */
export function sentencesMeta(
  { server, context }: Pick<CallFrom, "server" | "context">,
  sentences: SentencesAt,
): { _meta?: Record<string, unknown> } {
  const leading = Object.entries(sentences).filter(([, all]) =>
    all.some(({ field, next }) => field !== null || next.length > 0),
  );
  if (leading.length === 0 || !drawsViews(abilitiesOf(server, context))) return {};
  return { _meta: { [KEY]: Object.fromEntries(leading) } };
}

function drawsViews(abilities: { readonly extensions?: object | undefined }): boolean {
  return abilities.extensions !== undefined && DRAWS_VIEWS in abilities.extensions;
}
