import { useState } from "preact/hooks";
import { Ask } from "../../ui/ask.tsx";
import { Button } from "../../ui/button.tsx";
import { say } from "../../ui/toasts.tsx";
import { readDraft } from "../../shared/drafts.ts";
import { jsonOf } from "../../shared/json.ts";
import { useLoad } from "../data/load.ts";
import { may } from "../data/session.ts";
import { call } from "../data/tools.ts";

/** Where a series, or what became of another draft, is shown. */
export function seriesAddress(draftId: string): string {
  return `/app/review?show=decided&draft=${encodeURIComponent(draftId)}`;
}

/** The series of a post, with a link to it and a button that ends it. */
export function SeriesPart({ draftId, onChanged }: { readonly draftId: string; onChanged(): void }) {
  const { data, reload } = useLoad((signal) => call("list_drafts", { id: draftId }, { signal }), draftId);
  const [isAsking, setIsAsking] = useState(false);
  const [draft] = data?.drafts ?? [];
  if (draft === undefined || draft.repeat === null) return null;
  const { id, revision, state } = draft;
  const isOn = state === "repeating";
  return (
    <div class="post-series">
      <p>
        This is a post of the series “
        <a href={seriesAddress(id)}>
          <bdi>{readDraft(jsonOf(draft))?.title ?? "Series"}</bdi>
        </a>
        ”{isOn ? "." : ", which is ended."}
      </p>
      {isOn && may("publish") && (
        <Button kind="quiet" isSmall onClick={() => setIsAsking(true)}>
          End the series
        </Button>
      )}
      {isAsking && (
        <Ask
          isDanger
          question="End this series?"
          text="Its posts that wait are cancelled. What went out stays."
          yes="End the series"
          no="Let it go on"
          onYes={async () => {
            await call("decide_draft", { id, revision, decision: "stop" });
            say("The series is ended.");
            reload();
            onChanged();
          }}
          onClose={() => setIsAsking(false)}
        />
      )}
    </div>
  );
}
