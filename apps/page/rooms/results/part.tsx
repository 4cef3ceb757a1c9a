import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface PartProps {
  readonly title: string;
  /** How many posts it rests on. */
  readonly basis: string;
  /** What is pointed at. */
  readonly aside?: string;
  /** Downloads. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** One answer of the room, with what it rests on. */
export function Part({ title, basis, aside = "", actions, children }: PartProps) {
  const id = useId();
  return (
    <section class="card result" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        <p class="muted note">{aside === "" ? basis : aside}</p>
      </header>
      {children}
      {actions !== undefined && <div class="buttons result-actions">{actions}</div>}
    </section>
  );
}

/** Where a comparison would be drawn, and would be chance. */
export function TooFew({ posts, few }: { readonly posts: string; readonly few: number }) {
  return (
    <p class="too-few">
      <b>Too few posts to say anything.</b>{" "}
      <span class="muted">
        What {posts} would show is chance. With {few} or more it is drawn here.
      </span>
    </p>
  );
}
