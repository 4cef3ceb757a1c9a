import {
  ArrowDown,
  ArrowUp,
  FolderOpen,
  GripVertical,
  ImagePlus,
  Pause,
  Play,
  RotateCw,
  Trash2,
} from "lucide-preact";
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { closeComplaints, complain } from "../../../ui/toasts.tsx";
import { Button, IconButton } from "../../../ui/button.tsx";
import { Picture } from "../../post/picture.tsx";
import { type Medium, moved, newKey } from "./form.ts";
import { Library } from "./library.tsx";
import { filesByUrl, playableUrl } from "./media-files.ts";
import { forget, kindOfFile, pause, resume, startUpload, type Upload, uploads } from "./uploads.ts";

type Change = (media: readonly Medium[]) => readonly Medium[];

interface MediaPartProps {
  /** What they are of, for those who hear the page. */
  readonly label: string;
  readonly media: readonly Medium[];
  /** One at most, and without an alt text. */
  readonly isSingle?: boolean;
  onChange(change: Change): void;
}

/** Takes files as they come: puts them into the list and sends them. */
export function addFiles(files: Iterable<globalThis.File>, onChange: (change: Change) => void): void {
  closeComplaints();
  for (const file of files) {
    if (kindOfFile(file) === null) {
      complain(`${file.name} is no picture, video, audio file or PDF, so it was not added.`);
      continue;
    }
    const key = newKey();
    onChange((media) => [...media, { key, url: "", altText: "" }]);
    const stored = (url: string): void =>
      onChange((media) => media.map((one) => (one.key === key ? { ...one, url } : one)));
    startUpload(key, file, stored).catch(() => {
      complain(`${file.name} could not be sent. Remove it and add it again.`);
    });
  }
}

/** What a paste or a drop holds of files. */
export function filesOf(data: DataTransfer | null): globalThis.File[] {
  return [...(data?.files ?? [])];
}

/** Pictures, videos, sounds and documents in order, each with its alt text. */
export function MediaPart({ label, media, isSingle = false, onChange }: MediaPartProps) {
  const picker = useRef<HTMLInputElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  const [dragged, setDragged] = useState<number | null>(null);
  const move = (from: number, to: number): void => onChange((items) => moved(items, from, to));
  return (
    <div
      class="media-part"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        event.stopPropagation();
        addFiles(filesOf(event.dataTransfer), onChange);
      }}
    >
      {media.length > 0 && (
        <ol class="media-list" aria-label={`Media of ${label}`}>
          {media.map((medium, at) => (
            <li
              key={medium.key}
              class="media-row"
              draggable={dragged === at || undefined}
              onDragStart={(event) => event.dataTransfer?.setData("text/plain", "")}
              onDragEnter={() => {
                if (dragged === null || dragged === at) return;
                move(dragged, at);
                setDragged(at);
              }}
              onDragEnd={() => setDragged(null)}
            >
              <MediumRow
                {...{ medium, isSingle, onChange }}
                number={at + 1}
                count={media.length}
                onMove={(by) => move(at, at + by)}
                onGrip={(isHeld) => setDragged(isHeld ? at : null)}
              />
            </li>
          ))}
        </ol>
      )}
      <div class="buttons">
        <Button isSmall kind="quiet" onClick={() => picker.current?.click()}>
          <ImagePlus aria-hidden="true" />
          {media.length === 0 ? "Picture or video" : isSingle ? "Another one" : "One more"}
          {label !== "" && <span class="unseen"> for {label}</span>}
        </Button>
        <Button isSmall kind="quiet" aria-haspopup="dialog" onClick={() => setIsOpen(true)}>
          <FolderOpen aria-hidden="true" />
          From your files
          {label !== "" && <span class="unseen"> for {label}</span>}
        </Button>
      </div>
      <input
        ref={picker}
        type="file"
        hidden
        multiple={!isSingle}
        accept="image/*,.heic,.heif,video/*,audio/*,application/pdf"
        aria-label={`Files for ${label}`}
        onChange={({ currentTarget }) => {
          addFiles([...(currentTarget.files ?? [])], onChange);
          currentTarget.value = "";
        }}
      />
      {isOpen && (
        <Library
          onClose={() => setIsOpen(false)}
          onPick={({ url, altText }) => {
            onChange((items) => [...items, { key: newKey(), url, altText: altText ?? "" }]);
            setIsOpen(false);
          }}
        />
      )}
    </div>
  );
}

interface MediumRowProps {
  readonly medium: Medium;
  readonly number: number;
  readonly count: number;
  readonly isSingle: boolean;
  onChange(change: Change): void;
  onMove(by: number): void;
  onGrip(isHeld: boolean): void;
}

