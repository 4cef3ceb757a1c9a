/** Another time than the draft's own. */
export type ApprovalTime = { readonly scheduledAt: string } | { readonly slot: "next" };

/** What a key does in the review. */
type KeyAction = "next" | "previous" | "approve" | "changes" | "discard";

const KEYS: Readonly<Record<string, KeyAction>> = {
  j: "next",
  ArrowRight: "next",
  k: "previous",
  ArrowLeft: "previous",
  a: "approve",
  c: "changes",
  d: "discard",
};

interface PressedKey {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly repeat: boolean;
}

/** Null: the key belongs to someone else, to a field or to the browser. */
export function actionOf(pressed: PressedKey, isTyping: boolean): KeyAction | null {
  if (isTyping || pressed.ctrlKey || pressed.metaKey || pressed.altKey) return null;
  const { key } = pressed;
  const action = KEYS[key.length === 1 ? key.toLowerCase() : key] ?? null;
  // A key that is held down goes through drafts, and decides about none.
  return pressed.repeat && action !== "next" && action !== "previous" ? null : action;
}
