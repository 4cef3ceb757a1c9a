import type { ClosedReason } from "../../connecting/connect-link.ts";
import type { FormField } from "../../connecting/connect-target.ts";
import type { ConnectForm, OtherWay } from "../../connecting/connect-page.ts";
import type { ChoiceForm, ConnectedLink, Poster } from "../../connecting/finish-link.ts";
import type { Step } from "./connect-forms.ts";
import { FILLING, signInButton } from "./sign-in-button.ts";
import { COPY_SCRIPT, COPYING, html, type Html, linkBeside, snippet, withLinks } from "../pages/html.ts";
import { messageView, type View } from "../pages/layout.ts";
import type { FoundChannel } from "../../connecting/store-accounts.ts";

interface FormState {
  /** What was entered, but for what is hidden: secrets are never sent back. */
  readonly entered: Readonly<Record<string, string>>;
  readonly error: { readonly message: string; readonly fieldName: string | null } | null;
}

const EMPTY_FORM: FormState = { entered: {}, error: null };

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
    ...(form.signIn !== null ? { allow: FILLING } : form.toCopy === null ? {} : { allow: COPYING }),
    body: html`<section class="card">
        <h1>${title}</h1>
        ${general === null ? null : html`<div class="note bad" role="alert">${general}</div>`}
        <p>${withLinks(form.instructions, linkBeside)}</p>
        ${stepsView(form)} ${form.placeUrl === null ? null : html`<p>${linkBeside(form.placeUrl)}</p>`}
        ${facts(form)} ${form.signIn === null ? null : signInButton(form.signIn)}
        <form method="post" action="${actionOf("secrets", form.way)}" autocomplete="off">
          ${form.fields.map((field) =>
            fieldView(withoutRepeats(field, [form.instructions, ...form.steps].join(" ")), {
              ...state,
              isFocused: field.name === focused,
            }),
          )}
          <button type="submit">${action}</button>
        </form>
      </section>
      ${otherWaysView(form)}
      <p class="muted small">
        What you enter is stored encrypted on this server and used only for this channel. This page works
        once, ${forMinutes(form)}.
      </p>`,
  };
}

function stepsView({ steps, toCopy }: ConnectForm): Html | null {
  if (steps.length === 0) return null;
  return html`<ol>
      ${steps.map((step) => html`<li>${withLinks(step, linkBeside)}</li>`)}
    </ol>
    ${toCopy === null ? null : html`${snippet(toCopy)} ${COPY_SCRIPT}`}`;
}

/** On the link's own page, and only that page's address holds its token. */
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

export function facts(form: Pick<ConnectForm, "instanceUrl" | "reconnecting" | "release">): Html | null {
  const known = Object.entries({ Channel: form.reconnecting, Server: form.instanceUrl }).filter(
    ([, value]) => value !== null,
  );
  if (known.length === 0) return null;
  const rows = known.map(
    ([name, value]) =>
      html`<dt>${name}</dt>
        <dd>${value}</dd>`,
  );
  return html`<dl class="facts">${rows}</dl>
    ${form.release === null ? null : html`<p class="note">${String(form.release)}</p>`}`;
}

/** The help without the sentences that stand above the form already. */
function withoutRepeats(field: FormField, instructions: string): FormField {
  const sentences = field.help.split(/(?<=[.!?]) /).filter((sentence) => !instructions.includes(sentence));
  return { ...field, help: sentences.join(" ") };
}

export function fieldView(field: FormField, state: FormState & { readonly isFocused: boolean }): Html {
  const { error } = state;
  const wrong = error?.fieldName === field.name ? withoutName(error.message, field.name) : null;
  const isHidden = field.isSecret && field.isSeen !== true;
  const value = isHidden ? "" : (state.entered[field.name] ?? field.value);
  const help =
    `${field.help} ${field.isStored ? "Leave it empty to keep the one that is stored." : ""}`.trim();
  const told = [help !== "" && `${field.name}-help`, wrong !== null && `${field.name}-wrong`];
  const describedBy = told.filter((id) => id !== false).join(" ");
  const isRequired = field.isRequired && !field.isStored;
  return html`<div class="field">
    <label for="${field.name}"
      >${field.label} ${isRequired ? null : html`<span class="optional">(optional)</span>`}</label
    >
    ${help !== "" && html`<p class="help" id="${field.name}-help">${help}</p>`}
    <input
      id="${field.name}"
      name="${field.name}"
      type="${isHidden ? "password" : "text"}"
      value="${value}"
      autocomplete="${isHidden ? "new-password" : "off"}"
      data-1p-ignore="true"
      data-lpignore="true"
      data-bwignore="true"
      autocapitalize="none"
      autocorrect="off"
      spellcheck="false"
      maxlength="16384"
      ${describedBy !== "" && html`aria-describedby="${describedBy}"`}
      ${isRequired && html`required`}
      ${state.isFocused && html`autofocus`}
      ${wrong !== null && html`aria-invalid="true"`}
    />
    ${wrong === null ? null : html`<p class="wrong" id="${field.name}-wrong" role="alert">${withLinks(wrong, linkBeside)}</p>`}
  </div>`;
}

/** The label stands above it. What the name was the subject of gets another. A host stays as it is. */
export function withoutName(message: string, name: string): string {
  if (!message.startsWith(`${name}: `)) return message;
  const rest = message.slice(name.length + 2);
  if (/^(is|are|has|must|does|may|can|cannot|holds|lacks|begins|was)\b/.test(rest)) return `This ${rest}`;
  return /^\S*\.\S/.test(rest) ? rest : rest.charAt(0).toUpperCase() + rest.slice(1);
}

