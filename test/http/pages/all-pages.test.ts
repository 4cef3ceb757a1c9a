import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PAGES } from "./all-pages.ts";

const ROOT = join(import.meta.dirname, "../../..");
const HTTP = join(ROOT, "src/http");

const files = readdirSync(HTTP, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
const textOf = (file: string): string => readFileSync(join(HTTP, file), "utf8");

it("every page is among those that are looked at in a browser", () => {
  const views = files.flatMap((file) =>
    [...textOf(file).matchAll(/^export function (\w+)\((?:(?!^(?:export )?function)[^])*?\): View \{/gm)].map(
      ([, name]) => name,
    ),
  );
  expect(new Set(PAGES.map(({ view }) => view))).toEqual(new Set(views));
  // Whoever sends a page sends one of those views.
  const senders = files.filter((file) => /\bsendPage\(/.test(textOf(file)));
  expect(senders.sort()).toEqual([
    "accounts/connect-pages.ts",
    "feeds/feed-pages.ts",
    "oauth/oauth-router.ts",
    "pages/layout.ts",
  ]);
  // Programs of a browser are looked at beside their own tests.
  const programs = readdirSync(join(ROOT, "apps"), { recursive: true, encoding: "utf8" });
  expect(programs.filter((file) => file.endsWith(".html")).sort()).toEqual([
    "calendar/calendar.html",
    "page/index.html",
    "review/review.html",
  ]);
});
