import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A file of the page. */
export interface PageFile {
  readonly bytes: Buffer;
  /** Its name holds what it holds: a browser may keep it for ever. */
  readonly isImmutable: boolean;
}

const SOURCES = fileURLToPath(new URL("../../../apps/page", import.meta.url));

/**
 * The page's files by their names below `/app`: `index.html`, scripts and styles by names of their own, and what
 * lies in `public/` as it is. `scripts/build.ts` writes them to `dist/page` and puts a module that reads that folder
 * in this one's place.
 */
export async function readPageFiles(folder = SOURCES): Promise<ReadonlyMap<string, PageFile>> {
  const { build } = await import("esbuild");
  const result = await build({
    absWorkingDir: folder,
    entryPoints: ["main.tsx", "page.css"],
    outdir: "out",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    publicPath: "/app",
    bundle: true,
    splitting: true,
    write: false,
    minify: true,
    metafile: true,
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
    target: ["chrome123", "safari17.5", "firefox128"],
    charset: "utf8",
    // The licences of what is bundled, in files beside the scripts, which name them.
    legalComments: "linked",
    loader: { ".svg": "file", ".png": "file", ".webp": "file", ".woff2": "file" },
  });
  const nameOf = (path: string): string => path.replaceAll("\\", "/").replace(/^.*\bout\//, "");
  const entryOf = (source: string): string => {
    const found = Object.entries(result.metafile.outputs).find(([, { entryPoint }]) => entryPoint === source);
    return `/app/${nameOf(found?.[0] ?? "")}`;
  };
  const page = (await readFile(join(folder, "index.html"), "utf8"))
    .replace("/*script*/", entryOf("main.tsx"))
    .replace("/*style*/", entryOf("page.css"));
  return new Map<string, PageFile>([
    ["index.html", { bytes: Buffer.from(page), isImmutable: false }],
    [
      "licences.txt",
      { bytes: await readLicences(folder, Object.keys(result.metafile.inputs)), isImmutable: false },
    ],
    ...(await readPublic(join(folder, "public"))),
    ...result.outputFiles.map(
      ({ path, contents }) => [nameOf(path), { bytes: Buffer.from(contents), isImmutable: true }] as const,
    ),
  ]);
}

/** Of the packages that are part of the scripts and styles. */
async function readLicences(folder: string, inputs: readonly string[]): Promise<Buffer> {
  const packages = new Set(
    inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  );
  const texts = [...packages].toSorted().map(async (path) => {
    const names = await readdir(join(folder, path));
    const name = names.find((one) => /^licen[cs]e/i.test(one));
    const text = name === undefined ? "" : await readFile(join(folder, path, name), "utf8");
    return `${path.replace(/^.*node_modules\//, "")}\n\n${text.trim()}\n`;
  });
  return Buffer.from((await Promise.all(texts)).join(`\n${"-".repeat(72)}\n\n`));
}

async function readPublic(folder: string): Promise<[string, PageFile][]> {
  const names = await readdir(folder).catch(() => []);
  return Promise.all(
    names.map(async (name): Promise<[string, PageFile]> => {
      return [name, { bytes: await readFile(join(folder, name)), isImmutable: false }];
    }),
  );
}
