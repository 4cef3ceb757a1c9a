import type { InputHTMLAttributes } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface TypedInputProps extends Omit<InputHTMLAttributes, "value" | "onChange"> {
  readonly value: string;
  onValue(value: string): void;
  /** Passed on while one types, too, a moment after the last key. */
  readonly isLive?: boolean;
}

const LIVE_AFTER_MS = 300;

/** A field that is told when it is left or Enter is pressed. What is typed until then stays when the room is drawn anew. */
export function TypedInput({ value, onValue, isLive = false, ...rest }: TypedInputProps) {
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const latest = useRef(onValue);
  latest.current = onValue;
  useLayoutEffect(() => {
    const { current: input } = field;
    // What is being typed goes on.
    const isTyped = isLive && input === document.activeElement;
    if (input !== null && !isTyped) input.value = value;
  }, [value]);
  useLayoutEffect(() => () => clearTimeout(timer.current), []);
  const passOn = (): void => {
    clearTimeout(timer.current);
    latest.current(field.current?.value.trim() ?? "");
  };
  const typed = (): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(passOn, LIVE_AFTER_MS);
  };
  return <input {...rest} ref={field} onChange={passOn} onInput={isLive ? typed : undefined} />;
}
