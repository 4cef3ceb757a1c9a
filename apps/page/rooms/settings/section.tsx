import type { ComponentChildren } from "preact";

interface SectionProps {
  /** Its anchor. */
  readonly id: string;
  readonly title: string;
  readonly lead?: string | undefined;
  /** Beside the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A part of the settings that an address can point at. */
export function Section({ id, title, lead, actions, children }: SectionProps) {
  return (
    <section id={id} class="card setting" aria-labelledby={`${id}-title`}>
      <header>
        <div>
          <h2 id={`${id}-title`}>{title}</h2>
          {lead && <p class="muted">{lead}</p>}
        </div>
        {actions && <div class="buttons">{actions}</div>}
      </header>
      {children}
    </section>
  );
}
