import type { ChoiceForm, Poster } from "../../connecting/finish-link.ts";
import type { FoundChannel } from "../../connecting/store-accounts.ts";
import { html, type Html } from "../pages/html.ts";
import type { View } from "../pages/layout.ts";
import { actionOf, forMinutes, withoutName } from "./connect-views.ts";

/** The channels that were found, with a box each. */
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
