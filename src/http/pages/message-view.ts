import { html, type Html } from "./html.ts";

export interface View {
  readonly title: string;
  readonly body: Html;
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
