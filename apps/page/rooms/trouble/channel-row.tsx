import { besidePlatform } from "../../../../src/domain/accounts/channel-names.ts";
import { waitingPosts, countPosts } from "../../../shared/texts.ts";
import { may } from "../../data/session.ts";
import { channelName, findAccount, platformTitle } from "../../data/shared-data.ts";
import { longTime } from "../../../shared/when.ts";
import { useForecast } from "../../channel/ask-to-pause.tsx";
import { askToResume } from "../../post/post-questions.tsx";
import { Button } from "../../../ui/button.tsx";
import { PlatformGlyph } from "../../channel/channel-label.tsx";
import { Problem } from "../../../ui/states.tsx";
import { say } from "../../../ui/toasts.tsx";
import type { LostChannel, Troubles } from "./grouping.ts";
import { MoreMenu } from "./more-menu.tsx";
import { Reason } from "./post-row.tsx";
import { errorInWords } from "./error-words.ts";
import { useReconnect } from "./use-reconnect.ts";

/** A channel without access, or with access that ends. */
export function LostRow({ lost, onDone }: { readonly lost: LostChannel; onDone(): void }) {
  const { account, failed } = lost;
  const { step, start } = useReconnect(account.id, () => {
    say(`${channelName(account.id)} is connected again.`);
    onDone();
  });
  return (
    <li class="trouble-row">
      <PlatformGlyph provider={account.provider} />
      <div class="trouble-text">
        <p class="title">
          <PlacedName account={account} />
        </p>
        <Access lost={lost} />
        <WaitingCounts queued={account.queuedCount} failed={failed.length} />
        {step.at === "away" && (
          <p class="note" role="status">
            Waiting for you to agree on the page that opened. It did not open?{" "}
            <a href={step.url} target="_blank" rel="noreferrer noopener">
              Open it here
            </a>
          </p>
        )}
        {step.at === "done" && <p role="status">Connected again.</p>}
        {step.at === "idle" && step.error !== null && <Problem sentence={step.error} />}
      </div>
      {may("accounts") && step.at !== "done" && (
        <div class="buttons trouble-buttons">
          <Button isSmall isBusy={step.at === "asking"} onClick={start}>
            {step.at === "away" ? "Start again" : "Reconnect"}
          </Button>
          <MoreMenu about={channelName(account.id)}>
            <a href={`/app/channels?account=${encodeURIComponent(account.id)}`}>Open the channel</a>
          </MoreMenu>
        </div>
      )}
    </li>
  );
}

/** The channel's name, and its platform where the name does not tell it. */
function PlacedName({
  account: { id, provider },
}: {
  readonly account: Readonly<Record<"id" | "provider", string>>;
}) {
  const called = channelName(id);
  const title = platformTitle(provider);
  const isTold = besidePlatform(called, title) === called;
  return (
    <>
      <bdi>{called}</bdi> {!isTold && <span class="muted">{title}</span>}
    </>
  );
}

function Access({ lost: { account, status, reason } }: { readonly lost: LostChannel }) {
  const ends = findAccount(account.id)?.tokenExpiresAt ?? null;
  if (status === "expiring")
    return (
      <p>
        {ends === null
          ? "Its access ends soon."
          : `Its access ends on ${longTime(Date.parse(ends))}. Reconnect it before, so that nothing is late.`}
      </p>
    );
  if (reason !== null) return <Reason told={errorInWords(reason)} />;
  return <p>{status === "disconnected" ? "It was disconnected." : "It has no access any more."}</p>;
}

function WaitingCounts({ queued, failed }: { readonly queued: number; readonly failed: number }) {
  const told = [
    ...(queued > 0 ? [`${waitingPosts(queued)} for it.`] : []),
    ...(failed > 0
      ? [`${countPosts(failed)} failed on it. Once it is connected you can send them again.`]
      : []),
  ];
  return told.length === 0 ? null : <p class="muted note">{told.join(" ")}</p>;
}

/** Until when what waits for a paused channel can go out. */
function UntilWhen({ accountId }: { readonly accountId: string }) {
  const told = useForecast(accountId, true);
  // How many wait stands above.
  return told === null ? null : (
    <p class="muted note">{told.replace(/^\d+ posts? waits? for this channel\. /, "")}</p>
  );
}

/** A paused channel that posts wait for. */
export function PausedRow({
  account,
  onDone,
}: {
  readonly account: Troubles["paused"][number];
  onDone(): void;
}) {
  return (
    <li class="trouble-row">
      <PlatformGlyph provider={account.provider} />
      <div class="trouble-text">
        <p class="title">
          <PlacedName account={account} />
        </p>
        <p>
          It is paused, and {countPosts(account.queuedCount)} {account.queuedCount === 1 ? "waits" : "wait"}{" "}
          for it.
        </p>
        {may("accounts") && <UntilWhen accountId={account.id} />}
      </div>
      {may("accounts") && (
        <div class="buttons trouble-buttons">
          <Button isSmall onClick={() => askToResume(account.id, onDone)}>
            Resume
          </Button>
          <MoreMenu about={channelName(account.id)}>
            <a href={`/app/plan?account=${encodeURIComponent(account.id)}`}>See its posts in the plan</a>
            <a href={`/app/channels?account=${encodeURIComponent(account.id)}`}>Open the channel</a>
          </MoreMenu>
        </div>
      )}
    </li>
  );
}