function MediumRow({ medium, number, count, isSingle, onChange, onMove, onGrip }: MediumRowProps) {
  const upload = uploads.value.get(medium.key);
  const isThere = upload === undefined || upload.state === "done";
  const name = `${kindOf(medium, upload)} ${number}`;
  const remove = (): void => {
    forget(medium.key);
    onChange((items) => items.filter(({ key }) => key !== medium.key));
  };
  return (
    <>
      <MediumPicture {...{ medium, upload }} />
      <div class="media-what">
        {upload !== undefined && !isThere && <Progress upload={upload} />}
        {!isSingle && (
          <textarea
            class="input"
            rows={2}
            dir="auto"
            aria-label={`Alt text of ${name}`}
            placeholder="Alt text: what can be seen or heard, for those who cannot"
            value={medium.altText}
            onInput={({ currentTarget: { value: altText } }) =>
              onChange((items) => items.map((one) => (one.key === medium.key ? { ...one, altText } : one)))
            }
          />
        )}
        <div class="buttons">
          {count > 1 && (
            <>
              <span
                class="grip"
                aria-hidden="true"
                title="Drag to move"
                onPointerDown={() => onGrip(true)}
                onPointerUp={() => onGrip(false)}
              >
                <GripVertical size={18} />
              </span>
              <IconButton
                isSmall
                label={`Move ${name} up`}
                disabled={number === 1}
                onClick={() => onMove(-1)}
              >
                <ArrowUp aria-hidden="true" />
              </IconButton>
              <IconButton
                isSmall
                label={`Move ${name} down`}
                disabled={number === count}
                onClick={() => onMove(1)}
              >
                <ArrowDown aria-hidden="true" />
              </IconButton>
            </>
          )}
          {upload?.state === "sending" && (
            <IconButton isSmall label={`Pause ${name}`} onClick={() => pause(medium.key)}>
              <Pause aria-hidden="true" />
            </IconButton>
          )}
          {upload?.state === "paused" && (
            <IconButton isSmall label={`Go on with ${name}`} onClick={() => resume(medium.key)}>
              <Play aria-hidden="true" />
            </IconButton>
          )}
          {upload?.state === "failed" && (
            <IconButton isSmall label={`Send ${name} again`} onClick={() => resume(medium.key)}>
              <RotateCw aria-hidden="true" />
            </IconButton>
          )}
          <IconButton isSmall label={`Remove ${name}`} onClick={remove}>
            <Trash2 aria-hidden="true" />
          </IconButton>
        </div>
      </div>
    </>
  );
}

const KINDS: Readonly<Record<string, string>> = {
  image: "picture",
  video: "video",
  audio: "audio file",
  document: "document",
};

/** What people call it. Most that are known by an address alone are pictures. */
function kindOf({ url }: Medium, upload: Upload | undefined): string {
  return KINDS[upload?.kind ?? filesByUrl.value.get(url)?.type ?? "image"] ?? "file";
}

function MediumPicture({
  medium,
  upload,
}: {
  readonly medium: Medium;
  readonly upload: Upload | undefined;
}): JSX.Element {
  // What this browser does not show, such as HEIC: then the server's picture of it, once it is stored.
  const [unshown, setUnshown] = useState<string | null>(null);
  const film = upload?.kind === "video" ? upload.localUrl : playableUrl(medium.url);
  if (film !== null && film !== undefined && upload?.kind !== "image")
    return (
      <video
        class="media-thumb"
        src={film}
        controls
        preload="metadata"
        aria-label={medium.altText || "Video"}
      />
    );
  if (upload?.kind === "image" && unshown !== upload.localUrl)
    return (
      <span class="picture media-thumb">
        <img src={upload.localUrl} alt={medium.altText} onError={() => setUnshown(upload.localUrl)} />
      </span>
    );
  const pages = filesByUrl.value.get(medium.url)?.pages ?? null;
  // Until it is stored it has no address, which tells what it is.
  const mediaUrl = medium.url === "" && upload?.kind === "document" ? "document.pdf" : medium.url;
  const name = upload?.name ?? "";
  return <Picture class="media-thumb" {...{ mediaUrl, pages, name }} alt={medium.altText} size={240} />;
}

function Progress({ upload }: { readonly upload: Upload }) {
  const { name, sentBytes, sizeBytes, state, sentence } = upload;
  const percent = sizeBytes === 0 ? 0 : Math.floor((100 * sentBytes) / sizeBytes);
  return (
    <div class="upload">
      <p class="note" dir="auto">
        {name}
      </p>
      {state !== "failed" && <progress max={100} value={percent} aria-label={`${name}, sent`} />}
      <p class={state === "failed" ? "wrong note" : "muted note"} role="status">
        {state === "failed"
          ? sentence
          : state === "paused"
            ? `Paused at ${percent} %`
            : percent === 100
              ? "Being stored…"
              : `${percent} % sent`}
      </p>
    </div>
  );
}
