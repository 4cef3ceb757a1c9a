import type { Preview } from "../../../src/domain/posts/preview.ts";
import type { ComponentChildren } from "preact";
import { Picture } from "./picture.tsx";

type Count = Preview["count"];
type Media = Preview["media"];

/**
 * What a channel will show of a post: text, media, link and what follows. `renderText` writes a text in another
 * way, for what is marked in it; `at` counts its parts from 0.
 */
export function PostPreview({
  preview,
  renderText = (text) => text,
}: {
  readonly preview: Preview;
  renderText?(text: string, at: number): ComponentChildren;
}) {
  return (
    <div class="preview">
      <PreviewPart text={renderText(preview.text ?? "", 0)} media={preview.media} count={preview.count} />
      {preview.link !== null && (
        <p class="preview-link" dir="auto">
          {preview.link}
        </p>
      )}
      {preview.parts.map((part, at) => (
        <PreviewPart key={at} text={renderText(part.text, at + 1)} media={part.media} count={part.count} />
      ))}
      {preview.note !== null && <p class="muted note">{preview.note}</p>}
    </div>
  );
}

function PreviewPart({
  text,
  media,
  count,
}: {
  readonly text: ComponentChildren;
  readonly media: Media;
  readonly count: Count;
}) {
  const changes = media.flatMap(({ change }) => change ?? []);
  return (
    <div class="preview-part">
      {text !== "" && (
        <p class="preview-text" dir="auto">
          {text}
        </p>
      )}
      {media.length > 0 && (
        <div class={`preview-media of-${Math.min(media.length, 4)}`}>
          {media.map(({ url }) => (
            <Picture key={url} mediaUrl={url} alt="" size={480} />
          ))}
        </div>
      )}
      <CountNote count={count} />
      {changes.map((change) => (
        <p key={change} class="muted note">
          {change}
        </p>
      ))}
    </div>
  );
}

/** Ways of counting that have no name among people. */
const UNITS: Readonly<Record<string, string>> = {
  utf16: "characters",
  weighted: "characters",
  graphemes: "characters",
};

/** How long a text is, as the platform counts. */
export function CountNote({ count }: { readonly count: Count }) {
  if (count.max === null) return null;
  const left = count.max - count.length;
  const unit = UNITS[count.unit] ?? count.unit;
  return (
    <p class={left < 0 ? "note count-over" : "note muted"}>
      {left < 0 ? `${-left} ${unit} too long` : `${count.length} of ${count.max} ${unit}`}
    </p>
  );
}
