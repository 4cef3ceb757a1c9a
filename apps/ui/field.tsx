import { useId } from "preact/hooks";
import type { ComponentChildren, InputHTMLAttributes, JSX } from "preact";

interface FieldWords {
  readonly label: string;
  readonly help?: string | undefined;
  /** What is wrong with it. */
  readonly error?: string | null | undefined;
  /** What to look at; it can stay so. */
  readonly warning?: string | null | undefined;
  readonly class?: string | undefined;
}

interface FieldProps extends FieldWords {
  /** The control itself, with what ties it to label, help and error. */
  children(control: {
    readonly id: string;
    readonly class: string;
    readonly "aria-describedby": string | undefined;
    readonly "aria-invalid": "true" | undefined;
  }): JSX.Element;
}

interface FormProps extends Omit<JSX.HTMLAttributes<HTMLFormElement>, "onSubmit"> {
  readonly children: ComponentChildren;
  onSubmit(): unknown;
}

/** What is filled in and sent by Enter or a button. The page stays. */
export function Form({ onSubmit, ...rest }: FormProps) {
  return (
    <form
      {...rest}
      onSubmit={(event) => {
        event.preventDefault();
        void onSubmit();
      }}
    />
  );
}

/** A label, its control, and what is to be said about it. */
export function Field({ label, help, error, warning, children, ...rest }: FieldProps) {
  const id = useId();
  const told = [help && `${id}-help`, error && `${id}-error`, warning && `${id}-warning`].filter(Boolean);
  return (
    <div class={`field ${rest.class ?? ""}`}>
      <label for={id}>{label}</label>
      {help && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
      {children({
        id,
        class: "input",
        "aria-describedby": told.length === 0 ? undefined : told.join(" "),
        "aria-invalid": error ? "true" : undefined,
      })}
      {error && (
        <p class="wrong" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
      {warning && (
        <p class="warned" id={`${id}-warning`}>
          {warning}
        </p>
      )}
    </div>
  );
}

interface TextFieldProps extends FieldWords, Omit<InputHTMLAttributes, keyof FieldWords | "onInput"> {
  onText(text: string): void;
}

/** A field of one line. */
export function TextField({ label, help, error, warning, onText, ...rest }: TextFieldProps) {
  const { class: look, ...input } = rest;
  return (
    <Field {...{ label, help, error, warning }} class={look}>
      {(control) => (
        <input {...control} {...input} onInput={({ currentTarget }) => onText(currentTarget.value)} />
      )}
    </Field>
  );
}
