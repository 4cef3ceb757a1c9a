import { useEffect, useState } from "preact/hooks";
import type { Choices } from "../../../../src/domain/accounts/platform-listing.ts";
import { wordsOfValue } from "../../../../src/domain/posts/for-people.ts";
import { textOf } from "../../../shared/json.ts";
import { findAccount, platformTitle } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { useRefusal } from "../../../ui/use-work.ts";
import { Button } from "../../../ui/button.tsx";
import { Field as Labelled } from "../../../ui/field.tsx";
import { sentenceOf } from "../../../shared/texts.ts";
import type { Field } from "./fields.ts";
import { MediaPart } from "./media-part.tsx";
import { newKey } from "./form.ts";
import { PollField } from "./poll-field.tsx";

interface MetadataFieldProps {
  readonly field: Field;
  readonly value: unknown;
  /** Whose choices are asked for. */
  readonly accountId: string;
  /** Beside the label: which channels take it. */
  readonly takers?: string;
  readonly error?: string | undefined;
  onChange(value: unknown): void;
}

/** One field of a platform, as its schema tells it. */
export function MetadataField({ field, value, accountId, takers = "", error, onChange }: MetadataFieldProps) {
  const { label, kind, isRequired } = field;
  // What the label says already needs no saying twice.
  const help = field.help.replace(/\.$/, "") === label ? "" : field.help;
  const title = platformTitle(findAccount(accountId)?.provider ?? "");
  const usual =
    field.usual !== "" ? `Default: ${field.usual}` : `As usual on ${takers === "" ? title : "each platform"}`;
  if (kind === "poll") return <PollField {...{ field, value, takers, onChange }} />;
  if (kind === "picture") return <PictureField {...{ field, value, onChange }} />;
  const name = `${label}${takers}${isRequired ? "" : " (optional)"}`;
  return (
    <Labelled label={name} help={help || undefined} error={error}>
      {(control) => {
        const own = { ...control, required: isRequired, "aria-required": isRequired };
        if (kind === "flag") return <FlagSelect {...{ own, value, onChange, usual }} />;
        if (kind === "choice") return <OptionSelect {...{ own, field, value, onChange, usual }} />;
        if (kind === "lookup") return <Lookup {...{ own, field, value, accountId, onChange }} />;
        if (kind === "list") return <ListInput own={own} value={value} onChange={onChange} />;
        if (kind === "long")
          return (
            <textarea
              {...own}
              rows={2}
              dir="auto"
              value={textOf(value)}
              onInput={(event) => onChange(event.currentTarget.value)}
            />
          );
        return (
          <input
            {...own}
            type={kind === "number" ? "number" : kind === "address" ? "url" : "text"}
            dir="auto"
            placeholder={kind === "address" ? "https://" : undefined}
            value={typeof value === "number" ? String(value) : textOf(value)}
            onInput={({ currentTarget: { value: text } }) =>
              onChange(kind === "number" && text !== "" ? Number(text) : text)
            }
          />
        );
      }}
    </Labelled>
  );
}

type ControlAttributes = Readonly<Record<string, string | boolean | undefined>>;
interface ControlProps {
  readonly own: ControlAttributes;
  readonly value: unknown;
  onChange(value: unknown): void;
}

/** Left out, a flag is as the platform has it, so there are three values. */
function FlagSelect({ own, value, usual, onChange }: ControlProps & { readonly usual: string }) {
  const chosen = typeof value === "boolean" ? String(value) : "";
  return (
    <select
      {...own}
      value={chosen}
      onChange={({ currentTarget }) =>
        onChange(currentTarget.value === "" ? undefined : currentTarget.value === "true")
      }
    >
      <option value="">{usual}</option>
      <option value="true">Yes</option>
      <option value="false">No</option>
    </select>
  );
}

function OptionSelect({
  own,
  field,
  value,
  usual,
  onChange,
}: ControlProps & { readonly field: Field; readonly usual: string }) {
  return (
    <select {...own} value={textOf(value)} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
      <option value="">{field.isRequired ? "Choose…" : usual}</option>
      {field.options.map((option) => (
        <option key={option} value={option}>
          {wordsOfValue(option)}
        </option>
      ))}
    </select>
  );
}

/** Texts between commas. What is typed stays as it is typed. */
function ListInput({ own, value, onChange }: ControlProps) {
  const items = Array.isArray(value) ? value.map(textOf) : [];
  const [text, setText] = useState(items.join(", "));
  const split = (typed: string): string[] =>
    typed
      .split(",")
      .map((item) => item.trim().replace(/^#/, ""))
      .filter((item) => item !== "");
  const shown = split(text).join() === items.join() ? text : items.join(", ");
  return (
    <input
      {...own}
      type="text"
      dir="auto"
      placeholder="Separate them by commas"
      value={shown}
      onInput={({ currentTarget }) => {
        setText(currentTarget.value);
        onChange(split(currentTarget.value));
      }}
    />
  );
}

interface LookupProps extends ControlProps {
  readonly field: Field;
  readonly accountId: string;
}

/** Values that only the platform knows. Where it does not tell them, one is typed. */
function Lookup({ own, field, value, accountId, onChange }: LookupProps) {
  const [choices, setChoices] = useState<Choices["choices"] | null>(null);
  const [error, setError] = useRefusal();
  const [isTyped, setIsTyped] = useState(false);
  useEffect(() => {
    const asked = new AbortController();
    call("list_choices", { accountId, field: field.key }, { signal: asked.signal }).then(
      (answer) => setChoices(answer.choices),
      (reason: unknown) => {
        if (!asked.signal.aborted) setError(sentenceOf(reason));
      },
    );
    return () => asked.abort();
  }, [accountId, field.key]);
  const chosen = textOf(value);
  const isKnown = choices?.some((choice) => choice.value === chosen) ?? false;
  if (isTyped || error !== null)
    return (
      <div class="stack tight">
        <input
          {...own}
          type="text"
          value={chosen}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
        {error !== null && <p class="warned">{error} Until then it can be typed.</p>}
      </div>
    );
  return (
    <div class="beside">
      <select {...own} value={chosen} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">{choices === null ? "Loading…" : field.isRequired ? "Choose…" : "None"}</option>
        {chosen !== "" && !isKnown && <option value={chosen}>{chosen}</option>}
        {choices?.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      {field.options.length === 0 && (
        <Button
          isSmall
          kind="quiet"
          aria-label={`Type ${field.label} instead`}
          onClick={() => setIsTyped(true)}
        >
          Type it
        </Button>
      )}
    </div>
  );
}

function PictureField({ field, value, onChange }: Omit<ControlProps, "own"> & { readonly field: Field }) {
  const url = textOf(value);
  const [uploading, setUploading] = useState<string | null>(null);
  const media =
    url !== "" || uploading !== null ? [{ key: uploading ?? newKeyOf(url), url, altText: "" }] : [];
  return (
    <fieldset class="plain">
      <legend>{field.label} (optional)</legend>
      {field.help !== "" && <p class="help">{field.help}</p>}
      <MediaPart
        label={field.label}
        media={media}
        isSingle
        onChange={(change) => {
          const [one] = change(media).slice(-1);
          setUploading(one !== undefined && one.url === "" ? one.key : null);
          onChange(one?.url ?? "");
        }}
      />
    </fieldset>
  );
}

const keys = new Map<string, string>();

/** The same for the same address, so that its row stays. */
function newKeyOf(url: string): string {
  const key = keys.get(url) ?? newKey();
  keys.set(url, key);
  return key;
}
