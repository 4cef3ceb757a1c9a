import { TriangleAlert } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";

/** Where there is nothing yet: what will be shown, and what to do. */
export function Empty({
  icon,
  title,
  text,
  children,
}: {
  readonly icon: ComponentChildren;
  readonly title: string;
  readonly text: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="state">
      {icon}
      <h2>{title}</h2>
      <p>{text}</p>
      {children && <div class="buttons">{children}</div>}
    </div>
  );
}

/** What went wrong, with a way to try it again. */
export function Problem({
  sentence,
  onRetry,
}: {
  readonly sentence: string;
  readonly onRetry?: (() => void) | undefined;
}) {
  return (
    <div class="problem" role="alert">
      <TriangleAlert aria-hidden="true" size={18} />
      <p>
        <Sentence text={sentence} />
      </p>
      {onRetry && (
        <Button isSmall onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** A sentence of the server's: what it sets in backticks is to be typed. */
export function Sentence({ text }: { readonly text: string }) {
  return <>{text.split("`").map((piece, at) => (at % 2 === 1 ? <code key={at}>{piece}</code> : piece))}</>;
}

/** While something is loaded: grey lines in its shape. */
export function Bones({ rows = 4, label }: { readonly rows?: number; readonly label: string }) {
  return (
    <div class="bones" role="status" aria-label={label}>
      {Array.from({ length: rows }, (_, at) => (
        <i key={at} />
      ))}
    </div>
  );
}
