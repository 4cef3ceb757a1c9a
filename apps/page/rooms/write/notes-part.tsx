import { useState } from "preact/hooks";
import { Field, TextField } from "../../../ui/field.tsx";
import type { Composer } from "./composer.ts";

/** For those who plan; never published. */
export function NotesPart({ composer }: { readonly composer: Composer }) {
  const { title, labels, note } = composer.form.value;
  const [typed, setTyped] = useState(labels.join(", "));
  const [isOpen] = useState(title !== "" || labels.length > 0 || note !== "");
  return (
    <details class="card more-fields" open={isOpen}>
      <summary>Labels, note and name (not published)</summary>
      <div class="stack">
        <TextField
          label="Labels (optional)"
          help="To find it by. Separate them by commas."
          type="text"
          dir="auto"
          value={typed}
          onText={(value) => {
            setTyped(value);
            composer.edit((now) => ({ ...now, labels: labelsOf(value) }));
          }}
        />
        <Field label="Note (optional)">
          {(control) => (
            <textarea
              {...control}
              rows={2}
              dir="auto"
              maxLength={5_000}
              value={note}
              onInput={({ currentTarget: { value } }) => composer.edit((now) => ({ ...now, note: value }))}
            />
          )}
        </Field>
        <TextField
          label="Name of the draft (optional)"
          help="What it is called under Review and in the plan."
          type="text"
          dir="auto"
          maxLength={300}
          value={title}
          onText={(value) => composer.edit((now) => ({ ...now, title: value }))}
        />
      </div>
    </details>
  );
}

const MOST_LABELS = 20;
const MOST_CHARS = 50;

function labelsOf(text: string): readonly string[] {
  const labels = text.split(",").map((label) => label.trim().slice(0, MOST_CHARS));
  return [...new Set(labels.filter((label) => label !== ""))].slice(0, MOST_LABELS);
}
