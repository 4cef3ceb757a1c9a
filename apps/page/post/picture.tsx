import { FileText, Film, Image, Music } from "lucide-preact";
import { useState } from "preact/hooks";
import { pictureUrl } from "../data/wire.ts";

interface PictureProps {
  readonly mediaUrl: string;
  /** What can be seen. Empty: it says nothing that is not said beside it. */
  readonly alt: string;
  readonly size: 96 | 240 | 480 | 960;
  readonly class?: string;
  /** Pages of a document, if known. */
  readonly pages?: number | null;
  /** Of a file that has no address yet. */
  readonly name?: string;
}

const SIGNS = { image: Image, video: Film, audio: Music, document: FileText };

/** A small picture of a medium. Videos, sounds, documents and unreadable files have an icon. */
export function Picture({ mediaUrl, alt, size, pages = null, name = "", ...rest }: PictureProps) {
  const [missing, setMissing] = useState<string | null>(null);
  const kind = kindOf(mediaUrl);
  const Sign = SIGNS[kind];
  const ending = /\.(\w{2,5})$/.exec(name === "" ? mediaUrl.replace(/[?#].*$/s, "") : name)?.[1] ?? "";
  return (
    <span class={`picture ${rest.class ?? ""}`}>
      {kind !== "image" || mediaUrl === "" || missing === mediaUrl ? (
        <>
          <Sign role="img" aria-label={alt || kind} size={24} />
          {kind === "image" && ending !== "" && <span class="note">{ending.toUpperCase()}</span>}
          {pages !== null && <span class="note">{pages === 1 ? "1 page" : `${pages} pages`}</span>}
        </>
      ) : (
        <img
          src={pictureUrl(mediaUrl, size)}
          alt={alt}
          loading="lazy"
          decoding="async"
          onError={() => setMissing(mediaUrl)}
        />
      )}
    </span>
  );
}

/** What it seems to be by its address. */
function kindOf(mediaUrl: string): keyof typeof SIGNS {
  const path = mediaUrl.replace(/[?#].*$/s, "");
  if (/\.(m4v|mkv|mov|mp4|webm)$/i.test(path)) return "video";
  if (/\.pdf$/i.test(path)) return "document";
  return /\.(aac|flac|m4a|mp3|ogg|opus|wav)$/i.test(path) ? "audio" : "image";
}
