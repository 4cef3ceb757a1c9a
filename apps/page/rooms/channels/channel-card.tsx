import { RefreshCw } from "lucide-preact";
import type { Account } from "../../../../src/domain/accounts/account.ts";
import { now } from "../../../shared/clock.ts";
import { may } from "../../data/session.ts";
import { channelName, platformTitle } from "../../data/shared-data.ts";
import { shortTime } from "../../../shared/when.ts";
import { Badge } from "../../../ui/badges.tsx";
import { ButtonLink } from "../../../ui/button.tsx";
import { PlatformGlyph } from "../../channel/channel-label.tsx";
import { needsPerson, statesOf } from "./health.ts";
import { pathOfChannel, pathToConnect } from "./paths.ts";
import { countPosts } from "../../../shared/texts.ts";

interface CardProps {
  readonly account: Account;
  /** Null: it has none, or it is not known yet. */
  readonly nextSlot: string | null;
}

export function ChannelCard({ account, nextSlot }: CardProps) {
  const { id, provider, name, handle, statusReason, queuedCount, lastPublishedAt, schedule } = account;
  const hasSlots = schedule !== null && schedule.slots.length > 0;
  const canReconnect = may("accounts") && (needsPerson(account) || account.status === "disconnected");
  return (
    <li class="card channel-card">
      <div class="channel-head">
        <PlatformGlyph provider={provider} />
        <div>
          <h2 dir="auto">
            <a href={pathOfChannel(id)}>{name}</a>
          </h2>
          <p class="muted note" dir="auto">
            {[platformTitle(provider), ...(handle === null || handle === name ? [] : [handle])].join(" · ")}
          </p>
        </div>
      </div>
      <States account={account} />
      {account.status !== "connected" && statusReason !== null && <p class="note">{statusReason}</p>}
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
          <dt>Next free slot</dt>
          <dd>{nextSlot !== null ? shortTime(Date.parse(nextSlot)) : hasSlots ? "None soon" : "No slots"}</dd>
        </div>
      </dl>
      <div class="buttons">
        {canReconnect && (
          <ButtonLink
            isSmall
            kind={needsPerson(account) ? "main" : "plain"}
            href={pathToConnect(provider, id)}
          >
            <RefreshCw aria-hidden="true" />
            Reconnect<span class="unseen"> {channelName(id)}</span>
          </ButtonLink>
        )}
        <ButtonLink isSmall href={pathOfChannel(id)}>
          {may("accounts") ? "Settings" : "Details"}
          <span class="unseen"> of {channelName(id)}</span>
        </ButtonLink>
      </div>
    </li>
  );
}

export function States({ account }: { readonly account: Account }) {
  return (
    <p class="buttons">
      {statesOf(account, now()).map((state) => (
        <Badge key={state.label} {...state} />
      ))}
    </p>
  );
}
