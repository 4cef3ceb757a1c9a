import { build } from "esbuild";
import type { Page } from "playwright-core";
import type { outcomeMessage } from "../../../apps/page/channel/outcome-message.ts";

const SOURCE = `
import { h, render } from "preact";
import { outcomeMessage } from "./apps/page/channel/outcome-message.ts";
import { sayFirst, Toasts } from "./apps/ui/toasts.tsx";
const { posts, names } = SENT;
document.querySelector("[data-drawn]")?.remove();
const box = document.body.appendChild(document.createElement("div"));
box.dataset.drawn = "";
sayFirst(outcomeMessage(posts, (id) => names[id] ?? id, () => false));
render(h(Toasts, {}), box);
`;

let script: Promise<string> | null = null;

async function scriptOf(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: SOURCE, resolveDir: process.cwd(), loader: "ts" },
    bundle: true,
    format: "iife",
    jsx: "automatic",
    jsxImportSource: "preact",
    write: false,
  });
  return outputFiles[0]!.text;
}

/** Shows in the page what is said of these posts, as the product draws it. */
export async function drawMessage(
  page: Page,
  posts: Parameters<typeof outcomeMessage>[0],
  names: Readonly<Record<string, string>>,
): Promise<void> {
  script ??= scriptOf();
  await page.evaluate(`(() => { const SENT = ${JSON.stringify({ posts, names })}; ${await script} })()`);
}
