import { Bot, Check, Radio } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useRoomName } from "../../data/address.tsx";
import { useLoad } from "../../data/load.ts";
import { may, mayConnectNew, putWelcomeAway, session } from "../../data/session.ts";
import { accounts, status } from "../../data/shared-data.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { complain } from "../../../ui/toasts.tsx";
import { sentenceOf } from "../../../shared/texts.ts";
import { TO_CONNECT } from "../channels/paths.ts";
import { listKeys } from "../settings/keys-api.ts";
import { FirstPost } from "./first-post.tsx";
import { findFeed, hasAssistant, hasBegun, hasChannel } from "./steps.ts";

/** A greeting above the plan at the first visit, until it is closed. */
export function Welcome() {
  const isHere = useRoomName() === "plan" && session.value?.isWelcome === true;
  return isHere && may("publish") && accounts.value !== null ? <Greeting /> : null;
}

function Greeting() {
  const channels = accounts.value ?? [];
  const feed = findFeed(channels);
  const managesKeys = may("admin") && session.value?.accountIds === null;
  // From then on there is something in the plan to see.
  const isBegun = hasBegun(channels, status.value?.counts ?? null);
  return (
    <section class={isBegun ? "welcome begun" : "welcome"} aria-labelledby="welcome-title">
      <header>
        <h2 id="welcome-title">Welcome to Posthorn</h2>
        <Button
          isSmall
          onClick={() => putWelcomeAway().catch((error: unknown) => complain(sentenceOf(error)))}
        >
          Dismiss
        </Button>
        {!isBegun && (
          <p class="muted">
            Three short steps. After them it publishes by itself, and tells you when it needs you.
          </p>
        )}
      </header>
      <ol>
        {feed !== null && (
          <Step
            isDone={isBegun}
            title="Post something"
            text="It goes to your own feed, which is there already."
          >
            <FirstPost feed={feed} isBegun={isBegun} />
          </Step>
        )}
        {mayConnectNew() && (
          <Step
            isDone={hasChannel(channels)}
            title="Connect a channel"
            text="Mastodon, Bluesky, Instagram, YouTube and more: where your readers are."
          >
            <div class="buttons">
              <ButtonLink href={TO_CONNECT}>
                <Radio aria-hidden="true" />
                Connect a channel
              </ButtonLink>
            </div>
          </Step>
        )}
        {managesKeys && <AssistantStep />}
      </ol>
    </section>
  );
}

function AssistantStep() {
  const { data } = useLoad(listKeys, "keys");
  return (
    <Step
      isDone={hasAssistant(data ?? [], session.value?.name ?? "")}
      title="Connect an assistant"
      text="Cursor, Claude and others write drafts for you. Nothing goes out before you approve it."
    >
      <div class="buttons">
        <ButtonLink href="/app/settings#assistants">
          <Bot aria-hidden="true" />
          Connect an assistant
        </ButtonLink>
      </div>
    </Step>
  );
}

interface StepProps {
  readonly isDone: boolean;
  readonly title: string;
  readonly text: string;
  readonly children: ComponentChildren;
}

function Step({ isDone, title, text, children }: StepProps) {
  return (
    <li class={isDone ? "done" : ""}>
      <h3>
        <span class="step-sign" aria-hidden="true">
          {isDone && <Check />}
        </span>
        {title}
        {isDone && <span class="unseen"> (done)</span>}
      </h3>
      <p class="muted">{text}</p>
      {children}
    </li>
  );
}
