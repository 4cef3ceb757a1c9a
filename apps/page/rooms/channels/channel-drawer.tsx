import { RefreshCw } from "lucide-preact";
import { useState } from "preact/hooks";
import type { Account } from "../../../../src/domain/accounts/account.ts";
import { webAddress, waitingPosts, countPosts } from "../../../shared/texts.ts";
import { may } from "../../data/session.ts";
import {
  accounts,
  channelName,
  findAccount,
  loadAccounts,
  loadStatus,
  platformTitle,
} from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { shortTime } from "../../../shared/when.ts";
import { useWork } from "../../../ui/use-work.ts";
import { Ask } from "../../../ui/ask.tsx";
import { AskToPause, AskToResume } from "../../channel/ask-to-pause.tsx";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { PlatformGlyph } from "../../channel/channel-label.tsx";
import { Form, TextField } from "../../../ui/field.tsx";
import { UNSAVED, useLoss } from "../../../ui/leaving.ts";
import { Sheet } from "../../../ui/sheet.tsx";
import { Bones, Problem } from "../../../ui/states.tsx";
import { say } from "../../../ui/toasts.tsx";
import { abilitiesInWords, filesInWords, quotaInWords, takesInWords } from "./capability-words.ts";
import { States } from "./channel-card.tsx";
import { isPaused, needsPerson, remedyOf } from "./health.ts";
import { LinkParameters } from "./link-parameters.tsx";
import { pathToConnect } from "./paths.ts";
import { SlotEditor } from "./slot-editor.tsx";

interface DrawerProps {
  readonly accountId: string;
  onClose(): void;
}

/** One channel: how it is, when it posts, what it takes. */
export function ChannelDrawer({ accountId, onClose }: DrawerProps) {
  const account = findAccount(accountId);
  if (account === null)
    return (
      <Sheet isDrawer title="Channel" onClose={onClose}>
        {accounts.value === null ? (
          <Bones label="The channel is loading" />
        ) : (
          <Problem sentence="This channel is not there, or you may not see it. Close this and choose another one." />
        )}
      </Sheet>
    );
  return (
    <Sheet isDrawer title={channelName(account.id)} onClose={onClose}>
      <div class="channel-detail">
        <Health account={account} />
        {may("accounts") && <Rename key={account.name} account={account} />}
        <SlotEditor key={`${account.id} slots`} account={account} />
        <Takes account={account} />
        {may("accounts") && (
          <>
            <LinkParameters key={`${account.id} links`} account={account} />
            <PauseAndEnd account={account} />
          </>
        )}
      </div>
    </Sheet>
  );
}

function Health({ account }: { readonly account: Account }) {
  const { id, provider, handle, profileUrl, statusReason, tokenExpiresAt, lastPublishedAt, queuedCount } =
    account;
  const remedy = remedyOf(account);
  const profile = profileUrl === null ? null : webAddress(profileUrl);
  return (
    <section class="stack" aria-label="Health">
      <p class="channel">
        <PlatformGlyph provider={provider} />
        <span dir="auto">
          {platformTitle(provider)}
          {handle !== null && " · "}
          {profile === null ? (
            handle
          ) : (
            <a href={profile} target="_blank" rel="noreferrer noopener">
              {handle ?? "Profile"}
            </a>
          )}
        </span>
      </p>
      <States account={account} />
      {account.status !== "connected" && statusReason !== null && <p>{statusReason}</p>}
      {remedy !== null && <p class="muted">{remedy}</p>}
      {may("accounts") && account.status !== "connected" && (
        <div class="buttons">
          <ButtonLink kind={needsPerson(account) ? "main" : "plain"} href={pathToConnect(provider, id)}>
            <RefreshCw aria-hidden="true" />
            Reconnect
          </ButtonLink>
        </div>
      )}
      <dl class="figures">
        <div>
          <dt>Waiting</dt>
          <dd>{queuedCount === 0 ? "Nothing" : countPosts(queuedCount)}</dd>
        </div>
        <div>
          <dt>Last post</dt>
          <dd>{lastPublishedAt === null ? "None yet" : shortTime(Date.parse(lastPublishedAt))}</dd>
        </div>
        <div>
          <dt>Access ends</dt>
          <dd>
            {account.status === "disconnected"
              ? "Ended"
              : tokenExpiresAt === null
                ? "Never by itself"
                : shortTime(Date.parse(tokenExpiresAt))}
          </dd>
        </div>
      </dl>
    </section>
  );
}

