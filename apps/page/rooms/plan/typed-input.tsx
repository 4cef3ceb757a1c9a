import type { InputHTMLAttributes } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface TypedInputProps extends Omit<InputHTMLAttributes, "value" | "onChange"> {
  readonly value: string;
  onValue(value: string): void;
}

/** A field that is told when it is left or Enter is pressed. What is typed until then stays when the room is drawn anew. */
export function TypedInput({ value, onValue, ...rest }: TypedInputProps) {
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (field.current !== null) field.current.value = value;
  }, [value]);
  return <input {...rest} ref={field} onChange={(event) => onValue(event.currentTarget.value.trim())} />;
}
