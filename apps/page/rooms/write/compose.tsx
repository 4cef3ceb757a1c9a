import { useEffect, useState } from "preact/hooks";
import { useLoad } from "../../data/load.ts";
import { isOwnKey, session } from "../../data/session.ts";
import { findAccount } from "../../data/shared-data.ts";
import { Conflict } from "../../../ui/conflict.tsx";
import { UNSAVED, useLoss, useSaver } from "../../../ui/leaving.ts";
import { Room } from "../../../ui/room.tsx";
import { ActionBar } from "./action-bar.tsx";
import { useActions } from "./actions.ts";
import { ChannelsPart } from "./channels-part.tsx";
import type { Composer } from "./composer.ts";
import { GoOn, UnsavedNote } from "./go-on.tsx";
import { learnFiles } from "./media-files.ts";
import { NotesPart } from "./notes-part.tsx";
import { learnPlatforms, sharedFields } from "./platform-fields.ts";
import { Previews } from "./previews.tsx";
import { placeOf, type Remark, remarksOf, withoutReason, withoutTyped } from "./remarks.ts";
import { TargetPart } from "./target-part.tsx";
import { TextPart } from "./text-part.tsx";
import { WhenPart } from "./when-part.tsx";

interface ComposeProps {
  readonly composer: Composer;
  readonly title: string;
  /** What of the address could not be taken. */
  readonly hint: string | null;
}

/** The desk: what is written at one side, what comes of it at the other. */
export function Compose({ composer, title, hint }: ComposeProps) {
  const { form, checks, draft, state, post } = composer;
  const [isTried, setIsTried] = useState(false);
  const actions = useActions(composer, () => setIsTried(true));
  useLeaving(composer);
  // A draft is saved on the way out. Where that fails, the person is asked.
  const isHeld = state.value.kind === "conflict" || (state.value.kind === "failed" && composer.isBehind());
  useLoss(isHeld ? UNSAVED : null);
  useSaver(post === null ? composer.flush : null);
  // The session had ended: what could not be kept is kept now.
  useEffect(() => void composer.flush(), [session.value?.id]);
  const providers = form.value.targets.flatMap(({ accountId }) => findAccount(accountId)?.provider ?? []);
  useLoad((signal) => learnPlatforms(providers, signal), JSON.stringify(providers));
  const urls = form.value.media.flatMap(({ url }) => (isNoPicture(url) ? [url] : []));
  useLoad((signal) => learnFiles(urls, signal), JSON.stringify(urls));
  const failedBy = post?.status === "failed" ? post.error : null;
  const remarks = withoutTyped(withoutReason(remarksOf(checks.value), failedBy), form.value);
  const shared = sharedFields(form.value.targets).map(({ key }) => key);
  const remarksAt = (place: string): readonly Remark[] =>
    remarks.filter((remark) => placeOf(remark, form.value, shared) === place);
  return (
    <Room title={title} actions={null}>
      {hint !== null && <p class="hint">{hint}</p>}
      <UnsavedNote composer={composer} />
      {post === null && <GoOn composer={composer} />}
      {state.value.kind === "conflict" && (
        <Conflict
          what={post === null ? "This draft was" : "This post was"}
          sentence={state.value.sentence}
          mine={post === null ? "Keep mine as a copy" : "Keep mine"}
          onTheirs={composer.takeTheirs}
          onMine={() => {
            composer.keepMine();
            // A failed one is sent with it, which takes another button.
            if (post?.status === "scheduled") actions.save();
          }}
        />
      )}
      {draft.value?.state === "waiting" && (
        <p class="hint">This draft waits for a decision. A change takes it back, to be asked for again.</p>
      )}
      {draft.value?.decision?.what === "changes" && draft.value.state === "open" && (
        <p class="hint">
          {isOwnKey(draft.value.decision.by.keyId) ? "You ask" : `${draft.value.decision.by.name} asks`} for
          changes
          {draft.value.decision.note === null ? "." : `: ${draft.value.decision.note}`}
        </p>
      )}
      {failedBy !== null && <p class="hint">{failedBy}</p>}
      <div class="compose compose-room">
        <div class="compose-desk">
          <ChannelsPart
            composer={composer}
            error={isTried && form.value.targets.length === 0 ? "Choose at least one channel." : null}
          />
          <TextPart composer={composer} remarksAt={remarksAt} />
          {form.value.targets.map((target) => (
            <TargetPart
              key={target.accountId}
              composer={composer}
              target={target}
              remarks={remarksAt(`of ${target.accountId}`)}
            />
          ))}
          <WhenPart composer={composer} remarks={remarksAt("when")} isTried={isTried} />
          {post === null && <NotesPart composer={composer} />}
        </div>
        <Previews composer={composer} />
      </div>
      <ActionBar composer={composer} actions={actions} />
    </Room>
  );
}

function isNoPicture(url: string): boolean {
  return /\.(m4v|mkv|mov|mp4|webm|mp3|m4a|ogg|wav|pdf)$/i.test(url);
}

/** Saves when the window is hidden, and asks before it is closed unsaved. */
function useLeaving(composer: Composer): void {
  useEffect(() => {
    const hide = ({ type }: Event): void => {
      const isHidden = type === "pagehide" || document.visibilityState === "hidden";
      if (isHidden && composer.post === null) void composer.flush();
    };
    const close = (event: BeforeUnloadEvent): void => {
      if (composer.isBehind()) event.preventDefault();
    };
    document.addEventListener("visibilitychange", hide);
    window.addEventListener("pagehide", hide);
    window.addEventListener("beforeunload", close);
    return () => {
      document.removeEventListener("visibilitychange", hide);
      window.removeEventListener("pagehide", hide);
      window.removeEventListener("beforeunload", close);
    };
  }, [composer]);
}
