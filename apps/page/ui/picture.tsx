import { Film, Image, Music } from "lucide-preact";
import { useState } from "preact/hooks";
import { pictureUrl } from "../wire.ts";

interface PictureProps {
  readonly mediaUrl: string;
  /** What can be seen. Empty: it says nothing that is not said beside it. */
  readonly alt: string;
  readonly size: 96 | 240 | 480 | 960;
  readonly class?: string;
}

/** A small picture of a medium. A film, a sound and what cannot be read have a sign. */
export function Picture({ mediaUrl, alt, size, ...rest }: PictureProps) {
  const [missing, setMissing] = useState<string | null>(null);
  const kind = kindOf(mediaUrl);
  const Sign = kind === "video" ? Film : kind === "audio" ? Music : Image;
  return (
    <span class={`picture ${rest.class ?? ""}`}>
      {kind === "video" || kind === "audio" || missing === mediaUrl ? (
        <Sign role="img" aria-label={alt || kind} size={24} />
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
function kindOf(mediaUrl: string): "image" | "video" | "audio" {
  const path = mediaUrl.replace(/[?#].*$/s, "");
  if (/\.(m4v|mkv|mov|mp4|webm)$/i.test(path)) return "video";
  return /\.(aac|flac|m4a|mp3|ogg|opus|wav)$/i.test(path) ? "audio" : "image";
}
