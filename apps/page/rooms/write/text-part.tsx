import { ChartBar, Link2, ListPlus, MessageCircle, Plus, Trash2, Type } from "lucide-preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { channelName, findAccount, platformTitle } from "../../data/shared-data.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { say } from "../../../ui/toasts.tsx";
import type { Composer } from "./composer.ts";
import { type Form, newKey, type ThreadPart, withField } from "./form.ts";
import { addFiles, filesOf, MediaPart } from "./media-part.tsx";
import { MetadataField } from "./metadata-field.tsx";
import { NEW_POLL } from "./poll.ts";
import { type SharedField, sharedFields, takersOf } from "./platform-fields.ts";
import type { Remark } from "./remarks.ts";
import { Remarks } from "./remarks.tsx";
import { listed } from "../../../shared/texts.ts";

/** Shown by a button of their own; the rest is under "More fields". */
const QUICK = [
  { key: "title", icon: Type },
  { key: "link", icon: Link2 },
  { key: "firstComment", icon: MessageCircle },
  { key: "poll", icon: ChartBar },
] as const;

interface TextPartProps {
  readonly composer: Composer;
  /** What is said of a shared field. */
  remarksAt(place: string): readonly Remark[];
}

/** What all channels get: text, media, what follows, and the fields that mean the same everywhere. */
export function TextPart({ composer, remarksAt }: TextPartProps) {
  const form = composer.form.value;
  const { targets, metadata, media, parts } = form;
  const [added, setAdded] = useState<readonly string[]>([]);
  const [newest, setNewest] = useState<string | null>(null);
  const fields = sharedFields(targets);
  const isShown = (field: SharedField): boolean =>
    field.isRequired || added.includes(field.key) || Object.hasOwn(metadata, field.key);
  const isQuick = (field: SharedField): boolean => QUICK.some(({ key }) => key === field.key);
  const setField = (key: string, value: unknown): void =>
    composer.edit((now) => ({ ...now, metadata: withField(now.metadata, key, value) }));
  const changeMedia = (change: (media: Form["media"]) => Form["media"]): void =>
    composer.edit((now) => ({ ...now, media: change(now.media) }));
  const addPart = (): void =>
    composer.edit((now) => ({ ...now, parts: [...now.parts, { key: newKey(), caption: "", medium: null }] }));
  const show = (key: string): void => {
    setAdded([...added, key]);
    setNewest(key);
    // Left empty, it is asked about before anything goes out.
    if (key === "poll") setField(key, NEW_POLL);
  };
  const threads = takersOf(targets, "thread");
  const later = fields.filter((field) => !isShown(field) && !isQuick(field));
  return (
    <section class="card write-text" aria-label="Post">
      <TextArea
        label="Text"
        placeholder="What is new?"
        value={form.caption}
        rows={5}
        onText={(caption) => composer.edit((now) => ({ ...now, caption }))}
        onFiles={(files) => addFiles(files, changeMedia)}
      />
      <Remarks remarks={remarksAt("caption")} />
      <MediaPart label="the post" media={media} onChange={changeMedia} />
      <Remarks remarks={remarksAt("media")} />
      {parts.length > 0 && <Parts {...{ composer, parts, threads }} />}
      <Remarks remarks={remarksAt("thread")} />
      {fields.filter(isShown).map((field) => (
        <div key={field.key} class="shared-field">
          <FocusedArea isNow={newest === field.key}>
            <MetadataField
              field={field}
              value={metadata[field.key]}
              accountId={field.accountIds[0] ?? ""}
              takers={takersText(field, targets.length)}
              onChange={(value) => {
                if (field.kind === "poll" && value === undefined)
                  setAdded(added.filter((key) => key !== field.key));
                setField(field.key, value);
              }}
            />
          </FocusedArea>
          <Remarks remarks={remarksAt(field.key)} />
        </div>
      ))}
      <div class="buttons add-row">
        {threads.length > 0 && (
          <Button isSmall kind="quiet" onClick={addPart}>
            <ListPlus aria-hidden="true" />
            Thread part
          </Button>
        )}
        {QUICK.map(({ key, icon: Icon }) => {
          const field = fields.find((one) => one.key === key);
          if (field === undefined || isShown(field)) return null;
          return (
            <Button key={key} isSmall kind="quiet" onClick={() => show(key)}>
              <Icon aria-hidden="true" />
              {field.label}
            </Button>
          );
        })}
      </div>
      {later.length > 0 && (
        <details class="more-fields">
          <summary>More fields</summary>
          <div class="buttons">
            {later.map(({ key, label }) => (
              <Button key={key} isSmall onClick={() => show(key)}>
                <Plus aria-hidden="true" />
                {label}
              </Button>
            ))}
          </div>
        </details>
      )}
    </section>
  );
}

