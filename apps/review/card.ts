import { now } from "../shared/clock.ts";
import { element } from "../shared/dom.ts";
import type { Draft } from "../shared/drafts.ts";
import { standingOf } from "../shared/statuses.ts";
import { nameOf } from "../shared/texts.ts";
import { channelName, type State, when } from "./state.ts";

type Target = Draft["targets"][number];
type Preview = NonNullable<Target["preview"]>;
type Part = Preview["parts"][number];
type Medium = Part["media"][number];
type Post = Draft["posts"][number];

/** Longer texts scroll in their card, and the Tab key reaches them. */
const SCROLLS_CHARS = 600;

/** How a platform counts, as it is written behind a number. */
const UNITS: Readonly<Record<string, string>> = { utf16: "characters", weighted: "characters" };

/** A channel, with what it will show there. */
export function renderCard(state: State, draft: Draft, target: Target): HTMLElement {
  const { preview } = target;
  const name = channelName(state, target.accountId, target.accountName);
  const posts = draft.posts.filter(({ accountId }) => accountId === target.accountId);
  const hasOwnTime = target.scheduledAt !== null && target.scheduledAt !== draft.scheduledAt;
  return element(
    "li",
    { class: target.error === null ? "card" : "card refused" },
    element(
      "div",
      { class: "head" },
      element("h3", { dir: "auto" }, name),
      preview === null ? null : renderCount(preview),
    ),
    hasOwnTime ? element("p", { class: "muted" }, when(state, target.scheduledAt ?? 0)) : null,
    target.error === null ? null : renderRemark("!", "Error", target.error, "error"),
    ...target.warnings.map((warning) => renderRemark("△", "Warning", warning, "warning")),
    ...(preview === null ? [] : renderPreview(preview)),
    ...posts.map((post) => renderPost(state, post, name)),
  );
}

function renderPreview(preview: Preview): readonly (HTMLElement | null)[] {
  const { parts, link, note } = preview;
  return [
    renderBody(preview, "(no text)"),
    parts.length === 0
      ? null
      : element(
          "ol",
          { class: "thread", "aria-label": "What follows" },
          ...parts.map((one) => element("li", {}, renderBody(one, ""), renderCount(one))),
        ),
    link === null ? null : element("p", { class: "muted", dir: "auto" }, `Leads to ${link}`),
    note === null ? null : element("p", { class: "muted", dir: "auto" }, note),
  ];
}

function renderBody({ text, media }: Part, otherwise: string): HTMLElement {
  const shown = text === "" && media.length === 0 ? otherwise : text;
  return element(
    "div",
    { class: "body" },
    shown === ""
      ? null
      : element(
          "p",
          { class: "text", dir: "auto", tabindex: shown.length > SCROLLS_CHARS ? 0 : null },
          shown,
        ),
    ...media.map(renderMedium),
  );
}

/** Nothing is loaded from elsewhere: a medium is told by its name. */
function renderMedium({ url, type, change, altText }: Medium): HTMLElement {
  const alt = altText === null ? (type === "image" ? "No alternative text" : null) : `“${altText}”`;
  return element(
    "p",
    { class: "medium" },
    element("span", { class: "kind" }, type ?? "file"),
    element("span", { dir: "auto" }, nameOf(url)),
    alt === null ? null : element("span", { class: "muted", dir: "auto" }, alt),
    change === null ? null : element("span", { class: "muted", dir: "auto" }, change),
  );
}

function renderCount({ count }: Part): HTMLElement | null {
  if (count === null || (count.max === null && count.length === 0)) return null;
  const { length, max, unit } = count;
  const isOver = max !== null && length > max;
  const numbers = max === null ? String(length) : `${length} / ${max}`;
  return element(
    "span",
    { class: isOver ? "count over" : "count" },
    `${isOver ? "! " : ""}${numbers} ${UNITS[unit] ?? unit}`,
    isOver ? element("span", { class: "unseen" }, " (too long)") : null,
  );
}

function renderRemark(sign: string, kind: string, text: string, look: string): HTMLElement {
  return element(
    "p",
    { class: `remark ${look}` },
    element("span", { class: "sign", "aria-hidden": true }, sign),
    element("span", { class: "unseen" }, `${kind}: `),
    element("span", { dir: "auto" }, text),
  );
}

/** What became of it. */
function renderPost(
  state: State,
  { status, scheduledAt, platformUrl, error }: Post,
  name: string,
): HTMLElement {
  const { label, sign } = standingOf({ status, error, scheduledAt }, now());
  return element(
    "div",
    { class: "post" },
    element(
      "span",
      { class: `status ${status}` },
      element("span", { class: "sign", "aria-hidden": true }, sign),
      label,
    ),
    element("span", { class: "muted" }, when(state, scheduledAt)),
    platformUrl !== null && state.abilities.opensLinks
      ? element(
          "button",
          {
            type: "button",
            class: "tool",
            "data-action": "open",
            "data-url": platformUrl,
            "data-key": `open:${platformUrl}`,
            "aria-label": `Open the post: ${name}`,
          },
          "Open the post",
        )
      : null,
    error === null || status === "cancelled" ? null : element("p", { class: "error", dir: "auto" }, error),
  );
}
