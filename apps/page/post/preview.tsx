import type { Preview } from "../../../src/domain/posts/preview.ts";
import { webAddress } from "../../shared/texts.ts";
import { channelName, findAccount, platformTitle } from "../data/shared-data.ts";
import { PlatformGlyph } from "../channel/channel-label.tsx";
import type { ComponentChildren } from "preact";
import { Picture } from "./picture.tsx";

type Count = Preview["count"];
type Media = Preview["media"];
/** The address at which a video or sound can be played. Null: unknown. */
type PlayableUrl = (mediaUrl: string) => string | null;

interface PostPreviewProps {
  readonly preview: Preview;
  /** Puts the channel's name above it. */
  readonly accountId?: string;
  readonly playableUrl?: PlayableUrl;
  /** Writes a text in another way, for what is marked in it. `at` counts its parts from 0. Default: as it is. */
  renderText?(text: string, at: number): ComponentChildren;
}

/** What a channel will show of a post: text, media, link and what follows. */
export function PostPreview({
  preview,
  accountId,
  playableUrl = () => null,
  renderText = (text) => text,
}: PostPreviewProps) {
  const { text, media, count, link, parts, note } = preview;
  const isEmpty = text === null && media.length === 0;
  return (
    <article class="preview" aria-label={accountId === undefined ? undefined : channelName(accountId)}>
      {accountId !== undefined && <PreviewHead accountId={accountId} />}
      {isEmpty && <p class="muted">Nothing to show yet.</p>}
      <PreviewPart {...{ media, count, link, playableUrl }} text={renderText(text ?? "", 0)} />
      {parts.map((part, at) => (
        <PreviewPart key={at} {...part} text={renderText(part.text, at + 1)} playableUrl={playableUrl} />
      ))}
      {note !== null && <p class="muted note">{note}</p>}
    </article>
  );
}

function PreviewHead({ accountId }: { readonly accountId: string }) {
  const account = findAccount(accountId);
  if (account === null) return null;
  return (
    <header class="preview-head">
      <PlatformGlyph provider={account.provider} />
      <div>
        <p class="preview-name" dir="auto">
          {account.name}
        </p>
        <p class="muted note" dir="auto">
          {platformTitle(account.provider)}
          {account.handle !== null && ` · ${account.handle}`}
        </p>
      </div>
    </header>
  );
}

interface PreviewPartProps {
  readonly text: ComponentChildren;
  readonly media: Media;
  readonly count: Count;
  readonly link?: string | null;
  readonly playableUrl: PlayableUrl;
}

function PreviewPart({ text, media, count, link = null, playableUrl }: PreviewPartProps) {
  const changes = new Set(media.flatMap(({ change }) => change ?? []));
  const shown = media.slice(0, 4);
  return (
    <div class="preview-part">
      {text !== "" && (
        <p class="preview-text" dir="auto">
          {text}
        </p>
      )}
      {shown.length > 0 && (
        <div class={`preview-media of-${shown.length}`}>
          {shown.map((one, at) => (
            <PreviewMedium key={`${one.url} ${at}`} medium={one} playable={playableUrl(one.url)} />
          ))}
          {media.length > shown.length && (
            <span class="preview-more">
              +{media.length - shown.length}
              <span class="unseen"> more</span>
            </span>
          )}
        </div>
      )}
      {link !== null && <LinkCard link={link} />}
      <CountNote count={count} />
      {[...changes].map((change) => (
        <p key={change} class="muted note">
          {change}
        </p>
      ))}
    </div>
  );
}

function PreviewMedium({
  medium,
  playable,
}: {
  readonly medium: Media[number];
  readonly playable: string | null;
}) {
  if (medium.type === "video" && playable !== null)
    return <video class="picture" src={playable} controls preload="metadata" aria-label="Video" />;
  return <Picture mediaUrl={medium.url} alt="" size={960} />;
}

/** Where the card leads to: the site first, as platforms show it. */
function LinkCard({ link }: { readonly link: string }) {
  const address = webAddress(link);
  return (
    <p class="preview-link" dir="auto">
      {address !== null && <strong>{new URL(address).hostname}</strong>}
      <span>{link}</span>
    </p>
  );
}

/** Platforms count in units that few people know: to them, those are characters. */
function unitOf({ unit }: Count): string {
  return unit === "bytes" ? "bytes" : "characters";
}

/** `10,000` */
function inDigits(count: number): string {
  return count.toLocaleString("en");
}

/** How long a text is, as the platform counts. */
function CountNote({ count }: { readonly count: Count }) {
  if (count.max === null) return null;
  const left = count.max - count.length;
  return (
    <p class={left < 0 ? "note count-over" : "note muted"}>
      {left < 0
        ? `${inDigits(-left)} ${unitOf(count)} too long`
        : `${inDigits(count.length)} of ${inDigits(count.max)} ${unitOf(count)}`}
    </p>
  );
}
