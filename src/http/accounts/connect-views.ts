import type { ClosedReason } from "../../services/accounts/connecting/connect-link.ts";
import type { ConnectForm, FormField } from "../../services/accounts/connecting/connect-page.ts";
import type { OtherWay } from "../../services/accounts/connecting/start-page.ts";
import type { ConnectedLink } from "../../services/accounts/connecting/settle-link.ts";
import type { Step } from "./connect-forms.ts";
import { html, type Html } from "../pages/html.ts";
import { messageView, type View } from "../pages/message-view.ts";

interface FormState {
  /** What was entered, but for what is hidden: secrets are never sent back. */
  readonly entered: Readonly<Record<string, string>>;
  readonly error: { readonly message: string; readonly fieldName: string | null } | null;
}

const EMPTY_FORM: FormState = { entered: {}, error: null };

/** The form of a platform's own fields. */
export function formView(form: ConnectForm, state: FormState = EMPTY_FORM): View {
  const action = form.reconnecting === null ? "Connect" : "Reconnect";
  const title = `${action} ${form.platformTitle}`;
  const general =
    state.error !== null && state.error.fieldName === null
      ? withoutName(state.error.message, "instanceUrl")
      : null;
  // One field has the focus: the wrong one, else the first empty one.
  const focused = state.error?.fieldName ?? form.fields.find((field) => field.value === "")?.name ?? null;
  return {
    title: state.error === null ? title : `Error: ${title}`,
    body: html`<section class="card">
        <h1>${title}</h1>
        ${general === null ? null : html`<div class="note bad" role="alert">${general}</div>`}
        <p>${form.instructions}</p>
        ${facts(form)}
        <form method="post" action="${actionOf("secrets", form.way)}" autocomplete="off">
          ${form.fields.map((field) => fieldView(field, { ...state, isFocused: field.name === focused }))}
          <button type="submit">${action}</button>
        </form>
      </section>
      ${otherWaysView(form)}
      <p class="muted small">
        What you enter is stored encrypted on this server and sent to nobody but
        ${form.instanceUrl ?? form.platformTitle}. This page works once, until ${clockTime(form.expiresAt)}.
        <a href="${form.docs}" rel="noreferrer noopener" target="_blank"
          >How ${form.platformTitle} does this</a
        >
      </p>`,
  };
}

/** On the link's own page, whose address alone holds its token. */
export function actionOf(step: Step, way?: string): string {
  return `?step=${step}${way === undefined ? "" : `&way=${encodeURIComponent(way)}`}`;
}

/** Links, because looking at another way changes nothing. */
export function otherWaysView(page: { readonly otherWays: readonly OtherWay[] }): Html | null {
  if (page.otherWays.length === 0) return null;
  return html`<section class="card">
    <h2>Another way to connect</h2>
    <ul class="plain">
      ${page.otherWays.map(
        ({ name, label }) =>
          html`<li>
            <a href="?way=${encodeURIComponent(name)}">${label}</a>
          </li>`,
      )}
    </ul>
  </section>`;
}

export function facts(form: Pick<ConnectForm, "instanceUrl" | "reconnecting">): Html | null {
  if (form.instanceUrl === null && form.reconnecting === null) return null;
  return html`<dl class="facts">
    ${
      form.reconnecting === null
        ? null
        : html`<dt>Channel</dt>
            <dd>${form.reconnecting}</dd>`
    }
    ${
      form.instanceUrl === null
        ? null
        : html`<dt>Server</dt>
            <dd>${form.instanceUrl}</dd>`
    }
  </dl>`;
}

