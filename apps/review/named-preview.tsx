import type { Draft } from "../shared/drafts.ts";
import { NO_TEXT, nameOf } from "../shared/texts.ts";

type Preview = NonNullable<Draft["targets"][number]["preview"]>;
type ThreadPart = Preview["parts"][number];

/** Longer texts scroll in their card, and the Tab key reaches them. */
const SCROLLS_CHARS = 600;

/** How a platform counts, as it is written behind a number. */
const UNITS: Readonly<Record<string, string>> = { utf16: "characters", weighted: "characters" };

/** What a channel will show. Nothing is loaded from elsewhere: a medium is told by its name. */
export function NamedPreview({ preview }: { readonly preview: Preview }) {
  const { text, media, parts, link, note } = preview;
  return (
    <>
      <Body text={text === "" && media.length === 0 ? NO_TEXT : text} media={media} />
      {parts.length > 0 && (
        <ol class="thread" aria-label="What follows">
          {parts.map((part, at) => (
            <li key={at}>
              <Body {...part} />
              <Count of={part} />
            </li>
          ))}
        </ol>
      )}
      {[link === null ? null : `Leads to ${link}`, note].map(
        (one) =>
          one !== null && (
            <p key={one} class="muted" dir="auto">
              {one}
            </p>
          ),
      )}
    </>
  );
}

function Body({ text, media }: Pick<ThreadPart, "text" | "media">) {
  return (
    <div class="body">
      {text !== "" && (
        <p class="text" dir="auto" tabIndex={text.length > SCROLLS_CHARS ? 0 : undefined}>
          {text}
        </p>
      )}
      {media.map(({ url, type, change, altText }, at) => {
        const alt = altText === null ? (type === "image" ? "No alternative text" : null) : `“${altText}”`;
        return (
          <p key={at} class="medium">
            <span class="muted">{type ?? "file"}</span>
            <span dir="auto">{nameOf(url)}</span>
            {[alt, change].map(
              (one) =>
                one !== null && (
                  <span key={one} class="muted" dir="auto">
                    {one}
                  </span>
                ),
            )}
          </p>
        );
      })}
    </div>
  );
}

export function Count({ of: { count } }: { readonly of: Pick<ThreadPart, "count"> }) {
  if (count === null || (count.max === null && count.length === 0)) return null;
  const { length, max, unit } = count;
  const isOver = max !== null && length > max;
  return (
    <span class={isOver ? "count over" : "count"}>
      {isOver && "! "}
      {max === null ? length : `${length} / ${max}`} {UNITS[unit] ?? unit}
      {isOver && <span class="unseen"> (too long)</span>}
    </span>
  );
}
