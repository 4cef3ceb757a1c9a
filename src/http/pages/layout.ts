import { createHash } from "node:crypto";
import type { Response } from "express";
import { html, Html } from "./html.ts";
import { STYLES } from "./styles.ts";

interface Page {
  readonly title: string;
  readonly body: Html;
  /** More of our own rules, after the shared ones. */
  readonly styles?: string;
  /** More of the head: alternate links, descriptions. */
  readonly head?: Html;
}

const MARK = new Html(
  `<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round" aria-hidden="true"><circle cx="9" cy="13" r="6"/><circle cx="9" cy="13" r="2"/><path d="M9 7h8l4-4v14l-4-4h-2"/></svg>`,
);

// A data: icon keeps browsers from asking for /favicon.ico.
export const ICON =
  "data:image/svg+xml," +
  encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#5b7cf0" stroke-width="2" stroke-linejoin="round"><circle cx="9" cy="13" r="6"/><circle cx="9" cy="13" r="2"/><path d="M9 7h8l4-4v14l-4-4h-2"/></svg>`,
  );

/** A whole page of ours. */
function renderPage(page: Page): string {
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${page.title}</title>
        <link rel="icon" href="${ICON}" />
        ${page.head} ${new Html(`<style>${stylesOf(page)}</style>`)}
      </head>
      <body>
        <header class="top">${MARK}<span>Posthorn</span></header>
        <main>${page.body}</main>
      </body>
    </html> `;
  return document.text;
}

function stylesOf({ styles = "" }: Page): string {
  return STYLES + styles;
}

interface PageOptions extends Page {
  /** Directives beside the strict ones, for example `img-src: ["'self'", "data:"]`. */
  readonly allow?: Readonly<Record<string, readonly string[]>>;
  /** Default `no-store`. */
  readonly cacheControl?: string;
  /** True for pages that search engines may list. */
  readonly isPublic?: boolean;
}

/**
 * Sends a page with headers that allow it nothing but itself: no script, no frame, no other origin, no address
 * passed on. The hash lets the browser apply our one style sheet and no other.
 */
export function sendPage(response: Response, options: PageOptions & { readonly status?: number }): void {
  const hash = createHash("sha256").update(stylesOf(options)).digest("base64");
  const directives: Record<string, readonly string[]> = {
    "default-src": ["'none'"],
    "style-src": [`'sha256-${hash}'`],
    "img-src": ["data:"],
    "form-action": ["'self'"],
    "base-uri": ["'none'"],
    "frame-ancestors": ["'none'"],
    ...options.allow,
  };
  const policy = Object.entries(directives).map(([name, sources]) => `${name} ${sources.join(" ")}`);
  response.status(options.status ?? 200).set({
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": policy.join("; "),
    "Cache-Control": options.cacheControl ?? "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    ...(options.isPublic === true ? {} : { "X-Robots-Tag": "noindex, nofollow" }),
  });
  response.send(renderPage(options));
}

export interface View {
  readonly title: string;
  readonly body: Html;
  /** Directives of its policy beside the strict ones. */
  readonly allow?: Readonly<Record<string, readonly string[]>>;
}

export function messageView(heading: string, text: string): View {
  return {
    title: heading,
    body: html`<section class="card">
      <h1>${heading}</h1>
      <p>${text}</p>
    </section>`,
  };
}
