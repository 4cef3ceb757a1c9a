import type { SetupPage, WaySetup } from "../../platform-io/set-up.ts";
import { COPY_SCRIPT, COPYING, scriptOf, snippet } from "../pages/copy-button.ts";
import { html, type Html } from "../pages/html.ts";
import { linkBeside, withLinks } from "../pages/links.ts";
import type { View } from "../pages/layout.ts";

/** How a platform is set up, whether it is already or not. */
export function setupPageView({ platformTitle, ways }: SetupPage): View {
  const title = `Set up ${platformTitle}`;
  return {
    title,
    allow: COPYING,
    body: html`<section class="card">
        <h1>${title}</h1>
        <p>
          This is done once for everybody, by the person who runs this Posthorn. Ask for a link to connect the
          channel afterwards.
        </p>
        ${ways.length === 1 ? null : html`<p>There are ${ways.length} ways. One of them is enough.</p>`}
      </section>
      ${ways.map(
        (way) =>
          html`<section class="card">
            ${ways.length === 1 ? null : html`<h2>${way.label}</h2>`} ${waySetupView(way)}
          </section>`,
      )}
      ${scriptOf(COPY_SCRIPT)}`,
  };
}

/** What it takes comes first: it decides whether somebody begins. */
export function waySetupView({ guide, redirectUrl, scopes, settings }: WaySetup): Html {
  // One is entered there, not opened.
  const toLink = (address: string): Html =>
    address === redirectUrl ? html`<code>${address}</code>` : linkBeside(address);
  return html`${
      guide.needs.length === 0
        ? null
        : html`<h2>What it takes</h2>
            <ul>
              ${guide.needs.map((need) => html`<li>${need}</li>`)}
            </ul>`
    }
    <h2>Register an app</h2>
    <p>${linkBeside(guide.url)}</p>
    <ol>
      ${guide.steps.map((step) => html`<li>${withLinks(step, toLink)}</li>`)}
    </ol>
    ${toCopy("Redirect address", redirectUrl ?? "")} ${toCopy("Scopes", scopes)}
    <h2>Put this into <code>posthorn.env</code></h2>
    <p>The file lies in Posthorn's data folder. Add the values, then start Posthorn again.</p>
    ${snippet(settings.map((name) => `${name}=`).join("\n"))}
    ${guide.warnings.length === 0 ? null : html`<h2>Good to know</h2>`}
    ${guide.warnings.map((warning) => html`<p class="muted">${withLinks(warning, toLink)}</p>`)}`;
}

function toCopy(heading: string, text: string): Html | false {
  return (
    text !== "" &&
    html`<h3>${heading}</h3>
      ${snippet(text)}`
  );
}