function Rename({ account }: { readonly account: Account }) {
  const [name, setName] = useState(account.name);
  const { isBusy, error, setError, run } = useWork();
  const isChanged = name.trim() !== account.name;
  useLoss(isChanged ? UNSAVED : null);
  const save = async (): Promise<void> => {
    if (!isChanged) return;
    if (name.trim() === "")
      return setError("The name is empty. Give the name that the channel is to have here.");
    await run(async () => {
      await call("update_account", { accountId: account.id, name: name.trim() });
      await loadAccounts();
      say("Renamed.");
    });
  };
  return (
    <Form class="beside" onSubmit={save}>
      <TextField
        label="Name"
        help="What it is called here. The platform does not see it."
        error={error}
        maxLength={100}
        value={name}
        onText={(text) => {
          setName(text);
          setError(null);
        }}
      />
      <Button type="submit" isBusy={isBusy} disabled={!isChanged}>
        Rename
      </Button>
    </Form>
  );
}

function Takes({ account: { capabilities, provider } }: { readonly account: Account }) {
  const title = platformTitle(provider);
  return (
    <section class="stack tight" aria-labelledby="channel-takes">
      <h3 id="channel-takes">What it takes</h3>
      <p>{takesInWords(capabilities)}.</p>
      <details>
        <summary>Files, limits and what works on {title}</summary>
        <dl class="facts">
          {filesInWords(capabilities.media).map(({ title: kind, text }) => (
            <div key={text}>
              <dt>{kind}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
        <ul class="sentences">
          {[...abilitiesInWords(capabilities, title), ...capabilities.quotas.map(quotaInWords)].map(
            (sentence) => (
              <li key={sentence}>{sentence}</li>
            ),
          )}
        </ul>
      </details>
    </section>
  );
}

type Question = "pause" | "resume" | "disconnect" | null;

function PauseAndEnd({ account }: { readonly account: Account }) {
  const [question, setQuestion] = useState<Question>(null);
  const { id, queuedCount } = account;
  const name = channelName(id);
  const close = (): void => setQuestion(null);
  const waiting = queuedCount === 0 ? "No post waits" : `${waitingPosts(queuedCount)}`;
  const change = async (work: Promise<unknown>, done: string): Promise<void> => {
    await work;
    await Promise.all([loadAccounts(), loadStatus()]);
    say(done);
  };
  return (
    <section class="stack tight" aria-labelledby="channel-pause">
      <h3 id="channel-pause">Pause or disconnect</h3>
      <p class="muted">
        A pause keeps everything and lets nothing out. Disconnecting forgets passwords and tokens, and keeps
        posts and settings.
      </p>
      <div class="buttons">
        {isPaused(account) ? (
          <Button kind="main" onClick={() => setQuestion("resume")}>
            Resume
          </Button>
        ) : (
          <Button onClick={() => setQuestion("pause")}>Pause</Button>
        )}
        {account.status !== "disconnected" && (
          <Button kind="danger" onClick={() => setQuestion("disconnect")}>
            Disconnect
          </Button>
        )}
      </div>
      {question === "pause" && <AskToPause account={account} onClose={close} />}
      {question === "resume" && <AskToResume account={account} onClose={close} />}
      {question === "disconnect" && (
        <Ask
          isDanger
          question={`Disconnect “${name}”?`}
          text={`Its passwords and tokens are forgotten. ${waiting} on it${queuedCount === 0 ? "" : ", and will fail unless it is reconnected before their time"}. What is live on ${platformTitle(account.provider)} stays there. It can be reconnected at any time.`}
          yes="Disconnect"
          no="Keep it"
          onYes={() => change(call("disconnect_channel", { accountId: id }), `“${name}” is disconnected.`)}
          onClose={close}
        />
      )}
    </section>
  );
}
