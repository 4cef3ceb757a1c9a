import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface RoomProps {
  readonly title: string;
  /** One sentence below the title. */
  readonly lead?: string;
  /** Beside the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A room of the page: its title is the window's, and takes the focus when one comes in. */
export function Room({ title, lead, actions, children }: RoomProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = `${title} · Posthorn`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <main class="room">
      <header class="room-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions && <div class="buttons">{actions}</div>}
        {lead && <p class="lead">{lead}</p>}
      </header>
      {children}
    </main>
  );
}
