import { createHash } from "node:crypto";
import { html, Html } from "./html.ts";

/**
 * Brings the buttons to life. Browsers give a page its clipboard only over https or on this machine; elsewhere
 * the text is selected and copied as a person would.
 */
export const COPY_SCRIPT = `
for (const button of document.querySelectorAll(".copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = button.previousElementSibling;
    let isCopied = true;
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      getSelection().selectAllChildren(text);
      isCopied = document.execCommand("copy");
    }
    button.textContent = isCopied ? "Copied" : "Selected";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
}
`;

/** A script for the end of a page. */
export function scriptOf(text: string): Html {
  return new Html(`<script>${text}</script>`);
}

/** Lets the browser run this script and no other. */
export function sourceOf(script: string): string {
  return `'sha256-${createHash("sha256").update(script).digest("base64")}'`;
}

/** What a page with something to copy allows. */
export const COPYING = { "script-src": [sourceOf(COPY_SCRIPT)] };

/** A text with a button that copies it; the page takes `COPY_SCRIPT` along. */
export function snippet(text: string): Html {
  return html`<div class="snippet">
    <pre>${text}</pre>
    <button type="button" class="copy" aria-live="polite" hidden>Copy</button>
  </div>`;
}
