import { CircleCheck, ExternalLink } from "lucide-preact";
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Account } from "../../../../src/domain/accounts/account.ts";
import { sentenceOf } from "../../../shared/texts.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Problem } from "../../../ui/states.tsx";
import { channelName, findAccount, loadAccounts, loadStatus } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { Instructions, type StepsProps } from "./connect-instructions.tsx";
import { afterCheck, AT_START, connectedInWords, type Connection, type OpenLink } from "./connection.ts";
import { readInstructions } from "./guide.ts";
import { CopyText } from "./linked-text.tsx";
import { LIST, pathOfChannel, TO_CONNECT } from "./paths.ts";

/** What takes the place of a form takes its focus, too. */
function useFocus(): RefObject<HTMLElement> {
  const section = useRef<HTMLElement>(null);
  useEffect(() => section.current?.focus(), []);
  return section;
}

/** The channels are loaded again, and what waits for them may go on. */
export async function refresh(): Promise<void> {
  await Promise.all([loadAccounts(), loadStatus()]).catch(() => {});
}

const EVERY_MS = 2_000;

interface WaitingProps extends StepsProps {
  readonly link: OpenLink;
  onCheck(next: Connection): void;
}

/** While the person is on the page that connects. */
export function WaitingStep({ listing, way, accountId, link, onCheck }: WaitingProps) {
  const [trouble, setTrouble] = useState<string | null>(null);
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const check = async (): Promise<void> => {
      clearTimeout(timer);
      try {
        const next = afterCheck(link, await call("check_connection", { connectId: link.connectId }));
        if (isOver) return;
        setTrouble(null);
        if (next.step === "connected") await refresh();
        if (!isOver) onCheck(next);
      } catch (reason) {
        if (!isOver) setTrouble(sentenceOf(reason));
      }
      if (!isOver) timer = setTimeout(() => void check(), EVERY_MS);
    };
    timer = setTimeout(() => void check(), EVERY_MS);
    const comeBack = (): void => void (document.visibilityState === "visible" && check());
    document.addEventListener("visibilitychange", comeBack);
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", comeBack);
    };
  }, [link]);
  return (
    <section class="card stack" aria-label={`Connecting ${listing.title}`} ref={useFocus()} tabIndex={-1}>
      <p class="waiting-line" role="status">
        {link.note === null && <span class="spinner" aria-hidden="true" />}
        {link.note !== null
          ? "Not connected yet. Go on from the page beside this one, or stop and begin anew."
          : link.isChoosing
            ? "Several channels were found. Choose among them on the page beside this one."
            : "Waiting for you on the page beside this one…"}
      </p>
      {link.note !== null && (
        <p class="hint" role="alert">
          {link.note}
        </p>
      )}
      {trouble !== null && <Problem sentence={trouble} />}
      {way !== null && readInstructions(way.instructions).steps.length > 0 && (
        <Instructions listing={listing} way={way} accountId={accountId} />
      )}
      <div class="stack tight">
        <p class="muted note">
          No page opened, or you want to use another browser? The address works once, for 15 minutes:
        </p>
        <CopyText text={link.url} what="the address" />
      </div>
      <div class="buttons">
        <ButtonLink isOutside href={link.url}>
          <ExternalLink aria-hidden="true" />
          Open the page
        </ButtonLink>
        <Button kind="quiet" onClick={() => onCheck(AT_START)}>
          Stop waiting
        </Button>
      </div>
    </section>
  );
}

export function NotConnected({ sentence, onRetry }: { readonly sentence: string; onRetry(): void }) {
  return (
    <section class="card stack" aria-label="Not connected" ref={useFocus()} tabIndex={-1}>
      <Problem sentence={sentence} />
      <div class="buttons">
        <Button kind="main" onClick={onRetry}>
          Start again
        </Button>
        <ButtonLink href={TO_CONNECT}>Another platform</ButtonLink>
      </div>
    </section>
  );
}

/** Whether its name alone does not mean it. */
function hasNamesake({ id, name }: Account): boolean {
  return findAccount(id) !== null && channelName(id) !== name;
}

export function ConnectedStep({
  accounts,
}: {
  readonly accounts: Extract<Connection, { step: "connected" }>["accounts"];
}) {
  const [first] = accounts;
  return (
    <section class="card stack" aria-label="Connected" ref={useFocus()} tabIndex={-1}>
      <p class="done-line" role="status">
        <CircleCheck aria-hidden="true" />
        <strong dir="auto">{connectedInWords(accounts)}</strong>
      </p>
      {accounts.filter(hasNamesake).map(({ id }) => (
        <p key={id} dir="auto">
          Another channel goes by its name, so it is called “{channelName(id)}” here.{" "}
          <a href={pathOfChannel(id)}>Change its name</a>
        </p>
      ))}
      <p class="muted">Next, give it slots: the times of a week at which it posts.</p>
      <div class="buttons">
        <ButtonLink kind="main" href={first === undefined ? LIST : pathOfChannel(first.id)}>
          Set up its slots
        </ButtonLink>
        <ButtonLink href={TO_CONNECT}>Connect another</ButtonLink>
        <ButtonLink kind="quiet" href={LIST}>
          All channels
        </ButtonLink>
      </div>
    </section>
  );
}
