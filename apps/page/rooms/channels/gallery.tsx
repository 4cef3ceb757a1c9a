import { ArrowLeft } from "lucide-preact";
import { useState } from "preact/hooks";
import type { PlatformListing } from "../../../../src/domain/accounts/platform-listing.ts";
import { useLoad } from "../../data/load.ts";
import { session } from "../../data/session.ts";
import { loadPlatforms, offline, platforms } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { Badge } from "../../ui/badges.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { PlatformGlyph } from "../../ui/channel.tsx";
import { Field } from "../../ui/field.tsx";
import { Room } from "../../ui/room.tsx";
import { Bones, Problem } from "../../ui/states.tsx";
import { takesInShort } from "./capability-words.ts";
import { cannotComeBack } from "./guide.ts";
import { LIST, pathToConnect } from "./paths.ts";

/** All platforms, to choose the one that a channel is on. */
export function Gallery() {
  const [wanted, setWanted] = useState("");
  const all = platforms.value;
  const found = (all ?? []).filter((one) => isMeant(one, wanted));
  return (
    <Room
      title="Connect a channel"
      lead="Choose the platform. The next page leads you through it."
      actions={
        <ButtonLink kind="quiet" href={LIST}>
          <ArrowLeft aria-hidden="true" />
          All channels
        </ButtonLink>
      }
    >
      <Field label="Search a platform" class="platform-search">
        {(control) => (
          <input
            {...control}
            type="search"
            autocomplete="off"
            value={wanted}
            onInput={(event) => setWanted(event.currentTarget.value)}
          />
        )}
      </Field>
      <ComingBack />
      {all === null ? (
        offline.value === null ? (
          <Bones label="The platforms are loading" />
        ) : (
          <Problem sentence={offline.value} onRetry={() => void loadPlatforms().catch(() => {})} />
        )
      ) : (
        <>
          <p class="unseen" role="status">
            {found.length === 1 ? "1 platform" : `${found.length} platforms`}
          </p>
          {found.length === 0 && (
            <p class="muted">
              No platform is called so. A service of your own can be reached by{" "}
              <a href={pathToConnect("webhook")}>a webhook channel</a>.
            </p>
          )}
          <ul class="platform-tiles">
            {found.toSorted(byReadiness).map((listing) => (
              <PlatformTile key={listing.provider} listing={listing} />
            ))}
          </ul>
        </>
      )}
    </Room>
  );
}

function PlatformTile({ listing }: { readonly listing: PlatformListing }) {
  const { provider, title, configured } = listing;
  return (
    <li>
      <a class="platform-tile" href={pathToConnect(provider)}>
        <PlatformGlyph provider={provider} />
        <span class="platform-title">{title}</span>
        <span class="muted note">{takesInShort(listing)}</span>
        {configured ? (
          <Badge tint="published" sign="✓" label="Ready" />
        ) : (
          <Badge tint="open" sign="○" label="Needs an app" />
        )}
      </a>
    </li>
  );
}

function isMeant({ provider, title }: PlatformListing, wanted: string): boolean {
  const words = wanted.toLowerCase().split(/\s+/);
  return words.every((word) => `${provider} ${title}`.toLowerCase().includes(word));
}

/** What can be connected now stands first. */
function byReadiness(a: PlatformListing, b: PlatformListing): number {
  return Number(b.configured) - Number(a.configured) || a.title.localeCompare(b.title, "en");
}

/** So many platforms are told whole in one answer. */
const AT_ONCE = 10;

/** Platforms that send people to https addresses alone, where this server has none. */
function ComingBack() {
  const isHttps = session.value?.publicUrl.startsWith("https:") === true;
  const asked = isHttps ? [] : (platforms.value ?? []).filter(({ connect }) => connect === "oauth");
  const names = asked.map(({ provider }) => provider);
  const { data } = useLoad(async (signal) => {
    const parts = Array.from({ length: Math.ceil(names.length / AT_ONCE) }, (_, at) =>
      names.slice(at * AT_ONCE, (at + 1) * AT_ONCE),
    );
    const answers = await Promise.all(
      parts.map((provider) => call("list_platforms", { provider }, { signal })),
    );
    return answers.flatMap((answer) => answer.platforms.filter(cannotComeBack).map(({ title }) => title));
  }, names.join());
  if (data === null || data.length === 0) return null;
  return (
    <p class="muted note">
      {new Intl.ListFormat("en-GB").format(data)} send people back to https addresses alone, and this Posthorn
      has none: the browser then ends at an address that you copy and paste into the page where you began.
    </p>
  );
}
