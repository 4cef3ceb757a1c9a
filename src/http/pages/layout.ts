import { createHash } from "node:crypto";
import type { Response } from "express";
import { html, Html, type HtmlValue } from "./html.ts";

export interface View {
  readonly title: string;
  readonly body: Html;
  /** More of the head: alternate links, descriptions. */
  readonly head?: Html;
  readonly styles?: string;
  /** The one script that may run on it; it comes last. */
  readonly script?: string;
  /** Directives beside the strict ones, for example `img-src: ["'self'", "data:"]`. */
  readonly allow?: Readonly<Record<string, readonly string[]>>;
}

/** The post horn, in lines on a square of 24. `scripts/icons.ts` draws the page's icons of it. */
export const HORN =
  '<circle cx="9" cy="13" r="6"/><circle cx="9" cy="13" r="2"/><path d="M9 7h8l4-4v14l-4-4h-2"/>';

const MARK = new Html(
  `<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round" aria-hidden="true">${HORN}</svg>`,
);

// A data: icon keeps browsers from asking for /favicon.ico.
export const ICON =
  "data:image/svg+xml," +
  encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#5b7cf0" stroke-width="2" stroke-linejoin="round">${HORN}</svg>`,
  );

function renderPage({ title, head, styles, body, script }: View): string {
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="${ICON}" />
        ${head} ${new Html(`<style>${STYLES}${styles ?? ""}</style>`)}
      </head>
      <body>
        <header class="top">${MARK}<span>Posthorn</span></header>
        <main>${body}</main>
        ${script !== undefined && new Html(`<script>${script}</script>`)}
      </body>
    </html> `;
  return document.text;
}

interface SendOptions {
  readonly status?: number;
  readonly cacheControl?: string;
  /** True for pages that search engines may list. */
  readonly isPublic?: boolean;
}

/** Sends a page whose policy allows it nothing but itself: its styles and script by their hashes. */
export function sendPage(response: Response, view: View, options: SendOptions = {}): void {
  const { status = 200, cacheControl = "no-store", isPublic = false } = options;
  const directives: Record<string, readonly string[]> = {
    "default-src": ["'none'"],
    "style-src": [hashOf(STYLES + (view.styles ?? ""))],
    "img-src": ["data:"],
    "form-action": ["'self'"],
    "base-uri": ["'none'"],
    "frame-ancestors": ["'none'"],
    ...(view.script === undefined ? {} : { "script-src": [hashOf(view.script)] }),
    ...view.allow,
  };
  const policy = Object.entries(directives).map(([name, sources]) => `${name} ${sources.join(" ")}`);
  response.status(status).set({
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": policy.join("; "),
    "Cache-Control": cacheControl,
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    ...(isPublic ? {} : { "X-Robots-Tag": "noindex, nofollow" }),
  });
  response.send(renderPage(view));
}

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** `error`: what went wrong. */
export function messageView(title: string, text: HtmlValue, error: string | null = null): View {
  return { title, body: card(title, html`<p>${text}</p>`, error) };
}

export function card(title: string, content: Html, error: string | null = null): Html {
  return html`<section class="card">
    <h1>${title}</h1>
    ${error !== null && html`<div class="note bad" role="alert">${error}</div>`} ${content}
  </section>`;
}

/** The look of all pages: nothing from elsewhere, light and dark, from phone width up. */
const STYLES = `
:root{color-scheme:light dark;--bg:#f4f5f7;--card:#fff;--text:#1b1f27;--muted:#59616f;--line:#d9dde4;--field:#fff;--field-line:#8a93a2;
--accent:#2348c9;--accent-over:#1a389e;--on-accent:#fff;--bad:#b3261e;--bad-bg:#fdecea;--good:#146c38;--good-bg:#e5f5ea;--code:#eef0f4}
@media (prefers-color-scheme:dark){:root{--bg:#12151b;--card:#1b2029;--text:#e8ebf1;--muted:#a3acba;--line:#323a47;--field:#12151b;
--field-line:#677184;--accent:#93acff;--accent-over:#b3c5ff;--on-accent:#0d1533;--bad:#ff9d94;--bad-bg:#3a1d1c;--good:#84d9a2;--good-bg:#173324;--code:#262d39}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--text);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;
overflow-wrap:anywhere}
.top,main,.bottom{max-width:40rem;margin:0 auto;padding:0 1rem}
.top{display:flex;align-items:center;gap:.55rem;padding-top:1.5rem;padding-bottom:1rem;color:var(--muted);font-weight:600}
.top svg{width:1.6rem;height:1.6rem;color:var(--accent);flex:none}
.bottom{padding-top:1.25rem;padding-bottom:2.5rem;color:var(--muted);font-size:.875rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:1.5rem;margin:0 0 1rem}
.card>:first-child,.note>:first-child{margin-top:0}.card>:last-child,.note>:last-child{margin-bottom:0}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .75rem}
h2{font-size:1.1rem;line-height:1.3;margin:1.5rem 0 .5rem}
h3{font-size:.9375rem;line-height:1.3;margin:1.25rem 0 .25rem}
p{margin:.75rem 0}
a{color:var(--accent);text-underline-offset:.15em}
a:hover{color:var(--accent-over)}
.muted{color:var(--muted)}
.small{font-size:.875rem}
.facts{display:grid;grid-template-columns:auto 1fr;gap:.3rem 1rem;margin:1rem 0;padding:.8rem 1rem;background:var(--bg);border-radius:10px;font-size:.9375rem}
.facts dt{color:var(--muted)}.facts dd{margin:0;font-weight:500}
.field{margin:1.25rem 0}
label{display:block;font-weight:600;margin-bottom:.15rem}
.optional{font-weight:400;color:var(--muted)}
.help{margin:.1rem 0 .4rem;color:var(--muted);font-size:.9rem}
input{display:block;width:100%;min-height:2.85rem;padding:.55rem .75rem;font:inherit;color:var(--text);background:var(--field);
border:1px solid var(--field-line);border-radius:9px}
input[aria-invalid=true]{border-color:var(--bad);border-width:2px}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
fieldset{border:0;margin:1.25rem 0;padding:0}legend{font-weight:600;padding:0;margin-bottom:.5rem}
.choice{display:flex;gap:.75rem;align-items:flex-start;padding:.75rem 0;border-top:1px solid var(--line)}
.choice label{margin:0}.choice div{flex:1;min-width:0}
input[type=checkbox]{flex:none;width:1.35rem;height:1.35rem;min-height:0;margin:.1rem 0 0;accent-color:var(--accent)}
.plain{list-style:none;margin:0;padding:0}.plain li{padding:.3rem 0}
.wrong{margin:.4rem 0 0;color:var(--bad);font-size:.9375rem;font-weight:500}
button{width:100%;min-height:2.95rem;margin-top:.5rem;padding:.6rem 1.4rem;font:inherit;font-weight:600;color:var(--on-accent);
background:var(--accent);border:0;border-radius:9px;cursor:pointer}
button:hover{background:var(--accent-over)}
@media (min-width:32rem){button{width:auto}}
.note{padding:.8rem 1rem;border-radius:10px;margin:1rem 0;background:var(--bg)}
.note.bad{background:var(--bad-bg);color:var(--bad)}
.note.good{background:var(--good-bg);color:var(--good)}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.9375rem}
code{padding:.1rem .3rem;background:var(--code);border-radius:5px}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.75rem 0;padding:.8rem 1rem;background:var(--code);border-radius:10px;user-select:all}
.snippet{position:relative}
.snippet pre{padding-right:5.5rem;font-size:.8125rem;user-select:text}
.snippet .copy{position:absolute;top:.45rem;right:.45rem;width:auto;min-height:0;margin:0;padding:.25rem .7rem;font-size:.8125rem;border-radius:7px}
img,video{max-width:100%;height:auto;border-radius:10px}
audio{width:100%}
`;