export function forMinutes({ minutesLeft }: { readonly minutesLeft: number }): string {
  return minutesLeft === 1 ? "for another minute" : `for another ${minutesLeft} minutes`;
}

/** `isOwn`: the person made the link, no one sent it. */
export function connectedView(done: ConnectedLink, isOwn: boolean): View {
  const { accountNames, platformTitle, notice, shownOnce } = done;
  const [only = "", ...more] = accountNames;
  return {
    title: more.length === 0 ? `${only} is connected` : `${accountNames.length} channels are connected`,
    ...(shownOnce === null ? {} : { allow: COPYING }),
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
      ${notice === null ? null : html`<p>${withLinks(notice, linkBeside)}</p>`}
      ${shownOnce === null ? null : onceView(shownOnce)}
      <p>You can close this page and go back to where you came from.</p>
      ${
        isOwn
          ? null
          : html`<p class="muted small">
              The person who sent you the address can now post there. If you did not mean that, take back what
              you gave (the permission, password or key) where you got it.
            </p>`
      }
    </section>`,
  };
}

function onceView(secret: string): Html {
  return html`<h2>Keep this: it is shown only now</h2>
    ${snippet(secret)}${COPY_SCRIPT}`;
}

const CLOSED: Record<ClosedReason, { readonly heading: string; readonly text: string }> = {
  foreign: {
    heading: "This answer belongs to no open connection",
    text: "Nothing was connected. If you started twice, only the last start counts. Open the link that you were given once more and go on from there. If it does not work any more, ask for a new one where you got it.",
  },
  answered: {
    heading: "This answer was used already",
    text: "It works once. If another page asks you which channel to connect, go on there. If nothing was connected, open the link that you were given once more and start again, or ask for a new one where you got it.",
  },
  unknown: {
    heading: "This address does not work",
    text: "Perhaps a part of it was lost on the way. Or you went on in another browser, and the page is there. Copy the address whole, or ask for a new link where you got this one.",
  },
  used: {
    heading: "This is done already",
    text: "The channel is connected, and this link works only once. You can close this page. To connect another channel, ask for a new link where you got this one.",
  },
  expired: {
    heading: "This link has run out",
    text: "It worked for 15 minutes. Ask for a new link where you got this one.",
  },
  failed: {
    heading: "Nothing was connected",
    text: "This link is closed now. To try again, ask for a new link where you got this one.",
  },
};

/** `isOwn`: the person made the link on Posthorn's own page, which is the way back. */
export function closedView(reason: ClosedReason, error?: string, isOwn = false): View {
  const { heading, text } = CLOSED[reason];
  const wayBack = html`This link is closed now. You can close this window, or
    <a href="../app/channels">go back to your channels</a> and start again there.`;
  const told = isOwn && reason === "failed" ? wayBack : text;
  if (error === undefined) return messageView(heading, text);
  return {
    title: heading,
    body: html`<section class="card">
      <h1>${heading}</h1>
      <div class="note bad" role="alert">${error}</div>
      <p>${told}</p>
    </section>`,
  };
}

export function choiceView(choice: ChoiceForm, error: string | null = null): View {
  const { platformTitle, poster, channels } = choice;
  const title = poster === null ? `Choose channels on ${platformTitle}` : `Connect ${platformTitle}?`;
  return {
    title: error === null ? title : `Error: ${title}`,
    body: html`<section class="card">
        <h1>${title}</h1>
        ${error === null ? null : html`<div class="note bad" role="alert">${withoutName(error, "target")}</div>`}
        ${poster === null ? CHOOSE : posterView(platformTitle, poster)}
        <form method="post" action="${actionOf("choice")}">
          <fieldset class="choices">
            <legend>${channels.length === 1 ? "Channel" : "Channels"}</legend>
            ${channels.map(channelView)}
          </fieldset>
          <button type="submit">Connect</button>
        </form>
      </section>
      <p class="muted small">
        Nothing is connected before you choose. This page works ${forMinutes(choice)}.
      </p>`,
  };
}

const CHOOSE = html`<p>
  The permission is good for these channels. Each one that you choose can be posted to from here.
</p>`;

/** For a person whose browser never had the first page, with its warning. */
function posterView(platformTitle: string, { ownerId, host, minutesOld }: Poster): Html {
  return html`<p>
      You agreed on ${platformTitle}, but this connection began in another browser. Tick what you choose and
      connect it only if you began this yourself, or know who did.
    </p>
    <dl class="facts">
      <dt>Will post there</dt>
      <dd>${ownerId === "default" ? null : html`<strong>${ownerId}</strong>, with `}Posthorn at ${host}</dd>
      <dt>Link made</dt>
      <dd>${minutesAgo(minutesOld)}</dd>
    </dl>
    <p>
      If you did not begin this, close this page. Nothing is connected then. Take the permission back in your
      settings on ${platformTitle}.
    </p>`;
}

function minutesAgo(minutes: number): string {
  if (minutes < 1) return "less than a minute ago";
  return minutes === 1 ? "a minute ago" : `${minutes} minutes ago`;
}

function channelView({ key, name, handle, problem }: FoundChannel): Html {
  const id = `target-${key}`;
  return html`<div class="choice">
    <input
      type="checkbox"
      id="${id}"
      name="target"
      value="${key}"
      ${problem !== null && html`disabled aria-describedby="${id}-problem"`}
    />
    <div>
      <label for="${id}"
        >${name}
        ${handle === null || handle === name ? null : html`<span class="optional">${handle}</span>`}</label
      >
      ${problem === null ? null : html`<p class="wrong" id="${id}-problem">${problem}</p>`}
    </div>
  </div>`;
}
