import { Eye } from "lucide-preact";
import { PostPreview } from "../../ui/preview.tsx";
import type { Composer } from "./composer.ts";
import { playableUrl } from "./media-files.ts";

/** What each channel will show, as its platform's own file tells it. */
export function Previews({ composer }: { readonly composer: Composer }) {
  const { form, checks } = composer;
  const shown = form.value.targets.flatMap(({ accountId }) => {
    const check = checks.value.find((one) => one.accountId === accountId);
    return check === undefined ? [] : [check];
  });
  return (
    <aside class="previews" aria-label="Preview" tabIndex={0}>
      {shown.length === 0 ? (
        <div class="preview-empty">
          <Eye aria-hidden="true" />
          <p>
            {form.value.targets.length === 0 ? "Choose a channel" : "Write something"} to see what will go
            out.
          </p>
        </div>
      ) : (
        shown.map(({ accountId, preview }) => (
          <PostPreview key={accountId} accountId={accountId} preview={preview} playableUrl={playableUrl} />
        ))
      )}
    </aside>
  );
}
