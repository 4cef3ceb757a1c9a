import { Clock } from "lucide-preact";
import { useState } from "preact/hooks";
import type { Account } from "../../../../src/domain/accounts/account.ts";
import type { SlotSuggestion } from "../../../../src/domain/accounts/schedule.ts";
import { formats, may } from "../../data/session.ts";
import { accounts, channelName, loadAccounts, findAccount } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { useWork } from "../../../ui/use-work.ts";
import { Button } from "../../../ui/button.tsx";
import { ChannelLabel } from "../../channel/channel-label.tsx";
import { say } from "../../../ui/toasts.tsx";
import { dayOfRow } from "./counts.ts";
import { Part } from "./part.tsx";
import { countPosts } from "../../../shared/texts.ts";

/** Times that did well, for each channel on request. A person sets them. */
export function Suggestions() {
  const channels = (accounts.value ?? []).filter(
    ({ status, capabilities }) => status !== "disconnected" && capabilities.analytics.post.length > 0,
  );
  if (channels.length === 0 || !may("accounts")) return null;
  return (
    <Part title="When to post" basis="Out of the last 180 days, 24 hours after each post">
      <p class="muted">Hours of the week at which posts of a channel did at least as well as usual.</p>
      <ul class="rows">
        {channels.map((account) => (
          <ChannelRow key={account.id} account={account} />
        ))}
      </ul>
    </Part>
  );
}

function ChannelRow({ account }: { readonly account: Account }) {
  const [suggestion, setSuggestion] = useState<SlotSuggestion | null>(null);
  const { isBusy, error, run } = useWork();
  const propose = (): Promise<boolean> =>
    run(async () => {
      const args = { accountId: account.id, dryRun: true, suggest: true };
      setSuggestion((await call("update_account", args)).suggestion ?? null);
    });
  const apply = (): Promise<boolean> =>
    run(async () => {
      // What others set meanwhile is what comes back.
      await loadAccounts();
      const before = findAccount(account.id)?.schedule ?? null;
      await call("update_account", { accountId: account.id, schedule: suggestion?.schedule ?? null });
      await loadAccounts();
      setSuggestion(null);
      say(`${channelName(account.id)} has these slots now.`, () => void putBack(before));
    });
  const putBack = (before: Account["schedule"]): Promise<boolean> =>
    run(async () => {
      await call("update_account", { accountId: account.id, schedule: before });
      await loadAccounts();
    });
  return (
    <li>
      <div class="about">
        <ChannelLabel accountId={account.id} />
        {error !== null && (
          <span class="note bad-text" role="alert">
            {error}
          </span>
        )}
        {suggestion !== null && <Proposal suggestion={suggestion} />}
      </div>
      {suggestion?.schedule ? (
        <Button
          isSmall
          kind="main"
          isBusy={isBusy}
          aria-label={`Use these times for ${channelName(account.id)}`}
          onClick={apply}
        >
          Use these times
        </Button>
      ) : (
        <Button
          isSmall
          isBusy={isBusy}
          aria-label={`Propose times for ${channelName(account.id)}`}
          onClick={propose}
        >
          <Clock aria-hidden="true" />
          {suggestion === null ? "Propose times" : "Ask again"}
        </Button>
      )}
    </li>
  );
}

const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/** Monday, so that rows are the days in this order. */
const MONDAY = 1;

function Proposal({
  suggestion: { evidence, metric, usual, posts, reason, schedule },
}: {
  readonly suggestion: SlotSuggestion;
}) {
  if (reason !== null)
    return (
      <p class="note muted" role="status">
        {reason}
      </p>
    );
  return (
    <div role="status" class="stack tight">
      <ul class="proposed">
        {evidence.map(({ day, time, median, posts: of }) => (
          <li key={`${day} ${time}`}>
            <b>
              {formats.value.weekday(dayOfRow(DAYS.indexOf(day), MONDAY))} {time}
            </b>
            <span class="note muted">
              {median.toLocaleString("en")} {metric}, of {countPosts(of)}
            </span>
          </li>
        ))}
      </ul>
      <p class="note muted">
        Medians. Usual for the channel: {usual?.toLocaleString("en") ?? "not known"}, of {countPosts(posts)}.
        Times in {schedule?.timezone ?? ""}. They replace its slots, and posts that wait stay where they are.
      </p>
    </div>
  );
}
