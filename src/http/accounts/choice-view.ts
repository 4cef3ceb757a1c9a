import type { ChoiceForm } from "../../services/accounts/connecting/settle-link.ts";
import type { FoundChannel } from "../../services/accounts/connecting/found-channels.ts";
import { html, type Html } from "../pages/html.ts";
import type { View } from "../pages/message-view.ts";
import { actionOf, forMinutes, withoutName } from "./connect-views.ts";

/** The channels that were found, with a box each. */
export function choiceView(choice: ChoiceForm, error: string | null = null): View {
  const title = `Choose channels on ${choice.platformTitle}`;
  return {
    title: error === null ? title : `Error: ${title}`,
    body: html`<section class="card">
        <h1>${title}</h1>
        ${error === null ? null : html`<div class="note bad" role="alert">${withoutName(error, "target")}</div>`}
        <p>The permission is good for these channels. Each one that you choose can be posted to from here.</p>
        <form method="post" action="${actionOf("choice")}">
          <fieldset class="choices">
            <legend>Channels</legend>
            ${choice.channels.map(channelView)}
          </fieldset>
          <button type="submit">Connect</button>
        </form>
      </section>
      <p class="muted small">
        Nothing is connected before you choose. This page works ${forMinutes(choice)}.
      </p>`,
  };
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
