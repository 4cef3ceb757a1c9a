import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { HORN } from "../src/http/pages/layout.ts";

/*
 * Draws the icons of the page at /app. They are kept in the repository: run `npx tsx scripts/icons.ts` when the horn
 * has changed.
 */

const FOLDER = fileURLToPath(new URL("../apps/page/public/", import.meta.url));
const BLUE = "#2348c9";

interface Icon {
  readonly name: string;
  readonly pixels: number;
  /** How much of its square the horn takes. */
  readonly share: number;
  /** Of the corners, on a square of 24; null: nothing is behind the horn. */
  readonly radius: number | null;
}

/** Android cuts a maskable icon to a circle of four fifths: https://www.w3.org/TR/appmanifest/#icon-masks */
const ICONS: readonly Icon[] = [
  { name: "icon-192.png", pixels: 192, share: 0.66, radius: 5.5 },
  { name: "icon-512.png", pixels: 512, share: 0.66, radius: 5.5 },
  { name: "icon-maskable-512.png", pixels: 512, share: 0.5, radius: 0 },
  // Beside the time on Android, which shows its shape alone.
  { name: "badge-96.png", pixels: 96, share: 0.95, radius: null },
];

function draw({ share, radius }: Icon): string {
  const ground =
    radius === null ? "" : `<rect width="24" height="24" rx="${radius}" ry="${radius}" fill="${BLUE}"/>`;
  const offset = (24 * (1 - share)) / 2;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">${ground}<g transform="translate(${offset} ${offset}) scale(${share})" fill="none" stroke="#fff" stroke-width="2" stroke-linejoin="round">${HORN}</g></svg>`;
}

await mkdir(FOLDER, { recursive: true });
for (const icon of ICONS)
  await sharp(Buffer.from(draw(icon)), { density: icon.pixels * 3 })
    .resize(icon.pixels, icon.pixels)
    .png({ compressionLevel: 9, palette: true })
    .toFile(FOLDER + icon.name);
