import { ExternalLink } from "lucide-preact";
import { useState } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import { Form, TextField } from "../../../ui/field.tsx";
import { UNSAVED, useLoss } from "../../../ui/leaving.ts";
import { Problem } from "../../../ui/states.tsx";
import { useWork } from "../../../ui/use-work.ts";
import { firstPageOf } from "../../data/own-link.ts";
import { call } from "../../data/tools.ts";
import { said } from "../../data/wire.ts";
import { Instructions, type StepsProps } from "./connect-instructions.tsx";
import { ConnectedStep, NotConnected, refresh, WaitingStep } from "./connect-outcome.tsx";
import { AT_START, type Connection } from "./connection.ts";
import { cannotComeBack, comesBackHere, needsServer, readRefusal } from "./guide.ts";

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
    <Form class="card stack" aria-label={`Connect ${listing.title}`} onSubmit={start}>
      <Instructions listing={listing} way={way} accountId={accountId} />
      {accountId === null && way !== null && needsServer(listing, way) && (
        <TextField
          label="Server"
          help={`The address of the server that the channel is on, for example social.example, or your handle there. ${listing.title} has many servers.`}
          error={error?.field === "instanceUrl" ? error.sentence : null}
          required
          inputMode="url"
          autocomplete="url"
          autocapitalize="off"
          spellcheck={false}
          maxLength={2_048}
          value={instanceUrl}
          onText={setInstanceUrl}
        />
      )}
      {isAtOnce && accountId === null && (
        <TextField
          label="Name"
          help="What to call the channel. It can be changed later."
          error={error?.field === "name" ? error.sentence : null}
          maxLength={100}
          placeholder={listing.title}
          value={name}
          onText={setName}
        />
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
    </Form>
  );
}
