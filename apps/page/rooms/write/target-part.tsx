import { useState } from "preact/hooks";
import { channelName, platformTitle, findAccount } from "../../data/shared-data.ts";
import { timezone } from "../../data/session.ts";
import { Button } from "../../../ui/button.tsx";
import { ChannelLabel } from "../../channel/channel-label.tsx";
import { DayField } from "../../../ui/field.tsx";
import type { Composer } from "./composer.ts";
import type { Field as PlatformField } from "./fields.ts";
import { newKey, type OwnContent, type TargetForm, withField } from "./form.ts";
import { addFiles, MediaPart } from "./media-part.tsx";
import { MetadataField } from "./metadata-field.tsx";
import { ownFields } from "./platform-fields.ts";
import { PostingPart } from "./posting-part.tsx";
import type { Remark } from "./remarks.ts";
import { Remarks } from "./remarks.tsx";
import { TextArea } from "./text-part.tsx";
import { say } from "../../../ui/toasts.tsx";

interface TargetPartProps {
  readonly composer: Composer;
  readonly target: TargetForm;
  readonly remarks: readonly Remark[];
}

/** One channel: what its platform asks for, and what is different there. */
export function TargetPart({ composer, target, remarks }: TargetPartProps) {
  const { accountId, metadata } = target;
  const isPost = composer.post !== null;
  const fields = ownFields(accountId);
  const isPosting = ({ kind }: PlatformField): boolean => kind === "permit" || kind === "disclosure";
  const required = fields.filter((field) => field.isRequired && !isPosting(field));
  const [isOpen, setIsOpen] = useState(hasOwn(target));
  if (isPost && fields.length === 0 && remarks.length === 0) return null;
  const set = (change: (target: TargetForm) => TargetForm): void =>
    composer.edit((now) => ({
      ...now,
      targets: now.targets.map((one) => (one.accountId === accountId ? change(one) : one)),
    }));
  // A post has one channel, whose fields are the post's.
  const values = isPost ? composer.form.value.metadata : metadata;
  const setField = (key: string, value: unknown): void => {
    if (isPost) composer.edit((now) => ({ ...now, metadata: withField(now.metadata, key, value) }));
    else set((now) => ({ ...now, metadata: withField(now.metadata, key, value) }));
  };
  /** With what was taken away here before. */
  const customize = (): void => {
    const before = composer.ownAside.get(accountId);
    if (before !== undefined) set((now) => ({ ...now, ...before }));
    setIsOpen(true);
  };
  const takeBack = (): void => {
    const { caption, media, at } = target;
    set((now) => ({ ...now, caption: null, media: null, at: null }));
    setIsOpen(false);
    if (!hasOwn(target)) return;
    composer.ownAside.set(accountId, { caption, media, at });
    say(`${channelName(accountId)} gets what all get.`, customize);
  };
  return (
    <section class="card target" aria-label={channelName(accountId)}>
      <div class="target-head">
        <h2>
          <ChannelLabel accountId={accountId} />
        </h2>
        {!isPost && (
          <Button isSmall kind="quiet" aria-expanded={isOpen} onClick={isOpen ? takeBack : customize}>
            {isOpen ? "Same as the others" : "Customize"}
          </Button>
        )}
      </div>
      <Remarks remarks={remarks} isNamed={false} />
      <PostingPart {...{ accountId, fields, values, setField }} />
      {required.map((field) => (
        <MetadataField
          key={field.key}
          {...{ field, accountId }}
          value={values[field.key]}
          onChange={(value) => setField(field.key, value)}
        />
      ))}
      {isOpen && !isPost && <ChannelContent {...{ composer, target, set }} />}
      <MoreFields
        {...{ accountId, values, setField }}
        fields={fields.filter((field) => !field.isRequired && !isPosting(field))}
      />
    </section>
  );
}

function hasOwn({ caption, media, at }: TargetForm): boolean {
  return caption !== null || media !== null || at !== null;
}

interface ChannelContentProps {
  readonly composer: Composer;
  readonly target: TargetForm;
  set(change: (target: TargetForm) => TargetForm): void;
}

/** Its own text, media and time. */
function ChannelContent({ composer, target, set }: ChannelContentProps) {
  const form = composer.form.value;
  const { accountId, caption, media, at } = target;
  const name = channelName(accountId);
  /** What was there before it was unticked. */
  const [last, setLast] = useState<OwnContent>({ caption, media, at });
  const toggle = <Key extends keyof OwnContent>(key: Key, shared: OwnContent[Key]): void => {
    if (target[key] !== null) setLast({ ...last, [key]: target[key] });
    set((now) => ({ ...now, [key]: now[key] === null ? (last[key] ?? shared) : null }));
  };
  const changeMedia = (change: (items: typeof form.media) => typeof form.media): void =>
    set((now) => ({ ...now, media: change(now.media ?? []) }));
  return (
    <div class="stack">
      <div class="stack tight">
        <label class="check">
          <input
            type="checkbox"
            checked={caption !== null}
            onChange={() => toggle("caption", form.caption)}
          />
          Another text
        </label>
        {caption !== null && (
          <TextArea
            label={`Text for ${name}`}
            value={caption}
            rows={4}
            onText={(text) => set((now) => ({ ...now, caption: text }))}
            onFiles={(files) => {
              if (media === null) set((now) => ({ ...now, media: [] }));
              addFiles(files, changeMedia);
            }}
          />
        )}
      </div>
      <div class="stack tight">
        <label class="check">
          <input
            type="checkbox"
            checked={media !== null}
            onChange={() =>
              toggle(
                "media",
                form.media.map((one) => ({ ...one, key: newKey() })),
              )
            }
          />
          Other pictures or videos
        </label>
        {media !== null && <MediaPart label={name} media={media} onChange={changeMedia} />}
      </div>
      {form.when !== "repeat" && (
        <div class="stack tight">
          <label class="check">
            <input type="checkbox" checked={at !== null} onChange={() => toggle("at", form.at)} />
            Another time
          </label>
          {at !== null && (
            <DayField
              label={`Time for ${name}`}
              help={`Time zone: ${timezone.value}`}
              type="datetime-local"
              value={at}
              onText={(text) => set((now) => ({ ...now, at: text }))}
            />
          )}
        </div>
      )}
    </div>
  );
}

interface MoreFieldsProps {
  readonly accountId: string;
  readonly fields: readonly PlatformField[];
  readonly values: Readonly<Record<string, unknown>>;
  setField(key: string, value: unknown): void;
}

/** Made when it is first opened: some fields ask the platform for their values. */
function MoreFields({ accountId, fields, values, setField }: MoreFieldsProps) {
  const isUsed = fields.some(({ key }) => Object.hasOwn(values, key));
  const [isOpen, setIsOpen] = useState(isUsed);
  if (fields.length === 0) return null;
  const title = platformTitle(findAccount(accountId)?.provider ?? "");
  return (
    <details
      class="more-fields"
      open={isOpen}
      onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
    >
      <summary>More for {title}</summary>
      {isOpen && (
        <div class="fields-grid">
          {fields.map((field) => (
            <MetadataField
              key={field.key}
              {...{ field, accountId }}
              value={values[field.key]}
              onChange={(value) => setField(field.key, value)}
            />
          ))}
        </div>
      )}
    </details>
  );
}
