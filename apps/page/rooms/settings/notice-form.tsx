import { useState } from "preact/hooks";
import type { EventKind, WebhookFormat } from "../../../../src/domain/webhooks/webhook.ts";
import { call } from "../../data/tools.ts";
import { useWork } from "../../../ui/use-work.ts";
import { Button } from "../../../ui/button.tsx";
import { Form, TextField } from "../../../ui/field.tsx";
import { SHOWN_ONCE, UNSAVED } from "../../../ui/leaving.ts";
import { Sheet } from "../../../ui/sheet.tsx";
import { Problem } from "../../../ui/states.tsx";
import { CopyBox } from "./copy-box.tsx";
import {
  EVENT_WORDS,
  EVENTS,
  type Fields,
  NOTICE_FORMAT_NAMES,
  NOTICE_FORMATS,
  type NoticeFormat,
  USUAL_EVENTS,
} from "./notice-formats.ts";

interface FormProps {
  onMade(): void;
  onClose(): void;
}

/** Where a person is told, and of what. */
export function NewNotice({ onMade, onClose }: FormProps) {
  const [format, setFormat] = useState<NoticeFormat>("ntfy");
  const [fields, setFields] = useState<Fields>({});
  const [events, setEvents] = useState(USUAL_EVENTS);
  const { isBusy, error, make } = useMakeWebhook();
  const isTyped = events !== USUAL_EVENTS || Object.values(fields).some((value) => value !== "");
  return (
    <Sheet title="New notice" loss={isTyped ? UNSAVED : null} onClose={onClose}>
      <Form
        class="stack"
        onSubmit={() => {
          const args = { format, url: NOTICE_FORMATS[format].address(fields), events };
          void make(args, () => {
            onMade();
            onClose();
          });
        }}
      >
        <fieldset class="choices">
          <legend>Where you read it</legend>
          <div class="segments">
            {NOTICE_FORMAT_NAMES.map((name) => (
              <label key={name}>
                <input
                  type="radio"
                  name="format"
                  checked={name === format}
                  onChange={() => {
                    setFormat(name);
                    setFields({});
                  }}
                />
                <span>{NOTICE_FORMATS[name].title}</span>
              </label>
            ))}
          </div>
        </fieldset>
        {NOTICE_FORMATS[format].fields.map(({ name, label, help, placeholder, type, isOptional = false }) => (
          <TextField
            key={`${format}-${name}`}
            label={isOptional ? `${label} (if there is one)` : label}
            help={help}
            type={type}
            placeholder={placeholder}
            required={!isOptional}
            autocomplete="off"
            spellcheck={false}
            value={fields[name] ?? ""}
            onText={(text) => setFields({ ...fields, [name]: text })}
          />
        ))}
        <EventChoice events={events} onChange={setEvents} />
        {error !== null && <Problem sentence={error} />}
        <div class="sheet-foot">
          <Button kind="main" type="submit" isBusy={isBusy}>
            Make it
          </Button>
        </div>
      </Form>
    </Sheet>
  );
}

/** An address of a program. Its secret is shown once. */
export function NewWebhook({ onMade, onClose }: FormProps) {
  const [url, setUrl] = useState("");
  const [events, setEvents] = useState(EVENTS);
  const [secret, setSecret] = useState<string | null>(null);
  const { isBusy, error, make } = useMakeWebhook();
  const isTyped = events !== EVENTS || url !== "";
  const loss = secret !== null ? SHOWN_ONCE : isTyped ? UNSAVED : null;
  return (
    <Sheet title="New webhook" loss={loss} onClose={onClose}>
      {secret !== null ? (
        <div class="stack">
          <p class="hint">The secret is shown this once. The program verifies messages with it.</p>
          <CopyBox label="The secret" text={secret} />
          <div class="sheet-foot">
            <Button onClick={onClose}>Done</Button>
          </div>
        </div>
      ) : (
        <Form
          class="stack"
          onSubmit={() => {
            void make({ format: "standard", url, events }, (made) => {
              onMade();
              setSecret(made);
            });
          }}
        >
          <TextField
            label="Address"
            help="It is sent signed JSON by POST, as Standard Webhooks describes it."
            type="url"
            required
            placeholder="https://example.com/hook"
            value={url}
            onText={setUrl}
          />
          <EventChoice events={events} onChange={setEvents} />
          {error !== null && <Problem sentence={error} />}
          <div class="sheet-foot">
            <Button kind="main" type="submit" isBusy={isBusy}>
              Make it
            </Button>
          </div>
        </Form>
      )}
    </Sheet>
  );
}

interface WebhookArgs {
  readonly format: WebhookFormat;
  readonly url: string;
  readonly events: readonly EventKind[];
}

function useMakeWebhook() {
  const { isBusy, error, setError, run } = useWork();
  const make = async (args: WebhookArgs, then: (secret: string) => void): Promise<void> => {
    if (args.events.length === 0) return setError("Events: none is chosen. Choose at least one.");
    await run(async () => {
      const { secret } = await call("create_webhook", { ...args });
      then(secret ?? "");
    });
  };
  return { error, isBusy, make };
}

interface EventChoiceProps {
  readonly events: readonly EventKind[];
  onChange(events: readonly EventKind[]): void;
}

function EventChoice({ events, onChange }: EventChoiceProps) {
  return (
    <fieldset class="choices">
      <legend>What is told</legend>
      <div class="picks">
        {EVENTS.map((one) => (
          <label key={one} class="choice line">
            <input
              type="checkbox"
              checked={events.includes(one)}
              onChange={(event) =>
                onChange(
                  event.currentTarget.checked ? [...events, one] : events.filter((other) => other !== one),
                )
              }
            />
            {EVENT_WORDS[one]}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
