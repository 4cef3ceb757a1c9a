import { useId, useState } from "preact/hooks";
import type { ComponentChildren, InputHTMLAttributes, JSX, RefObject } from "preact";
import { yearProblem } from "../shared/wall-time.ts";

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

interface DayFieldProps extends TextFieldProps {
  readonly type: "date" | "datetime-local";
  readonly value: string;
  readonly input?: RefObject<HTMLInputElement>;
  /** What stands behind it. */
  readonly beside?: ComponentChildren;
}

/** A day, or a day and a time. While it is typed it is none yet, or one of another year: that is said once it is left. */
export function DayField({ label, help, error, warning, onText, input, beside, ...rest }: DayFieldProps) {
  const { class: look, ...others } = rest;
  const [isTyped, setIsTyped] = useState(false);
  const year = yearProblem(rest.value);
  const isUnderWay = isTyped && (year !== null || rest.value === "");
  return (
    <Field {...{ label, help, warning }} error={isUnderWay ? null : (error ?? year)} class={look}>
      {(control) => {
        const field = (
          <input
            {...control}
            {...others}
            ref={input ?? null}
            onInput={({ currentTarget }) => {
              setIsTyped(true);
              onText(currentTarget.value);
            }}
            onKeyDown={({ key }) => key === "Enter" && setIsTyped(false)}
            onBlur={() => setIsTyped(false)}
          />
        );
        if (beside === undefined) return field;
        return (
          <div class="beside">
            {field}
            {beside}
          </div>
        );
      }}
    </Field>
  );
}
