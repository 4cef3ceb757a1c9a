import { ArrowLeft } from "lucide-preact";
import { useState } from "preact/hooks";
import type { PlatformListing } from "../../../../src/domain/accounts/platform-listing.ts";
import { useLoad } from "../../data/load.ts";
import { may } from "../../data/session.ts";
import {
  accounts,
  channelName,
  findAccount,
  loadPlatforms,
  platforms,
  platformTitle,
} from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { PlatformGlyph } from "../../channel/channel-label.tsx";
import { Room } from "../../../ui/room.tsx";
import { Bones, Problem } from "../../../ui/states.tsx";
import { CallError } from "../../data/wire.ts";
import { AppGuide } from "./app-guide.tsx";
import { takesInWords } from "./capability-words.ts";
import { ConnectSteps } from "./connect-steps.tsx";
import { ForgetApp } from "./forget-app.tsx";
import { appOwner, otherMissing, type Way } from "./guide.ts";
import { LIST, TO_CONNECT } from "./paths.ts";
import { listed } from "../../../shared/texts.ts";

interface ConnectPageProps {
  readonly provider: string;
  /** The channel to be reconnected. */
  readonly accountId: string | undefined;
}

/** One platform: how a channel on it is connected. */
export function ConnectPage({ provider, accountId }: ConnectPageProps) {
  const isKnown = platforms.value?.some((one) => one.provider === provider) ?? true;
  const listing = useLoad(async (signal) => {
    const answer = isKnown ? await call("list_platforms", { provider: [provider] }, { signal }) : null;
    const found = answer?.platforms[0];
    if (found === undefined)
      throw new CallError(404, "There is no such platform. Choose one of all platforms.");
    return found;
  }, `${provider} ${isKnown}`);
  const account = accountId === undefined ? null : findAccount(accountId);
  const isGone = accountId !== undefined && account === null && accounts.value !== null;
  const title = isKnown ? platformTitle(provider) : "a channel";
  const reload = (): void => {
    listing.reload();
    // What the gallery says of it may be old. It says so again when it is opened.
    loadPlatforms().catch(() => {});
  };
  return (
    <Room
      title={account === null ? `Connect ${title}` : `Reconnect “${channelName(account.id)}”`}
      {...(account !== null && { lead: `On ${title}. It keeps its posts, its slots and its name.` })}
      actions={
        <ButtonLink kind="quiet" href={account === null ? TO_CONNECT : LIST}>
          <ArrowLeft aria-hidden="true" />
          {account === null ? "All platforms" : "All channels"}
        </ButtonLink>
      }
    >
      {isGone ? (
        <Problem sentence="This channel is not there, or you may not see it. Choose another one, or connect a new one." />
      ) : listing.data !== null ? (
        <Platform
          key={listing.data.provider}
          listing={listing.data}
          accountId={account?.id ?? null}
          onChange={reload}
        />
      ) : listing.error !== null ? (
        <Problem sentence={listing.error} onRetry={listing.again} />
      ) : (
        <Bones label="The platform is loading" />
      )}
    </Room>
  );
}

interface PlatformProps {
  readonly listing: PlatformListing;
  readonly accountId: string | null;
  onChange(): void;
}

function Platform({ listing, accountId, onChange }: PlatformProps) {
  const ways = listing.connecting ?? [];
  const ready = ways.find(({ missing }) => missing.length === 0);
  // A channel is reconnected in the way that it was connected, unless the person says otherwise.
  const keepsWay = accountId !== null && ways.length > 1 && ready !== undefined;
  const [chosen, setChosen] = useState<string | null>(null);
  const usual = keepsWay ? null : (ready ?? ways[0] ?? null);
  const way = ways.find(({ name }) => name === chosen) ?? usual;
  const { capabilities } = listing;
  return (
    <div class="connect-columns">
      <div class="stack">
        {ways.length > 1 && <WayChoice ways={ways} chosen={way} keepsWay={keepsWay} onChoose={setChosen} />}
        {way !== null && way.missing.length > 0 ? (
          <MissingSetup key={way.name} listing={listing} way={way} onChange={onChange} />
        ) : (
          <ConnectSteps key={way?.name ?? ""} listing={listing} way={way} accountId={accountId} />
        )}
      </div>
      <aside class="stack connect-about">
        <p class="channel">
          <PlatformGlyph provider={listing.provider} />
          <strong>{listing.title}</strong>
        </p>
        {capabilities !== undefined && <p class="note">{takesInWords(capabilities)}.</p>}
        {way !== null && way.scopes.length > 0 && (
          <details>
            <summary class="note">What Posthorn asks to be allowed</summary>
            <ul class="scopes">
              {way.scopes.map((scope) => (
                <li key={scope}>
                  <code>{scope}</code>
                </li>
              ))}
            </ul>
          </details>
        )}
        <ForgetApp listing={listing} onForgotten={onChange} />
      </aside>
    </div>
  );
}

interface WayChoiceProps {
  readonly ways: readonly Way[];
  readonly chosen: Way | null;
  readonly keepsWay: boolean;
  onChoose(name: string | null): void;
}

function WayChoice({ ways, chosen, keepsWay, onChoose }: WayChoiceProps) {
  return (
    <fieldset class="ways">
      <legend>How to connect</legend>
      {keepsWay && (
        <label class="way">
          <input type="radio" name="way" checked={chosen === null} onChange={() => onChoose(null)} />
          <span>As it was connected before</span>
        </label>
      )}
      {ways.map((way) => (
        <label key={way.name} class="way">
          <input
            type="radio"
            name="way"
            checked={chosen?.name === way.name}
            onChange={() => onChoose(way.name)}
          />
          <span>
            {way.label}
            {way.missing.length > 0 && <span class="muted note"> needs an app first</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** What has to be there before this way can be used. */
function MissingSetup({
  listing,
  way,
  onChange,
}: Pick<PlatformProps, "listing" | "onChange"> & { readonly way: Way }) {
  const known = (platforms.value ?? []).map(({ provider }) => provider);
  const owner = appOwner(way, listing.provider, known);
  const others = otherMissing(way);
  const canEnter = may("admin") && owner !== null;
  return (
    <>
      {!canEnter && (
        <p class="hint">
          {listing.title} is not set up yet. Ask the administrator of this Posthorn for the settings{" "}
          {listed(way.missing)}
          {owner === null ? "." : ", or to enter the app on this page. The steps below are for them."}
        </p>
      )}
      {canEnter && others.length > 0 && (
        <p class="hint">
          It also takes the settings {listed(others)}. Set them where Posthorn runs, and start it again.
        </p>
      )}
      <AppGuide listing={listing} way={way} owner={owner} canEnter={canEnter} onStored={onChange} />
    </>
  );
}
