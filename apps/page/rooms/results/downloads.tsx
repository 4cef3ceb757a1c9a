import { Download, ImageDown } from "lucide-preact";
import { guardCells } from "../../../../src/posts/imports/cells.ts";
import { Button } from "../../../ui/button.tsx";

type Cell = string | number | null;

interface DownloadsProps {
  /** Names the files. */
  readonly title: string;
  /** The head, then a row each; null is an empty cell. */
  rows(): readonly (readonly Cell[])[];
  /** The picture; null: there is none. */
  draw?(): HTMLCanvasElement | null;
}

/** What is seen, as a table for a spreadsheet and as a picture. */
export function Downloads({ title, rows, draw }: DownloadsProps) {
  const name = title.toLowerCase().replaceAll(" ", "-");
  const savePicture = (): void =>
    draw?.()?.toBlob((blob) => {
      if (blob !== null) save(blob, `${name}.png`);
    });
  return (
    <>
      <Button
        isSmall
        kind="quiet"
        aria-label={`Download CSV: ${title}`}
        onClick={() => save(new Blob([toCsv(rows())], { type: "text/csv" }), `${name}.csv`)}
      >
        <Download aria-hidden="true" />
        CSV
      </Button>
      {draw !== undefined && (
        <Button isSmall kind="quiet" aria-label={`Download PNG: ${title}`} onClick={savePicture}>
          <ImageDown aria-hidden="true" />
          PNG
        </Button>
      )}
    </>
  );
}

/** No cell is a formula. */
export function toCsv(rows: readonly (readonly Cell[])[]): string {
  const cell = (value: Cell): string => {
    if (value === null || value === "") return "";
    const text = typeof value === "number" ? String(value) : guardCells(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
}

const PAD = 24;
const TITLE = 40;
const LABEL = 22;

/** A canvas with the page's ground and a title, drawn at twice its size. */
export function openCanvas(
  title: string,
  place: Element,
  size: { readonly width: number; readonly height: number },
): { canvas: HTMLCanvasElement; pen: CanvasRenderingContext2D; top: number; left: number } | null {
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  if (pen === null) return null;
  canvas.width = (size.width + 2 * PAD) * 2;
  canvas.height = (size.height + TITLE + 2 * PAD) * 2;
  pen.scale(2, 2);
  const { color, fontFamily } = getComputedStyle(place);
  const ground = getComputedStyle(place.closest(".card") ?? document.body).backgroundColor;
  pen.fillStyle = ground;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = color;
  pen.font = `600 18px ${fontFamily}`;
  pen.fillText(title, PAD, PAD + 16);
  pen.font = `13px ${fontFamily}`;
  return { canvas, pen, top: PAD + TITLE, left: PAD };
}

/** The plots of a part below each other; the first is of all channels, the others have their names. */
export function drawPlots(
  title: string,
  place: HTMLElement | null,
  names: readonly string[],
): HTMLCanvasElement | null {
  const plots = [...(place?.querySelectorAll("canvas") ?? [])];
  if (place === null || plots.length === 0) return null;
  const heights = plots.map(({ clientHeight }) => clientHeight + LABEL);
  const width = Math.max(...plots.map(({ clientWidth }) => clientWidth));
  const opened = openCanvas(title, place, { width, height: heights.reduce((sum, one) => sum + one, 0) });
  if (opened === null) return null;
  const { canvas, pen, left } = opened;
  let { top } = opened;
  for (const [at, plot] of plots.entries()) {
    pen.fillText(at === 0 ? "All channels" : (names[at - 1] ?? ""), left, top + 12);
    pen.drawImage(plot, left, top + LABEL - 4, plot.clientWidth, plot.clientHeight);
    top += heights[at] ?? 0;
  }
  return canvas;
}
