import {
  siBluesky,
  siDailymotion,
  siDevdotto,
  siDiscord,
  siFacebook,
  siFarcaster,
  siGhost,
  siGoogle,
  siHashnode,
  siInstagram,
  siLemmy,
  siListmonk,
  siMastodon,
  siMatrix,
  siMisskey,
  siPeertube,
  siPinterest,
  siPixelfed,
  siReddit,
  siRss,
  siTelegram,
  siThreads,
  siTiktok,
  siTumblr,
  siVimeo,
  siWordpress,
  siX,
  siYoutube,
} from "simple-icons";
import { Webhook } from "lucide-preact";
import { besidePlatform } from "../../../src/domain/accounts/channel-names.ts";
import { channelName, findAccount, platformTitle } from "../data/shared-data.ts";

/** Marks of simple-icons (CC0). Platforms that forbid theirs have two letters. */
const MARKS: Readonly<Record<string, { readonly path: string }>> = {
  bluesky: siBluesky,
  dailymotion: siDailymotion,
  devto: siDevdotto,
  discord: siDiscord,
  facebook: siFacebook,
  farcaster: siFarcaster,
  feed: siRss,
  ghost: siGhost,
  google_business: siGoogle,
  hashnode: siHashnode,
  instagram: siInstagram,
  lemmy: siLemmy,
  listmonk: siListmonk,
  mastodon: siMastodon,
  matrix: siMatrix,
  misskey: siMisskey,
  peertube: siPeertube,
  pinterest: siPinterest,
  pixelfed: siPixelfed,
  reddit: siReddit,
  telegram: siTelegram,
  threads: siThreads,
  tiktok: siTiktok,
  tumblr: siTumblr,
  vimeo: siVimeo,
  wordpress: siWordpress,
  x: siX,
  youtube: siYoutube,
};

const LETTERS: Readonly<Record<string, string>> = { linkedin: "in", slack: "Sl", nostr: "No" };

/** The mark of a platform, beside its name or a channel's. */
export function PlatformGlyph({ provider }: { readonly provider: string }) {
  const mark = MARKS[provider];
  return (
    <span class="glyph" aria-hidden="true">
      {mark !== undefined ? (
        <svg viewBox="0 0 24 24">
          <path d={mark.path} />
        </svg>
      ) : provider === "webhook" ? (
        <Webhook size={14} />
      ) : (
        (LETTERS[provider] ?? platformTitle(provider).slice(0, 2))
      )}
    </span>
  );
}

/** A channel by its platform's mark and its name. */
export function ChannelLabel({ accountId }: { readonly accountId: string }) {
  const account = findAccount(accountId);
  return (
    <span class="channel">
      {account !== null && <PlatformGlyph provider={account.provider} />}
      <span class="name" dir="auto">
        <ChannelName accountId={accountId} />
      </span>
    </span>
  );
}

/** What it is called, beside its platform's mark: who does not see that hears the platform. */
export function ChannelName({ accountId }: { readonly accountId: string }) {
  const account = findAccount(accountId);
  const called = channelName(accountId);
  if (account === null) return <>{called}</>;
  const title = platformTitle(account.provider);
  return (
    <>
      {called}
      {besidePlatform(called, title) !== called && <span class="unseen"> ({title})</span>}
    </>
  );
}
