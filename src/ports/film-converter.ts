import type { Readable } from "node:stream";
import type { FilmForm } from "../domain/files/film-form.ts";

/** A film, and what it shall be. */
export interface FilmJob {
  /** Names the work: one that was broken off is begun anew in the same place. */
  readonly id: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Where it lies on this machine as a whole, and is read in place; null: it is copied first. */
  readonly path: string | null;
  readonly durationSeconds: number | null;
  readonly form: FilmForm;
  /** When the work on its post begins: what is due first is converted first. */
  readonly dueAt: number;
  /** Whether its post is due so much later that others go first, as of now. */
  isAhead(): boolean;
  /** How long its post can still wait for it. */
  msLeft(): number;
  open(): Readable;
  /** From 0 to 99, each once. */
  onProgress(percent: number): void;
}

/** The work was broken off for a film that is due sooner. It begins anew later. */
export class Overtaken extends Error {
  constructor() {
    super("Another video is due sooner.");
  }
}

/** An MP4 on this machine; gone once it is disposed of. */
export interface ConvertedFilm extends AsyncDisposable {
  readonly sizeBytes: number;
  read(range?: { readonly start?: number; readonly end?: number }): Readable;
}

/** Makes films what platforms take, by a program of this machine. One at a time. */
export interface FilmConverter {
  isThere(): Promise<boolean>;
  /** The sentence that says how it gets onto this machine. */
  readonly howToInstall: string;
  /** Removes what killed processes left of films whose work is over. */
  removeLeftOvers(isOver: (id: string) => Promise<boolean>): Promise<void>;
  /** Throws `DiskFull` where there is no room to convert it now. `convert` asks this, too. */
  assertRoom(job: Pick<FilmJob, "sizeBytes" | "path" | "durationSeconds" | "form">): Promise<void>;
  /**
   * Throws `DiskFull`, `invalid` for a film that it cannot read or bring within its limits, of bytes or of time, else
   * `unavailable`; `Overtaken`.
   */
  convert(job: FilmJob, signal: AbortSignal): Promise<ConvertedFilm>;
}
