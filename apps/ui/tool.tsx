import type { JSX } from "preact";
import { classes } from "./classes.ts";

interface ToolProps extends JSX.HTMLAttributes<HTMLButtonElement> {
  /** The key by which it gets the focus again after a drawing. */
  readonly name?: string;
  readonly look?: "bad" | "main";
  /** What a sign alone does. */
  readonly label?: string;
}

/** A button of the frame around what an agent shows. */
export function Tool({ name, look, label, ...rest }: ToolProps) {
  const named = label !== undefined && { "aria-label": label, title: label };
  return <button type="button" class={classes("tool", look)} data-key={name} {...named} {...rest} />;
}

/** The shape of a state, beside its colour. `says`: what is heard in its place, where the text beside it may be cut. */
export function Sign({ sign, says }: { readonly sign: string; readonly says?: string }) {
  const spoken = says === undefined ? { "aria-hidden": true } : { role: "img" as const, "aria-label": says };
  return (
    <span class="sign" {...spoken}>
      {sign}
    </span>
  );
}
