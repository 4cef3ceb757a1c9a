import { html, type Html } from "./html.ts";

export interface View {
  readonly title: string;
  readonly body: Html;
  /** Directives of its policy beside the strict ones. */
  readonly allow?: Readonly<Record<string, readonly string[]>>;
}

export function messageView(heading: string, text: string): View {
  return {
    title: heading,
    body: html`<section class="card">
      <h1>${heading}</h1>
      <p>${text}</p>
    </section>`,
  };
}
