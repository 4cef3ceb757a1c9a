import { createHash } from "node:crypto";
import type { WindowButton } from "../../connecting/connect-page.ts";
import { html, Html } from "../pages/html.ts";

/** Only what the page of that address says counts: any window that knows ours may send messages. */
const FILL_CODE = `
for (const button of document.querySelectorAll(".sign-in")) {
  button.hidden = false;
  const { url, field, key } = button.dataset;
  let opened = null;
  button.addEventListener("click", () => {
    opened = window.open(url, "_blank", "popup,width=600,height=700");
  });
  addEventListener("message", ({ origin, data }) => {
    const value = data?.[key];
    if (opened === null || origin !== new URL(url).origin || typeof value !== "string") return;
    document.getElementById(field).value = value;
    opened.close();
    button.textContent = "Signed in: go on below";
  });
}
`;

/** What a page with the button allows: this script and no other. */
export const FILLING = {
  "script-src": [`'sha256-${createHash("sha256").update(FILL_CODE).digest("base64")}'`],
};

/** Opens the platform's own page, which fills a field of the form in. Without scripts the person enters it. */
export function signInButton({ label, url, field, messageKey }: WindowButton): Html {
  return html`<p>
      <button
        type="button"
        class="sign-in"
        data-url="${url}"
        data-field="${field}"
        data-key="${messageKey}"
        aria-live="polite"
        hidden
      >
        ${label}
      </button>
    </p>
    ${new Html(`<script>${FILL_CODE}</script>`)}`;
}
