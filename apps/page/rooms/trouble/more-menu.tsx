import { Ellipsis } from "lucide-preact";
import type { ComponentChildren } from "preact";

/** What else can be done with one thing. `about` says which. */
export function MoreMenu({
  about,
  children,
}: {
  readonly about: string;
  readonly children: ComponentChildren;
}) {
  return (
    <details
      class="more-menu"
      name="more-menu"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !event.currentTarget.open) return;
        event.currentTarget.open = false;
        event.currentTarget.querySelector("summary")?.focus();
      }}
      onFocusOut={(event) => {
        const { currentTarget, relatedTarget } = event;
        if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget))
          currentTarget.open = false;
      }}
      onClick={(event) => {
        const { target, currentTarget } = event;
        if (target instanceof Element && target.closest("a, button") !== null) currentTarget.open = false;
      }}
    >
      <summary class="button small bare quiet" aria-label={`More: ${about}`} title="More">
        <Ellipsis aria-hidden="true" />
      </summary>
      <div class="more-items">{children}</div>
    </details>
  );
}
