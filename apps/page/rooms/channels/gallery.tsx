import { ArrowLeft } from "lucide-preact";
import { useState } from "preact/hooks";
import type { PlatformListing } from "../../../../src/domain/accounts/platform-listing.ts";
import { loadPlatforms, platforms } from "../../data/shared-data.ts";
import { Badge } from "../../../ui/badges.tsx";
import { ButtonLink } from "../../../ui/button.tsx";
import { PlatformGlyph } from "../../channel/channel-label.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Room } from "../../../ui/room.tsx";
import { Bones, Problem } from "../../../ui/states.tsx";
import { findPlatforms } from "./find-platforms.ts";
import { takesInShort } from "./capability-words.ts";
import { LIST, pathToConnect } from "./paths.ts";
import { offline } from "../../../shared/reach.ts";

/** All platforms, to choose the one that a channel is on. */
export function Gallery() {
  const [wanted, setWanted] = useState("");
  const all = platforms.value;
  const found = findPlatforms(all ?? [], wanted);
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
      <TextField
        label="Search a platform"
        class="platform-search"
        type="search"
        autocomplete="off"
        value={wanted}
        onText={setWanted}
      />
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
              No platform of this name can be connected yet. To reach another service, connect{" "}
              <a href={pathToConnect("webhook")}>a webhook</a>: Posthorn sends each post to an address of
              yours.
            </p>
          )}
          <ul class="platform-tiles">
            {found.toSorted(byUse).map((listing) => (
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
        <span class="muted note">{needInWords(listing)}</span>
        {configured ? (
          <Badge tint="published" sign="✓" label="Ready" />
        ) : (
          <Badge tint="open" sign="○" label="Needs an app" />
        )}
      </a>
    </li>
  );
}

/** The most used, in this order; the others follow by their names. */
const POPULAR = ["instagram", "facebook", "tiktok", "youtube", "linkedin", "x", "threads", "pinterest"];

function byUse(a: PlatformListing, b: PlatformListing): number {
  const placeOf = ({ provider }: PlatformListing): number => {
    const place = POPULAR.indexOf(provider);
    return place === -1 ? POPULAR.length : place;
  };
  return placeOf(a) - placeOf(b) || a.title.localeCompare(b.title, "en");
}

/** What a person must have to connect a channel there. */
function needInWords({ title, connect, configured }: PlatformListing): string {
  if (connect === "none") return "You need nothing else";
  if (connect === "secrets") return `You need a password or key from ${title}`;
  return configured ? "You need your account there" : `You need an app registered at ${title}, once`;
}
