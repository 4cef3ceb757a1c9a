import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** The folders below `apps/` that are pages; `shared` holds what several of them use. */
export const APPS = ["calendar", "review"] as const;
export type App = (typeof APPS)[number];

/** A page as one HTML file. `scripts/build.ts` puts the finished texts in the place of this module. */
export async function readAppHtml(app: App): Promise<string> {
  const sourceOf = (name: string): string =>
    fileURLToPath(new URL(`../../../apps/${app}/${name}`, import.meta.url));
  const { build } = await import("esbuild");
  const result = await build({
    entryPoints: { script: sourceOf("main.ts"), style: sourceOf(`${app}.css`) },
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
  const page = await readFile(sourceOf(`${app}.html`), "utf8");
  return page
    .replace(/\n\s*/g, "")
    .replace("/*style*/", () => textOf(".css"))
    .replace("/*script*/", () => textOf(".js"));
}
