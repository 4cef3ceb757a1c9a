import type { Post } from "../../../../src/domain/posts/post.ts";
import { CalendarCheck, MessageCircleQuestion, Save, Send } from "lucide-preact";
import { formats, may } from "../../data/session.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Problem } from "../../../ui/states.tsx";
import { type Actions, ASKING } from "./actions.ts";
import type { Composer } from "./composer.ts";
import { AskToSend } from "../../post/post-questions.tsx";
import { Agreements } from "./posting-part.tsx";
import type { SaveState } from "./saver.ts";
import { addressOfNew } from "./start.ts";
import { canGoOn, pastInWords } from "./unsaved-change.ts";

/** What can be done, and how far what is written was kept. */
export function ActionBar({ composer, actions }: { readonly composer: Composer; readonly actions: Actions }) {
  const { form, post, state } = composer;
  const { doing, refusal } = actions;
  const isAsking = doing === ASKING && may("publish");
  const isNow = form.value.when === "now";
  const gone = composer.change?.gone.value ?? null;
  if (gone !== null && post !== null) return <Gone id={post.id} status={gone} />;
  return (
    <div class="action-bar">
      {refusal !== null && <Problem sentence={refusal} />}
      <Agreements
        targets={form.value.targets.map(({ accountId, metadata }) => ({
          accountId,
          values: { ...form.value.metadata, ...metadata },
        }))}
      />
      <div class="action-row">
        <SaveStateNote
          state={state.value}
          isPost={post !== null}
          isKept={composer.isKept()}
          doing={doing}
          onRetry={actions.save}
        />
        <div class="buttons">
          {post === null && (
            <Button kind="quiet" class="save" aria-keyshortcuts="Control+S" onClick={actions.save}>
              <Save aria-hidden="true" />
              <span>Save</span>
            </Button>
          )}
          {post === null && may("publish") && (
            <Button isBusy={isAsking} disabled={doing !== null && !isAsking} onClick={actions.ask}>
              <MessageCircleQuestion aria-hidden="true" />
              Ask for approval
            </Button>
          )}
          <Button
            kind="main"
            isBusy={doing !== null}
            aria-keyshortcuts="Control+Enter"
            onClick={actions.main}
          >
            {isNow ? <Send aria-hidden="true" /> : <CalendarCheck aria-hidden="true" />}
            {mainLabel(composer)}
          </Button>
        </div>
      </div>
      {actions.isAsking && (
        <AskToSend
          accountIds={form.value.targets.map(({ accountId }) => accountId)}
          isAgain={post !== null}
          onYes={actions.publish}
          onClose={actions.stopAsking}
        />
      )}
    </div>
  );
}

/** Of a post that is past this change of it: what was written goes on in the way that is left. */
function Gone({ id, status }: Pick<Post, "id" | "status">) {
  return (
    <div class="action-bar">
      <Problem sentence={pastInWords(status)} />
      <div class="buttons">
        {canGoOn(status) ? (
          <Button kind="main" onClick={() => location.reload()}>
            Go on with it
          </Button>
        ) : (
          <ButtonLink kind="main" href={addressOfNew(id)}>
            Write it as a new post
          </ButtonLink>
        )}
      </div>
    </div>
  );
}

function mainLabel({ form, post }: Composer): string {
  const { when } = form.value;
  if (post !== null)
    return post.status !== "failed" ? "Save the change" : when === "now" ? "Send it again" : "Schedule again";
  if (!may("publish")) return "Ask for approval";
  return when === "now" ? "Publish now" : when === "repeat" ? "Start the series" : "Schedule";
}

interface SaveStateProps {
  readonly state: SaveState;
  readonly isPost: boolean;
  /** In this browser, until the server has it. */
  readonly isKept: boolean;
  readonly doing: string | null;
  onRetry(): void;
}

function SaveStateNote({ state, isPost, isKept, doing, onRetry }: SaveStateProps) {
  if (state.kind === "failed" && doing === null)
    return (
      <p class="kept wrong" role="alert">
        {isKept ? "Kept in this browser, not saved yet: " : "Not saved: "}
        {state.sentence}{" "}
        <Button isSmall kind="quiet" onClick={onRetry}>
          Try again
        </Button>
      </p>
    );
  return (
    <p class="kept muted note" role="status">
      {doing ?? keptText(state, isPost)}
    </p>
  );
}

function keptText(state: SaveState, isPost: boolean): string {
  if (state.kind === "conflict") return "Not saved: it was changed elsewhere";
  if (isPost && state.kind === "changed") return "Kept in this browser, not saved yet";
  if (isPost && state.kind === "nothing") return "";
  if (state.kind === "saved") return `Saved ${formats.value.time(state.at)}`;
  return state.kind === "nothing" ? "" : "Saving…";
}