function fieldView(field: FormField, state: FormState & { readonly isFocused: boolean }): Html {
  const wrong = state.error?.fieldName === field.name ? withoutName(state.error.message, field.name) : null;
  const value = field.isSecret ? "" : (state.entered[field.name] ?? field.value);
  const isRequired = field.isRequired && !field.isStored;
  return html`<div class="field">
    <label for="${field.name}"
      >${field.label} ${isRequired ? null : html`<span class="optional">(optional)</span>`}</label
    >
    <p class="help" id="${field.name}-help">
      ${field.help} ${field.isStored ? "Leave it empty to keep the one that is stored." : null}
    </p>
    <input
      id="${field.name}"
      name="${field.name}"
      type="${field.isSecret ? "password" : "text"}"
      value="${value}"
      autocomplete="${field.isSecret ? "new-password" : "off"}"
      data-1p-ignore="true"
      data-lpignore="true"
      data-bwignore="true"
      autocapitalize="none"
      autocorrect="off"
      spellcheck="false"
      maxlength="4096"
      aria-describedby="${field.name}-help${wrong === null ? "" : ` ${field.name}-wrong`}"
      ${isRequired && html`required`}
      ${state.isFocused && html`autofocus`}
      ${wrong !== null && html`aria-invalid="true"`}
    />
    ${wrong === null ? null : html`<p class="wrong" id="${field.name}-wrong" role="alert">${wrong}</p>`}
  </div>`;
}

/** The label (or the server) stands above it; the name is for callers who see no page. */
export function withoutName(message: string, name: string): string {
  if (!message.startsWith(`${name}: `)) return message;
  const rest = message.slice(name.length + 2);
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

export function clockTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(11, 16)} UTC`;
}

export function connectedView(done: ConnectedLink): View {
  const { accountNames, platformTitle } = done;
  const [only = "", ...more] = accountNames;
  return {
    title: more.length === 0 ? `${only} is connected` : `${accountNames.length} channels are connected`,
    body: html`<section class="card">
      <h1>Connected</h1>
      <div class="note good" role="status">
        ${
          more.length === 0
            ? html`<strong>${only}</strong> on ${platformTitle} is ready for posts.`
            : html`<p>These channels on ${platformTitle} are ready for posts:</p>
                <ul>
                  ${accountNames.map((name) => html`<li><strong>${name}</strong></li>`)}
                </ul>`
        }
      </div>
      ${done.notice === null ? null : noticeView(done.notice)}
      <p>You can close this page and go back to where you came from.</p>
      <p class="muted small">
        Whoever sent you the address can now post there. If you did not mean that, remove Posthorn under the
        connected apps in your settings on ${platformTitle}.
      </p>
    </section>`,
  };
}

function noticeView(notice: string): Html {
  return html`<h2>Keep this: it is shown only now</h2>
    <pre>${notice}</pre>`;
}

const CLOSED: Record<ClosedReason, { readonly heading: string; readonly text: string }> = {
  foreign: {
    heading: "This answer belongs to no open connection",
    text: "Nothing was connected. If you started twice, only the last start counts. Open the address that you were given once more, and go on from there.",
  },
  answered: {
    heading: "This answer was used already",
    text: "It works once. If nothing was connected by it, open the address that you were given once more, and start again.",
  },
  unknown: {
    heading: "This address does not work",
    text: "Perhaps a part of it was lost on the way. Copy it whole, or ask for a new one.",
  },
  used: {
    heading: "This is done already",
    text: "The channel is connected and this address was used up. You can close this page.",
  },
  expired: {
    heading: "This address has run out",
    text: "It worked for 15 minutes. Ask for a new one (connect_channel) where you got this one.",
  },
  failed: {
    heading: "Nothing was connected",
    text: "This address is closed, after too many tries or a refusal. Ask for a new one (connect_channel) where you got this one.",
  },
};

/** `error`: why it failed. */
export function closedView(reason: ClosedReason, error?: string): View {
  const { heading, text } = CLOSED[reason];
  if (error === undefined) return messageView(heading, text);
  return {
    title: heading,
    body: html`<section class="card">
      <h1>${heading}</h1>
      <div class="note bad" role="alert">${error}</div>
      <p>${text}</p>
    </section>`,
  };
}
