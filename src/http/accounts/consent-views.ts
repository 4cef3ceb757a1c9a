import type { FormField } from "../../connecting/connect-target.ts";
import type { ConsentStart } from "../../connecting/connect-page.ts";
import { COPY_SCRIPT, COPYING, scriptOf } from "../pages/copy-button.ts";
import { html, type Html } from "../pages/html.ts";
import type { View } from "../pages/layout.ts";
import { actionOf, facts, fieldView, forMinutes, otherWaysView, withoutName } from "./connect-views.ts";
import { waySetupView } from "./setup-view.ts";

/**
 * The form's answer is the way to the platform, which may lead on over hosts of its own that nobody can list
 * before; Chromium holds `form-action` against each of them. There is nothing on the page to send elsewhere.
 */
const LEADS_AWAY = { "form-action": ["'self'", "https:", "http:"] };

/**
 * What will happen, and the button that leads on to the platform. `error`: why it did not work just now;
 * `server`: what was entered as such.
 */
export function startView(start: ConsentStart, error: string | null = start.error, server = ""): View {
  const action = start.reconnecting === null ? "Connect" : "Reconnect";
  const title = `${action} ${start.platformTitle}`;
  const isPasting = error?.startsWith("address: ") === true;
  const isAboutServer = start.serverField !== null && error?.startsWith("instanceUrl: ") === true;
  return {
    title: error === null ? title : `Error: ${title}`,
    allow: start.setup === null ? LEADS_AWAY : COPYING,
    body: html`<section class="card">
        <h1>${title}</h1>
        ${
          error === null || isPasting || isAboutServer
            ? null
            : html`<div class="note bad" role="alert">${withoutName(error, "instanceUrl")}</div>`
        }
        <p>${start.instructions}</p>
        ${facts(start)}
        ${start.setup === null ? goingOn(start, error, server) : setupFirst(start, start.setup)}
      </section>
      ${start.isWaiting || isPasting ? pasteView(start, isPasting ? error : null) : null}
      ${otherWaysView(start)}
      <p class="muted small">
        What ${start.platformTitle} gives is stored encrypted on this server and used only for your channels.
        Go on only if you asked for this, or know who sent you the address. They will be able to post there.
        This page works ${forMinutes(start)}.
      </p>`,
  };
}

function goingOn(start: ConsentStart, error: string | null, server: string): Html {
  const { serverField } = start;
  return html`${steps(start)}
    <form method="post" action="${actionOf("consent", start.way)}">
      ${serverField === null ? null : serverView(serverField, error, server)}
      <button type="submit">
        ${start.isWaiting || error !== null ? "Start again on" : "Go on to"} ${start.platformTitle}
      </button>
    </form>`;
}

function serverView(field: FormField, error: string | null, server: string): Html {
  const isWrong = error?.startsWith(`${field.name}: `) === true;
  return fieldView(field, {
    entered: { [field.name]: server },
    error: isWrong ? { message: error, fieldName: field.name } : null,
    isFocused: true,
  });
}

/** What the person who runs this Posthorn does, once for everybody. */
function setupFirst(
  { platformTitle }: ConsentStart,
  { missing, way }: NonNullable<ConsentStart["setup"]>,
): Html {
  return html`<div class="note bad" role="status">
      This way is not open yet. The person who runs this Posthorn first registers an app at ${platformTitle},
      once for everybody. ${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} not set.
    </div>
    ${way === null ? null : html`${waySetupView(way)} ${scriptOf(COPY_SCRIPT)}`}`;
}

function steps({ platformTitle, scopes }: ConsentStart): Html {
  return html`<h2>What happens now</h2>
    <ol>
      <li>You go on to ${platformTitle} and sign in there. Posthorn never sees your password.</li>
      <li>
        ${platformTitle} asks whether Posthorn may act for
        you${scopes.length === 0 ? "." : html`, and names these permissions:`}
        ${
          scopes.length === 0
            ? null
            : html`<ul>
                ${scopes.map((scope) => html`<li><code>${scope}</code></li>`)}
              </ul>`
        }
      </li>
      <li>You come back here. If there are several channels, you choose among them.</li>
    </ol>`;
}

const ADDRESS: FormField = {
  name: "address",
  label: "Its address",
  help: "Copy the whole address out of the browser's address bar and paste it here. It works once, and only on this page.",
  isSecret: false,
  isRequired: true,
  isStored: false,
  value: "",
};

function pasteView(start: ConsentStart, error: string | null): Html {
  return html`<section class="card">
    <h2>Came back to a page that does not load?</h2>
    <form method="post" action="${actionOf("address", start.way)}" autocomplete="off">
      ${fieldView(ADDRESS, {
        entered: {},
        error: error === null ? null : { message: error, fieldName: ADDRESS.name },
        isFocused: error !== null,
      })}
      <button type="submit">Finish with this address</button>
    </form>
  </section>`;
}
