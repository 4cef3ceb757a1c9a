import { useState } from "preact/hooks";
import type { Account } from "../../../../src/domain/accounts/account.ts";
import type { AccountAnalytics } from "../../../../src/domain/accounts/analytics.ts";
import type { Day } from "../../../shared/zone.ts";
import { formats } from "../../data/session.ts";
import { accounts, channelName, platformTitle } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { useWork } from "../../../ui/use-work.ts";
import { Button } from "../../../ui/button.tsx";
import { ChannelLabel } from "../../channel/channel-label.tsx";
import { figureInWords, figuresOf } from "./figures.ts";
import { Part } from "./part.tsx";

/** What the platforms say of a channel. Each is asked only on request. */
export function ChannelFigures({ from, to }: { readonly from: Day; readonly to: Day }) {
  const offering = (accounts.value ?? []).filter(
    ({ capabilities }) => capabilities.analytics.account.length > 0,
  );
  if (offering.length === 0) return null;
  return (
    <Part title="What platforms say" basis={formats.value.range(from, to)}>
      <p class="muted">
        Figures of the whole channel, as its platform counts them, with posts that were made elsewhere.
      </p>
      <ul class="rows">
        {offering.map((account) => (
          <ChannelRow key={`${account.id} ${from}`} account={account} from={from} to={to} />
        ))}
      </ul>
    </Part>
  );
}

interface ChannelRowProps {
  readonly account: Account;
  readonly from: Day;
  readonly to: Day;
}

function ChannelRow({ account, from, to }: ChannelRowProps) {
  const [answer, setAnswer] = useState<AccountAnalytics | null>(null);
  const { isBusy, error, run } = useWork();
  const platform = platformTitle(account.provider);
  const ask = (): Promise<boolean> =>
    run(async () => {
      const args = { accountId: account.id, from, to, granularity: "total" };
      setAnswer(await call("get_account_analytics", args));
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
        {answer !== null && <Figures answer={answer} />}
      </div>
      <Button
        isSmall
        isBusy={isBusy}
        aria-label={`Ask ${platform} about ${channelName(account.id)}`}
        onClick={ask}
      >
        {answer === null ? `Ask ${platform}` : "Ask again"}
      </Button>
    </li>
  );
}

function Figures({ answer }: { readonly answer: AccountAnalytics }) {
  const figures = figuresOf(answer.totals, answer.unavailable);
  const reasons = [...new Set(figures.flatMap(({ reason }) => reason ?? []))];
  return (
    <div class="stack tight" role="status">
      <dl class="figures">
        {figures.map(({ name, title, value }) => (
          <div key={name}>
            <dt>{title}</dt>
            <dd>
              <span aria-hidden={value === null}>{figureInWords(value)}</span>
              {value === null && <span class="unseen">not known</span>}
            </dd>
          </div>
        ))}
      </dl>
      {reasons.map((reason) => (
        <p key={reason} class="note muted">
          – {reason}
        </p>
      ))}
    </div>
  );
}
