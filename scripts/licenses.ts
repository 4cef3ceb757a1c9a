import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Metafile } from "esbuild";
import * as z from "zod";

/** Beside the program. */
export const LICENSES = "THIRD-PARTY-LICENSES.txt";

const Manifest = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string(),
  author: z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)]).optional(),
});

/** From the top of the checkout to the package's folder; of nested ones, to the innermost. */
const PACKAGE_FOLDER = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

const LICENSE_FILE = /^(licen[cs]e|copying|notice|third[-_]?party)[^/]*$/i;

/** MPL-2.0 wants the source to be had from where the program is. */
const SOURCE = "https://www.npmjs.com/package";

/**
 * Names, versions and licence texts of every package that is bundled, as their licences want them to go with
 * each copy. Throws for a package that has none.
 */
export async function writeLicenses(root: string, { outputs }: Metafile): Promise<string> {
  const inputs = Object.values(outputs).flatMap(({ inputs: parts }) => Object.keys(parts));
  const folders = new Set(inputs.flatMap((path) => PACKAGE_FOLDER.exec(path)?.[0] ?? []));
  const texts = await Promise.all([...folders].map((folder) => describe(join(root, folder))));
  const sorted = [...new Set(texts)].toSorted();
  return [
    "Posthorn is under the MIT licence (LICENSE). Its program holds the packages below, or parts of them.",
    ...sorted,
  ].join(`\n${"-".repeat(80)}\n`);
}

async function describe(folder: string): Promise<string> {
  const manifest = Manifest.parse(JSON.parse(await readFile(join(folder, "package.json"), "utf8")));
  const { name, version, license, author } = manifest;
  const files = (await readdir(folder)).filter((file) => LICENSE_FILE.test(file)).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  const by = author === undefined ? "" : `, by ${author}`;
  const bodies = texts.length === 0 ? [standardText(license, author ?? `the authors of ${name}`)] : texts;
  return [
    `${name} ${version}`,
    `License: ${license}${by}`,
    `Source: ${SOURCE}/${name}/v/${version}`,
    "",
    ...bodies.map((text) => text.trim()),
    "",
  ].join("\n");
}

/** Of packages that name a licence and leave its text out. */
function standardText(license: string, author: string): string {
  const text = STANDARD_TEXTS[license];
  if (text === undefined) throw new Error(`There is no text of the licence ${license}.`);
  return `Copyright (c) ${author}\n\n${text}`;
}

const STANDARD_TEXTS: Readonly<Record<string, string>> = {
  ISC: `Permission to use, copy, modify, and/or distribute this software for any
purpose with or without fee is hereby granted, provided that the above
copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES
WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF
MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR
ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES
WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN
ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF
OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.`,
  MIT: `Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`,
};