/** Where not every channel takes it, those that do. */
function takersText({ accountIds }: SharedField, all: number): string {
  if (accountIds.length === all) return "";
  const titles = new Set(accountIds.map((id) => platformTitle(findAccount(id)?.provider ?? "")));
  return `, for ${listed([...titles])}`;
}

/** Puts the focus into a field that was just added. */
function FocusedArea({
  isNow,
  children,
}: {
  readonly isNow: boolean;
  readonly children: preact.ComponentChildren;
}) {
  const box = useRef<HTMLDivElement>(null);
  // Before the next key is pressed.
  useLayoutEffect(() => {
    const control = isNow
      ? box.current?.querySelector("input:not([hidden]), textarea, select, button")
      : null;
    if (control instanceof HTMLElement) control.focus();
  }, []);
  return <div ref={box}>{children}</div>;
}

interface TextAreaProps {
  readonly label: string;
  readonly placeholder?: string;
  readonly value: string;
  readonly rows: number;
  onText(text: string): void;
  onFiles?(files: readonly globalThis.File[]): void;
}

/** Text that grows with what is in it, and takes pictures that are pasted or dropped. */
export function TextArea({ label, placeholder, value, rows, onText, onFiles }: TextAreaProps) {
  const take = (event: Event, data: DataTransfer | null): void => {
    const files = filesOf(data);
    if (files.length === 0 || onFiles === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    onFiles(files);
  };
  return (
    <textarea
      class="input grows"
      aria-label={label}
      placeholder={placeholder}
      rows={rows}
      dir="auto"
      value={value}
      onInput={({ currentTarget }) => onText(currentTarget.value)}
      onPaste={(event) => take(event, event.clipboardData)}
      onDrop={(event) => take(event, event.dataTransfer)}
    />
  );
}

interface PartsProps {
  readonly composer: Composer;
  readonly parts: readonly ThreadPart[];
  readonly threads: readonly string[];
}

function Parts({ composer, parts, threads }: PartsProps) {
  const change = (key: string, set: (part: ThreadPart) => ThreadPart): void =>
    composer.edit((now) => ({
      ...now,
      parts: now.parts.map((part) => (part.key === key ? set(part) : part)),
    }));
  const remove = (key: string, at: number): void => {
    const removed = parts.filter((part) => part.key === key && part.caption.trim() !== "");
    composer.edit((now) => ({ ...now, parts: now.parts.filter((part) => part.key !== key) }));
    if (removed.length === 0) return;
    say(`Part ${at + 2} is removed.`, () =>
      composer.edit((now) => ({ ...now, parts: now.parts.toSpliced(at, 0, ...removed) })),
    );
  };
  return (
    <ol class="parts" aria-label="Thread">
      {parts.map(({ key, caption, medium }, at) => (
        <li key={key} class="part">
          <div class="part-head">
            <h2 class="part-name">Part {at + 2}</h2>
            <IconButton isSmall label={`Remove part ${at + 2}`} onClick={() => remove(key, at)}>
              <Trash2 aria-hidden="true" />
            </IconButton>
          </div>
          <TextArea
            label={`Text of part ${at + 2}`}
            value={caption}
            rows={3}
            onText={(text) => change(key, (part) => ({ ...part, caption: text }))}
          />
          <MediaPart
            label={`part ${at + 2}`}
            media={medium === null ? [] : [medium]}
            onChange={(edit) =>
              change(key, (part) => ({
                ...part,
                medium: edit(part.medium === null ? [] : [part.medium]).at(-1) ?? null,
              }))
            }
          />
        </li>
      ))}
      {threads.length < composer.form.value.targets.length && (
        <li class="muted note">
          {threads.length === 0
            ? "None of the chosen channels has threads, so the parts are left out."
            : `Only on ${listed(threads.map(channelName))}. Elsewhere the parts are left out.`}
        </li>
      )}
    </ol>
  );
}
