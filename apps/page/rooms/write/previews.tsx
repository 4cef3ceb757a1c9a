import { Eye } from "lucide-preact";
import { PostPreview } from "../../post/preview.tsx";
import type { Composer } from "./composer.ts";
import { type Form, isAnything } from "./form.ts";
import { playableUrl } from "./media-files.ts";
import type { SaveState } from "./saver.ts";

/** What each channel will show, as its platform's own file tells it. */
export function Previews({ composer }: { readonly composer: Composer }) {
  const { form, checks, state, post } = composer;
  const shown = form.value.targets.flatMap(({ accountId }) => {
    const check = checks.value.find((one) => one.accountId === accountId);
    return check === undefined ? [] : [check];
  });
  return (
    <aside class="previews" aria-label="Preview" tabIndex={0}>
      {shown.length === 0 && (
        <div class="preview-empty">
          <Eye aria-hidden="true" />
          <p>{previewGap(form.value, state.value)}</p>
        </div>
      )}
      {shown.length > 0 && state.value.kind === "failed" && (
        <p class="hint">
          What is shown and counted here is an earlier text. What you wrote since then follows as soon as it
          is {post === null ? "saved" : "checked"}.
        </p>
      )}
      {shown.map(({ accountId, preview }) => (
        <PostPreview key={accountId} accountId={accountId} preview={preview} playableUrl={playableUrl} />
      ))}
    </aside>
  );
}

/** Why there is no preview. */
function previewGap(form: Form, state: SaveState): string {
  if (form.targets.length === 0) return "Choose a channel to see what will go out.";
  if (!isAnything(form)) return "Write something to see what will go out.";
  return state.kind === "failed" || state.kind === "conflict"
    ? "What will go out is shown here as soon as this is saved."
    : "What will go out is shown here in a moment.";
}
