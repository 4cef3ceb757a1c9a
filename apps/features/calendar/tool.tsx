import type { JSX } from "preact";
import { classes } from "../../ui/classes.ts";

interface ToolProps extends JSX.HTMLAttributes<HTMLButtonElement> {
  /** What the focus finds it by when it is drawn anew. */
  readonly name?: string;
  readonly look?: "bad" | "main";
}

/** A button of the calendar's own frame. */
export function Tool({ name, look, ...rest }: ToolProps) {
  return <button type="button" class={classes("tool", look)} data-key={name} {...rest} />;
}

/** The shape of a state, beside its colour. */
export function Sign({ sign }: { readonly sign: string }) {
  return (
    <span class="sign" aria-hidden="true">
      {sign}
    </span>
  );
}
