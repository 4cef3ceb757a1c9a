import type { ComponentChildren, JSX } from "preact";
import { textOf } from "../shared/json.ts";

type Kind = "plain" | "main" | "quiet" | "danger";

interface ButtonProps extends Omit<JSX.HTMLAttributes<HTMLButtonElement>, "icon"> {
  /** `main`: the one thing to do here. Default: `plain`. */
  readonly kind?: Kind;
  readonly isSmall?: boolean;
  /** The work is under way: the button keeps its place and does nothing. */
  readonly isBusy?: boolean;
  readonly type?: "button" | "submit";
  readonly disabled?: boolean;
  readonly children: ComponentChildren;
}

export function Button({
  kind = "plain",
  isSmall = false,
  isBusy = false,
  type = "button",
  onClick,
  ...rest
}: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      class={classOf(kind, isSmall, rest.class)}
      aria-disabled={isBusy || rest["aria-disabled"]}
      aria-busy={isBusy || undefined}
      onClick={isBusy ? (event) => event.preventDefault() : onClick}
    />
  );
}

/** A sign alone; `label` says what it does. */
export function IconButton({ label, ...rest }: ButtonProps & { readonly label: string }) {
  return (
    <Button kind="quiet" {...rest} class={`bare ${textOf(rest.class)}`} aria-label={label} title={label} />
  );
}

interface LinkProps {
  readonly href: string;
  readonly kind?: Kind;
  readonly isSmall?: boolean;
  readonly class?: string;
  /** Opens beside the page. */
  readonly isOutside?: boolean;
  readonly children: ComponentChildren;
}

/** What leads somewhere, and looks like a button. */
export function ButtonLink({ href, kind = "plain", isSmall = false, isOutside = false, ...rest }: LinkProps) {
  const outside = isOutside ? { target: "_blank", rel: "noreferrer noopener" } : {};
  return (
    <a href={href} {...outside} class={classOf(kind, isSmall, rest.class)}>
      {rest.children}
    </a>
  );
}

function classOf(kind: Kind, isSmall: boolean, more: unknown): string {
  return ["button", kind === "plain" ? "" : kind, isSmall ? "small" : "", textOf(more)]
    .filter((one) => one !== "")
    .join(" ");
}
