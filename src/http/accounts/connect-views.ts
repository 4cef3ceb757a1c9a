import type { ClosedReason } from "../../channels/connecting/connect-link.ts";
import type { FormField } from "../../channels/connecting/connect-target.ts";
import type { ConnectForm, OtherWay, WindowButton } from "../../channels/connecting/connect-page.ts";
import type { ChoiceForm, ConnectedLink, Poster } from "../../channels/connecting/finish-link.ts";
import type { Step } from "./connect-forms.ts";
import { html, type Html, linkBeside, list, snippet, withLinks } from "../pages/html.ts";
import { card, messageView, type View } from "../pages/layout.ts";
import { COPY, FILL } from "./scripts.ts";
import type { FoundChannel } from "../../channels/connecting/store-accounts.ts";

interface FormState {
  /** What was entered, but for what is hidden: secrets are never sent back. */
  readonly entered: Readonly<Record<string, string>>;
  readonly error: { readonly message: string; readonly fieldName: string | null } | null;
}

export function formView(form: ConnectForm, state: FormState = { entered: {}, error: null }): View {
  const { steps, toCopy, signIn, placeUrl } = form;
  const { error } = state;
  const action = form.reconnecting === null ? "Connect" : "Reconnect";
  const title = `${action} ${form.platformTitle}`;
  // One field has the focus: the wrong one, else the first empty one.
  const focused = error?.fieldName ?? form.fields.find((field) => field.value === "")?.name ?? null;
  const above = [form.instructions, ...steps].join(" ");
  const rows = steps.map((step) => withLinks(step));
  const general = error?.fieldName === null ? withoutName(error.message, "instanceUrl") : null;
  const content = html`<p>${withLinks(form.instructions)}</p>
    ${rows.length > 0 && [list("ol", rows), toCopy !== null && snippet(toCopy)]}
    ${placeUrl !== null && html`<p>${linkBeside(placeUrl)}</p>`} ${facts(form)}
    ${signIn !== null && signInButton(signIn)}
    <form method="post" action="${actionOf("secrets", form.way)}" autocomplete="off">
      ${form.fields.map((field) =>
        fieldView(withoutRepeats(field, above), { ...state, isFocused: field.name === focused }),
      )}
      <button type="submit">${action}</button>
    </form>`;
  return {
    title: error === null ? title : `Error: ${title}`,
    ...(signIn !== null ? { script: FILL } : toCopy !== null ? { script: COPY } : {}),
    body: html`${card(title, content, general)} ${otherWaysView(form)}
      <p class="muted small">
        What you enter is stored encrypted on this server and used only for this channel. This page works
        once, ${forMinutes(form)}.
      </p>`,
  };
}

/** Opens the platform's own page, which fills a field of the form in. Without scripts the person enters it. */
function signInButton({ label, url, field, messageKey }: WindowButton): Html {
  const data = html`data-url="${url}" data-field="${field}" data-key="${messageKey}"`;
  return html`<p>
    <button type="button" class="sign-in" ${data} aria-live="polite" hidden>${label}</button>
  </p>`;
}

/** On the link's own page, and only that page's address holds its token. */
export function actionOf(step: Step, way?: string): string {
  return `?step=${step}${way === undefined ? "" : `&way=${encodeURIComponent(way)}`}`;
}

/** Links, because looking at another way changes nothing. */
export function otherWaysView({ otherWays }: { readonly otherWays: readonly OtherWay[] }): Html | false {
  const links = otherWays.map(
    ({ name, label }) => html`<li><a href="?way=${encodeURIComponent(name)}">${label}</a></li>`,
  );
  return (
    links.length > 0 &&
    html`<section class="card">
      <h2>Another way to connect</h2>
      <ul class="plain">
        ${links}
      </ul>
    </section>`
  );
}

export function facts(form: Pick<ConnectForm, "instanceUrl" | "reconnecting" | "release">): Html | false {
  const known = Object.entries({ Channel: form.reconnecting, Server: form.instanceUrl })
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [html`<dt>${name}</dt>`, html`<dd>${value}</dd>`]);
  return (
    known.length > 0 &&
    html`<dl class="facts">${known}</dl>
      ${form.release !== null && html`<p class="note">${String(form.release)}</p>`}`
  );
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
      >${field.label} ${!isRequired && html`<span class="optional">(optional)</span>`}</label
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
    ${wrong !== null && html`<p class="wrong" id="${field.name}-wrong" role="alert">${withLinks(wrong)}</p>`}
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
  const { accountIds, accountNames, notice, shownOnce } = done;
  const [id = ""] = accountIds;
  const [only = "", ...more] = accountNames;
  const names = accountNames.map((name) => html`<strong>${name}</strong>`);
  return {
    title: more.length === 0 ? `${only} is connected` : `${accountNames.length} channels are connected`,
    ...(shownOnce === null ? {} : { script: COPY }),
    body: card(
      "Connected",
      html`<div class="note good" role="status">
          ${
            more.length === 0
              ? html`${names} is ready for posts.`
              : html`<p>These channels are ready for posts:</p>
                  ${list("ul", names)}`
          }
        </div>
        ${notice !== null && html`<p>${withLinks(notice)}</p>`}
        ${
          isOwn &&
          more.length === 0 &&
          html`<p>
            <a href="/app/channels?account=${encodeURIComponent(id)}">Set its slots, or change its name</a>
          </p>`
        }
        ${shownOnce !== null && [html`<h2>Keep this: it is shown only now</h2>`, snippet(shownOnce)]}
        <p>You can close this page and go back to where you came from.</p>
        ${
          !isOwn &&
          html`<p class="muted small">
            The person who sent you the address can now post there. If you did not mean that, take back what
            you gave (the permission, password or key) where you got it.
          </p>`
        }`,
    ),
  };
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
export function closedView(reason: ClosedReason, error: string | null = null, isOwn = false): View {
  const { heading, text } = CLOSED[reason];
  const wayBack = html`This link is closed now. You can close this window, or
    <a href="../app/channels">go back to your channels</a> and start again there.`;
  const told = error !== null && isOwn && reason === "failed" ? wayBack : text;
  return messageView(heading, told, error);
}

export function choiceView(choice: ChoiceForm, error: string | null = null): View {
  const { platformTitle, poster, channels } = choice;
  const title = poster === null ? `Choose channels on ${platformTitle}` : `Connect ${platformTitle}?`;
  const content = html`${poster === null ? CHOOSE : posterView(platformTitle, poster)}
    <form method="post" action="${actionOf("choice")}">
      <fieldset class="choices">
        <legend>${channels.length === 1 ? "Channel" : "Channels"}</legend>
        ${channels.map(channelView)}
      </fieldset>
      <button type="submit">Connect</button>
    </form>`;
  return {
    title: error === null ? title : `Error: ${title}`,
    body: html`${card(title, content, error === null ? null : withoutName(error, "target"))}
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
      <dd>${ownerId !== "default" && html`<strong>${ownerId}</strong>, with `}Posthorn at ${host}</dd>
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
        >${name} ${handle !== null && handle !== name && html`<span class="optional">${handle}</span>`}</label
      >
      ${problem !== null && html`<p class="wrong" id="${id}-problem">${problem}</p>`}
    </div>
  </div>`;
}
