import { CircleCheck, ExternalLink } from "lucide-preact";
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { PlatformListing } from "../../../../src/domain/accounts/platform-listing.ts";
import { firstPageOf } from "../../data/own-link.ts";
import { loadAccounts, loadStatus } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { useWork } from "../../../ui/use-work.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Field } from "../../../ui/field.tsx";
import { UNSAVED, useLoss } from "../../../ui/leaving.ts";
import { Problem } from "../../../ui/states.tsx";
import { said } from "../../wire.ts";
import { afterCheck, AT_START, type Connection, connectedInWords, type OpenLink } from "./connection.ts";
import {
  askedFor,
  cannotComeBack,
  comesBackHere,
  needsServer,
  readInstructions,
  readRefusal,
  type Way,
} from "./guide.ts";
import { CopyButton, CopyText, LinkedText } from "./linked-text.tsx";
import { LIST, pathOfChannel, TO_CONNECT } from "./paths.ts";
import { sentenceOf, listed } from "../../../shared/texts.ts";

interface StepsProps {
  readonly listing: PlatformListing;
  /** Null: as the channel was connected before. */
  readonly way: Way | null;
  readonly accountId: string | null;
}

const FIELDS = ["instanceUrl", "name"] as const;

/** From what has to be said first to the channel that is connected. */
export function ConnectSteps({ listing, way, accountId }: StepsProps) {
  const [connection, setConnection] = useState<Connection>(AT_START);
  const [instanceUrl, setInstanceUrl] = useState("");
  const [name, setName] = useState("");
  const { isBusy, run } = useWork();
  const isAtOnce = way?.kind === "none";
  useLoss(connection.step === "form" && instanceUrl + name !== "" ? UNSAVED : null);

  const begin = async (): Promise<void> => {
    // A window that is opened after an answer has come counts as unasked for, and browsers close it.
    const tab = isAtOnce ? null : window.open("", "_blank");
    try {
      const answer = await call("connect_channel", {
        provider: listing.provider,
        ...(way !== null && { way: way.name }),
        ...(accountId !== null && { accountId }),
        ...(instanceUrl.trim() !== "" && { instanceUrl: instanceUrl.trim() }),
        ...(name.trim() !== "" && { name: name.trim() }),
      });
      if (answer.url !== null && answer.connectId !== null) {
        if (tab !== null) {
          tab.opener = null;
          // An address that does not load is pasted on our own page, which stays open for it.
          const isPasted = way?.kind !== "secrets" && !comesBackHere(listing, location.origin);
          tab.location.replace(isPasted ? answer.url : await firstPageOf(answer.url));
        }
        const link = { connectId: answer.connectId, url: answer.url, note: null, isChoosing: false };
        setConnection({ step: "waiting", link });
      } else {
        tab?.close();
        await refresh();
        setConnection({ step: "connected", accounts: answer.accounts });
      }
    } catch (reason) {
      tab?.close();
      setConnection({ step: "form", error: readRefusal(said(reason), FIELDS) });
    }
  };
  const start = (): Promise<boolean> => run(begin);

  if (connection.step === "waiting")
    return (
      <WaitingStep
        listing={listing}
        way={way}
        accountId={accountId}
        link={connection.link}
        onCheck={setConnection}
      />
    );
  if (connection.step === "connected") return <ConnectedStep accounts={connection.accounts} />;
  if (connection.step === "failed" || connection.step === "expired") {
    const sentence =
      connection.step === "failed"
        ? connection.sentence
        : "The address was not used within 15 minutes and has expired. Nothing was connected.";
    return <NotConnected sentence={sentence} onRetry={() => setConnection(AT_START)} />;
  }
  const { error } = connection;
  return (
    <form
      class="card stack"
      aria-label={`Connect ${listing.title}`}
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <Instructions listing={listing} way={way} accountId={accountId} />
      {accountId === null && way !== null && needsServer(listing, way) && (
        <Field
          label="Server"
          help={`The address of the server that the channel is on, for example social.example, or your handle there. ${listing.title} has many servers.`}
          error={error?.field === "instanceUrl" ? error.sentence : null}
        >
          {(control) => (
            <input
              {...control}
              required
              inputMode="url"
              autocomplete="url"
              autocapitalize="off"
              spellcheck={false}
              maxLength={2_048}
              value={instanceUrl}
              onInput={(event) => setInstanceUrl(event.currentTarget.value)}
            />
          )}
        </Field>
      )}
      {isAtOnce && accountId === null && (
        <Field
          label="Name"
          help="What to call the channel. It can be changed later."
          error={error?.field === "name" ? error.sentence : null}
        >
          {(control) => (
            <input
              {...control}
              maxLength={100}
              placeholder={listing.title}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
      )}
      {error !== null && error.field === null && <Problem sentence={error.sentence} />}
      {!isAtOnce && (
        <p class="muted note">
          A page opens beside this one. This one notices when you are done there.
          {cannotComeBack(listing) &&
            way?.kind === "oauth" &&
            " At the end the browser shows an address that does not load. Copy all of it and paste it on that page."}
        </p>
      )}
      <div class="buttons">
        <Button kind="main" type="submit" isBusy={isBusy}>
          {isAtOnce ? "Connect" : "Open the page to connect"}
          {!isAtOnce && <ExternalLink aria-hidden="true" />}
        </Button>
      </div>
    </form>
  );
}

/** What takes the place of a form takes its focus, too. */
function useFocus(): RefObject<HTMLElement> {
  const section = useRef<HTMLElement>(null);
  useEffect(() => section.current?.focus(), []);
  return section;
}

/** The channels are loaded again, and what waits for them may go on. */
async function refresh(): Promise<void> {
  await Promise.all([loadAccounts(), loadStatus()]).catch(() => {});
}

function Instructions({ listing, way, accountId }: StepsProps) {
  if (way === null)
    return <p>It is connected again as it was before. What is still known needs not be entered once more.</p>;
  const { lead, steps, block } = readInstructions(way.instructions);
  const asked = askedFor(listing, way, accountId);
  return (
    <div class="stack">
      <h2>{way.kind === "none" ? `${listing.title} needs nothing` : way.label}</h2>
      {lead !== "" && (
        <p>
          <LinkedText text={lead} />
        </p>
      )}
      {steps.length > 0 && (
        <ol class="steps">
          {steps.map((step) => (
            <li key={step}>
              <div>
                <LinkedText text={step} />
              </div>
            </li>
          ))}
        </ol>
      )}
      {block !== null && (
        <div class="stack tight">
          <div class="buttons">
            <span class="muted note">To be pasted</span>
            <CopyButton text={block} what="the text" />
          </div>
          <pre class="block" tabIndex={0} aria-label="Text to be pasted">
            {block}
          </pre>
        </div>
      )}
      {asked.length > 0 && <p class="muted">The page asks for: {listed(asked)}.</p>}
    </div>
  );
}

const EVERY_MS = 2_000;

interface WaitingProps extends StepsProps {
  readonly link: OpenLink;
  onCheck(next: Connection): void;
}

/** While the person is on the page that connects. */
function WaitingStep({ listing, way, accountId, link, onCheck }: WaitingProps) {
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
        <span class="spinner" aria-hidden="true" />
        {link.isChoosing
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

function NotConnected({ sentence, onRetry }: { readonly sentence: string; onRetry(): void }) {
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

function ConnectedStep({
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
