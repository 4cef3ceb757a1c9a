import type { FormField } from "../../channels/connecting/connect-target.ts";
import type { ConsentStart } from "../../channels/connecting/connect-page.ts";
import { html, type Html, type HtmlValue, linkBeside, list, snippet, withLinks } from "../pages/html.ts";
import { card, type View } from "../pages/layout.ts";
import { COPY } from "./scripts.ts";
import { actionOf, facts, fieldView, forMinutes, otherWaysView, withoutName } from "./connect-views.ts";
import type { SetupPage, WaySetup } from "../../channels/platform-io/set-up.ts";

/** Platforms may lead on over hosts that cannot be listed. Chromium holds `form-action` against each. */
const LEADS_AWAY = { "form-action": ["'self'", "https:", "http:"] };

/** What will happen, and the button that leads on. `error`: what went wrong. `server`: what was entered. */
export function startView(start: ConsentStart, error: string | null = start.error, server = ""): View {
  const { platformTitle, serverField, setup } = start;
  const title = `${start.reconnecting === null ? "Connect" : "Reconnect"} ${platformTitle}`;
  const isPasting = error?.startsWith("address: ") === true;
  const isAboutServer = serverField !== null && error?.startsWith("instanceUrl: ") === true;
  const isGeneral = error !== null && !isPasting && !isAboutServer;
  const content = html`<p>${start.instructions}</p>
    ${facts(start)} ${setup === null ? goingOn(start, error, server) : setupFirst(platformTitle, setup)}`;
  return {
    title: error === null ? title : `Error: ${title}`,
    ...(setup === null ? { allow: LEADS_AWAY } : { script: COPY }),
    body: html`${card(title, content, isGeneral ? withoutName(error, "instanceUrl") : null)}
      ${(start.isWaiting || isPasting) && pasteView(start, isPasting ? error : null)} ${otherWaysView(start)}
      <p class="muted small">
        What ${platformTitle} gives is stored encrypted on this server and used only for your channels. Go on
        only if you asked for this, or know who sent you the address. They will be able to post there. This
        page works ${forMinutes(start)}.
      </p>`,
  };
}

function goingOn(start: ConsentStart, error: string | null, server: string): Html {
  const { serverField: field } = start;
  const wrong = field !== null && error?.startsWith(`${field.name}: `) === true ? error : null;
  const serverView = (one: FormField): Html =>
    fieldView(one, { entered: { [one.name]: server }, error: wrongAt(one, wrong), isFocused: true });
  return html`${steps(start)}
    <form method="post" action="${actionOf("consent", start.way)}">
      ${field !== null && serverView(field)}
      <button type="submit">
        ${start.isWaiting || error !== null ? "Start again on" : "Go on to"} ${start.platformTitle}
      </button>
    </form>`;
}

const wrongAt = ({ name }: FormField, message: string | null) =>
  message === null ? null : { message, fieldName: name };

/** What the person who runs this Posthorn does, once for everybody. */
function setupFirst(platformTitle: string, { missing, way }: NonNullable<ConsentStart["setup"]>): Html {
  return html`<div class="note bad" role="status">
      This way is not open yet. The person who runs this Posthorn first registers an app at ${platformTitle},
      once for everybody. ${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} not set.
    </div>
    ${way !== null && waySetupView(way)}`;
}

function steps({ platformTitle, scopes }: ConsentStart): Html {
  const codes = scopes.map((scope) => html`<code>${scope}</code>`);
  return html`<h2>What happens now</h2>
    <ol>
      <li>You go on to ${platformTitle} and sign in there. Posthorn never sees your password.</li>
      <li>
        ${platformTitle} asks whether Posthorn may act for
        you${scopes.length === 0 ? "." : [", and names these permissions:", list("ul", codes)]}
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
        error: wrongAt(ADDRESS, error),
        isFocused: error !== null,
      })}
      <button type="submit">Finish with this address</button>
    </form>
  </section>`;
}

export function setupPageView({ platformTitle, ways }: SetupPage): View {
  const title = `Set up ${platformTitle}`;
  const content = html`<p>
      This is done once for everybody, by the person who runs this Posthorn. Ask for a link to connect the
      channel afterwards.
    </p>
    ${ways.length > 1 && html`<p>There are ${ways.length} ways. One of them is enough.</p>`}`;
  const cards = ways.map(
    (way) =>
      html`<section class="card">
        ${ways.length > 1 && html`<h2>${way.label}</h2>`} ${waySetupView(way)}
      </section>`,
  );
  return { title, script: COPY, body: html`${card(title, content)} ${cards}` };
}

/** What it takes comes first: it decides whether a person begins. */
function waySetupView({ guide, redirectUrl, scopes, settings, command }: WaySetup): Html {
  // One is entered there, not opened.
  const toLink = (address: string): Html =>
    address === redirectUrl ? html`<code>${address}</code>` : linkBeside(address);
  const rows = guide.steps.map((step) => withLinks(step, toLink));
  return html`${guide.needs.length > 0 && [html`<h2>What it takes</h2>`, list("ul", guide.needs)]}
    <h2>Register an app</h2>
    <p>${linkBeside(guide.url)}</p>
    ${list("ol", rows)} ${toCopy("Redirect address", redirectUrl ?? "")} ${toCopy("Scopes", scopes)}
    ${
      command !== null &&
      html`<h2>Enter id and secret</h2>
        <p>Run this where Posthorn is installed. It asks for both, and they hold at once.</p>
        ${snippet(command)}`
    }
    <h2>${command === null ? "Put" : "Or put"} this into <code>posthorn.env</code></h2>
    <p>The file lies in Posthorn's data folder. Add the values, then start Posthorn again.</p>
    ${snippet(settings.map((name) => `${name}=`).join("\n"))}
    ${guide.warnings.length > 0 && html`<h2>Good to know</h2>`}
    ${guide.warnings.map((warning) => html`<p class="muted">${withLinks(warning, toLink)}</p>`)}`;
}

const toCopy = (heading: string, text: string): HtmlValue =>
  text !== "" && [html`<h3>${heading}</h3>`, snippet(text)];
