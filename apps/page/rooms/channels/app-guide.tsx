import { ExternalLink, TriangleAlert } from "lucide-preact";
import { useState } from "preact/hooks";
import type { PlatformListing } from "../../../../src/domain/accounts/platform-listing.ts";
import { webAddress, sentenceOf } from "../../../shared/texts.ts";
import { withValues } from "../../../shared/values.ts";
import { platformTitle } from "../../data/shared-data.ts";
import { useWork } from "../../../ui/use-work.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Form, TextField } from "../../../ui/field.tsx";
import { UNSAVED, useLoss } from "../../../ui/leaving.ts";
import { Problem } from "../../../ui/states.tsx";
import { say } from "../../../ui/toasts.tsx";
import { CallError, send } from "../../data/wire.ts";
import { stepForPage, type Way } from "./guide.ts";
import { CopyText, LinkedText } from "./linked-text.tsx";

interface GuideProps {
  readonly listing: PlatformListing;
  readonly way: Way;
  /** The platform that the app is registered at; null: it is no app that is missing. */
  readonly owner: string | null;
  readonly canEnter: boolean;
  onStored(): void;
}

/** How a person registers an app at a platform, and where its id and secret are entered. */
export function AppGuide({ listing, way, owner, canEnter, onStored }: GuideProps) {
  const { setup, redirectUrl, title } = listing;
  const scopes = way.scopes.join(" ");
  const copied = [redirectUrl ?? "", scopes];
  const isOfAnother = owner !== null && owner !== listing.provider;
  const isToldIn = (text: string): boolean => setup?.steps.some((step) => step.includes(text)) === true;
  const begin = setup === null || setup === undefined ? null : webAddress(setup.url);
  return (
    <>
      {isOfAnother && (
        <p class="hint">This way uses the app of {platformTitle(owner)}. The same app serves both.</p>
      )}
      {setup && (
        <section class="card stack" aria-labelledby="guide-title">
          <div class="stack tight">
            <h2 id="guide-title">Register an app at {title}</h2>
            <p class="muted">
              {title} lets in only apps that are registered. It is done once, and serves all channels there.
            </p>
          </div>
          {setup.needs.length > 0 && (
            <div class="stack tight">
              <h3>What it takes</h3>
              <Sentences texts={setup.needs} copied={copied} />
            </div>
          )}
          {setup.warnings.length > 0 && (
            <details class="warnings" open>
              <summary>
                <TriangleAlert aria-hidden="true" size={16} />
                Good to know before
              </summary>
              <Sentences texts={setup.warnings} copied={copied} />
            </details>
          )}
          <h3>Step by step</h3>
          <ol class="steps">
            {begin !== null && setup.steps[0]?.includes(begin) !== true && (
              <li>
                <ButtonLink isSmall isOutside href={begin}>
                  <ExternalLink aria-hidden="true" />
                  Open {new URL(begin).hostname}
                </ButtonLink>
              </li>
            )}
            {setup.steps.map((step) => (
              <li key={step}>
                <div>
                  <LinkedText text={canEnter ? stepForPage(step) : step} copied={copied} />
                </div>
              </li>
            ))}
          </ol>
          <dl class="facts">
            {redirectUrl && !isToldIn(redirectUrl) && (
              <div>
                <dt>Redirect address</dt>
                <dd>
                  <CopyText text={redirectUrl} what="the redirect address" />
                </dd>
              </div>
            )}
            {scopes !== "" && !isToldIn(scopes) && (
              <div>
                <dt>Scopes</dt>
                <dd>
                  <CopyText text={scopes} what="the scopes" />
                </dd>
              </div>
            )}
          </dl>
        </section>
      )}
      {canEnter && owner !== null && (
        <AppForm listing={listing} way={way} owner={owner} isOwnWay={!isOfAnother} onStored={onStored} />
      )}
    </>
  );
}

function Sentences({
  texts,
  copied,
}: {
  readonly texts: readonly string[];
  readonly copied: readonly string[];
}) {
  return (
    <ul class="sentences">
      {texts.map((text) => (
        <li key={text}>
          <LinkedText text={withValues(text)} copied={copied} />
        </li>
      ))}
    </ul>
  );
}

interface FormProps {
  readonly listing: PlatformListing;
  readonly way: Way;
  readonly owner: string;
  /** Whether the way is one of the platform that has the app. */
  readonly isOwnWay: boolean;
  onStored(): void;
}

function AppForm({ listing, way, owner, isOwnWay, onStored }: FormProps) {
  const [clientId, setClientId] = useState("");
  const [clientSecret, setClientSecret] = useState("");
  const { isBusy, error, run } = useWork();
  useLoss(clientId + clientSecret === "" ? null : UNSAVED);
  const needsSecret = way.missing.some((name) => name.endsWith("_CLIENT_SECRET"));
  const meaningOf = (ending: string): string | undefined => {
    const name = way.missing.find((one) => one.endsWith(ending));
    return listing.settings?.find((setting) => setting.name === name)?.meaning;
  };
  const store = (): Promise<boolean> =>
    run(
      async () => {
        const secret = clientSecret.trim();
        const state = await send(`/platforms/${encodeURIComponent(owner)}/app`, {
          method: "PUT",
          body: {
            clientId: clientId.trim(),
            ...(secret !== "" && { clientSecret: secret }),
            ...(isOwnWay && { way: way.name }),
          },
        });
        say(
          Object(state).isAccepted === true
            ? `${platformTitle(owner)} accepts the app. Now connect the channel.`
            : "The app is kept, and could not be tried. Connecting the channel shows whether it is right.",
        );
        onStored();
      },
      "work",
      appRefusal,
    );
  return (
    <Form class="card stack" aria-labelledby="app-title" onSubmit={store}>
      <div class="stack tight">
        <h2 id="app-title">Enter the app</h2>
        <p class="muted">Posthorn keeps the secret sealed, and shows it to no one.</p>
      </div>
      <TextField
        label="App id"
        help={sentence(meaningOf("_CLIENT_ID"))}
        required
        maxLength={500}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={clientId}
        onText={setClientId}
      />
      <TextField
        label={needsSecret ? "App secret" : "App secret, if the app has one"}
        help={sentence(meaningOf("_CLIENT_SECRET"))}
        type="password"
        required={needsSecret}
        maxLength={4_096}
        autocomplete="off"
        spellcheck={false}
        value={clientSecret}
        onText={setClientSecret}
      />
      {error !== null && <Problem sentence={error} />}
      <div class="buttons">
        <Button kind="main" type="submit" isBusy={isBusy}>
          Save and continue
        </Button>
      </div>
    </Form>
  );
}

function sentence(text: string | undefined): string | undefined {
  return text === undefined || text.endsWith(".") ? text : `${text}.`;
}

function appRefusal(reason: unknown): string {
  if (reason instanceof CallError && reason.status === 404)
    return "This Posthorn cannot keep apps here. Set the settings where it runs, and start it again.";
  return sentenceOf(reason);
}
