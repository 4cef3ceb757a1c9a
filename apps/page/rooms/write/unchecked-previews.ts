import type { Check } from "../../../../src/domain/drafts/draft.ts";
import type { Form } from "./form.ts";

/** Shown as it is written until the server has looked at it. */
export function uncheckedPreviews(form: Form): readonly Check[] {
  const media = form.media.map(({ url }) => ({ url, type: null, change: null }));
  return form.targets.map(({ accountId }) => ({
    accountId,
    error: null,
    warnings: [],
    preview: { ...noPreview(form), media },
  }));
}

export function noPreview({ caption }: Form): Check["preview"] {
  const count = { length: caption.length, max: null, unit: "characters" as const };
  return { text: caption, parts: [], count, media: [], link: null, note: null };
}
