import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** The calendar as one HTML file. `scripts/build.ts` puts the finished text in the place of this module. */
export async function readCalendarHtml(): Promise<string> {
  const { build } = await import("esbuild");
  const result = await build({
    entryPoints: { script: sourceOf("main.ts"), style: sourceOf("calendar.css") },
    outdir: "out",
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    // What the applications that show such pages are built on; `light-dark()` is no older.
    target: ["chrome123", "safari17.5", "firefox128"],
    charset: "utf8",
    legalComments: "none",
  });
  const textOf = (ending: string): string =>
    result.outputFiles.find((file) => file.path.endsWith(ending))?.text.trim() ?? "";
  const page = await readFile(sourceOf("calendar.html"), "utf8");
  return page
    .replace(/\n\s*/g, "")
    .replace("/*style*/", () => textOf(".css"))
    .replace("/*script*/", () => textOf(".js"));
}

function sourceOf(name: string): string {
  return fileURLToPath(new URL(`../../../apps/calendar/${name}`, import.meta.url));
}
