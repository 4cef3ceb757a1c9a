import { plural } from "../domain/text/plain-text.ts";
import { createHash } from "node:crypto";
import { AppError } from "../domain/errors.ts";
import type { FilmForm } from "../domain/files/film-form.ts";
import { checkMedia, EVERY_SKILL, type MediaFigures } from "../domain/files/media-limits.ts";
import type { Preparing } from "../domain/posts/post.ts";
import { MINUTE, SECOND } from "../domain/time.ts";
import type { AcceptedMedia } from "../domain/accounts/capabilities.ts";
import { DiskFull } from "../ports/disk-space.ts";
import { type ConvertedFilm, type FilmConverter, Overtaken } from "../ports/film-converter.ts";
import type { MediaFacts, MediaItem } from "../ports/media.ts";
import {
  changeFilm,
  claimFilm,
  deleteFilm,
  type FilmRow,
  findFilm,
  findWaitingFilm,
  insertFilm,
  listFilms,
  type NewFilm,
  noteFilmWaits,
  type WaitingFilm,
  WAITS_FOR_ROOM,
} from "../store/queries/publishing/films.ts";
import type { Tx } from "../store/engine/store.ts";
import type { AppContext } from "../context.ts";
import { findReadyFile, OWN_SCHEME } from "./files.ts";
import { convertsFilms } from "./media-skills.ts";
import { keyOfFilm, removeUnusedFilms } from "./unused-films.ts";

/*
 * Films that a platform does not take as they are. Each is converted once for its content and form: those of own
 * files from when their post is scheduled, those of other addresses when the work on their post begins.
 */

/** What is converted, and into what. */
interface FilmOrder {
  readonly ownerId: string;
  /** Of the owner's file; null: of an address elsewhere. */
  readonly fileKey: string | null;
  /** The post that waits for it. */
  readonly postId: string | null;
  readonly facts: MediaFacts;
  readonly form: FilmForm;
}

/** Of an own file, of this moment. */
export interface FilmUse {
  readonly film: NewFilm;
  readonly at: number;
}

/** From when on the films of a post are converted ahead. */
export async function orderFilms(tx: Tx, uses: readonly { readonly film?: FilmUse | null }[]): Promise<void> {
  for (const { film } of uses)
    if (film !== undefined && film !== null) await insertFilm(tx, film.film, film.at);
}

/** What is made of the own films among these addresses. */
export async function filmsOf(
  { store }: AppContext,
  ownerId: string,
  { urls, accepts }: { readonly urls: readonly string[]; readonly accepts: readonly AcceptedMedia[] },
): Promise<NewFilm[]> {
  const films: NewFilm[] = [];
  for (const url of new Set(urls.filter((one) => one.startsWith(OWN_SCHEME)))) {
    const fileKey = url.slice(OWN_SCHEME.length);
    const file = await findReadyFile(store, ownerId, fileKey);
    const form = file === null ? null : checkMedia(file.facts, accepts, EVERY_SKILL).film;
    if (file !== null && form !== null)
      films.push(filmOf({ ownerId, fileKey, postId: null, facts: file.facts, form }));
  }
  return films;
}

/** Of the films of a post, own ones and those of other addresses. Null: none is under way. */
export async function howFar(
  { store }: AppContext,
  of: { readonly postId: string; readonly films: readonly NewFilm[] },
): Promise<Preparing | null> {
  const rows = await listFilms(store, { postId: of.postId, ids: of.films.map(({ id }) => id) });
  const open = rows.filter(({ facts }) => facts === null);
  if (open.length === 0) return null;
  return {
    percent: Math.min(...open.map(({ percent }) => percent)),
    problem: open.find(({ error }) => error !== null)?.error ?? null,
  };
}

/** The row that has a film converted. */
export function filmOf({ ownerId, fileKey, postId, facts, form }: FilmOrder): NewFilm {
  const formText = JSON.stringify(form);
  const content = [ownerId, facts.sha256, formText, fileKey === null ? (postId ?? "") : ""].join("|");
  return {
    id: createHash("sha256").update(content).digest("hex").slice(0, 32),
    owner_id: ownerId,
    file_key: fileKey,
    post_id: fileKey === null ? postId : null,
    original: JSON.stringify(facts),
    form: formText,
  };
}

const LOOK_AGAIN_MS = SECOND;

/** Of the post that waits for a film. */
export interface FilmTimes {
  readonly dueAt: number;
  /** When it is given up. */
  readonly giveUpAt: number;
}

/** The film in its form, converted by this process or another one. Throws `invalid` where it cannot be. */
export async function convertedFilm(
  ctx: AppContext,
  order: FilmOrder,
  { item, signal, ...times }: { readonly item: MediaItem; readonly signal: AbortSignal } & FilmTimes,
): Promise<MediaItem> {
  const wanted = filmOf(order);
  for (;;) {
    const row = await findFilm(ctx.store, wanted.id);
    if (row === null) {
      await ctx.store.write((tx) => insertFilm(tx, wanted, ctx.clock.now()));
      continue;
    }
    if (row.error !== null && row.error !== WAITS_FOR_ROOM) {
      // Told once: another try of the post begins anew.
      await ctx.store.write((tx) => deleteFilm(tx, row.id));
      throw new AppError("invalid", row.error);
    }
    const facts = row.facts === null ? null : (JSON.parse(row.facts) as MediaFacts);
    const key = keyOfFilm(wanted);
    if (facts !== null && (await ctx.files.size(key)) === facts.sizeBytes)
      return {
        ...item,
        facts,
        convertedFrom: item.facts.mimeType,
        open: (range = {}) => ctx.files.read(key, range),
      };
    // The store lost it, or is another one by now.
    if (facts !== null) await ctx.store.write((tx) => deleteFilm(tx, wanted.id));
    else if (
      row.worker_id !== null ||
      !(await convert(ctx, row, { open: () => item.open(), signal, ...times }))
    )
      await ctx.clock.sleep(LOOK_AGAIN_MS, signal);
  }
}

const TOLD_EVERY_MS = 2 * SECOND;

/**
 * A film whose post is due later than this is converted ahead, and broken off for one that is due: an hour of film
 * takes hours, and a post of today must not wait for one of next month.
 */
const AHEAD_MS = 10 * MINUTE;

const isAhead = ({ clock }: AppContext, dueAt: number): boolean => dueAt - clock.now() > AHEAD_MS;

/** False where another worker has it. What is wrong with the film is noted in its row. */
async function convert(
  ctx: AppContext,
  row: FilmRow,
  { open, signal, dueAt, giveUpAt }: { open: MediaItem["open"]; signal: AbortSignal } & FilmTimes,
): Promise<boolean> {
  const own = { id: row.id, workerId: ctx.workerId };
  if (ctx.films === null) return false;
  const original = JSON.parse(row.original) as MediaFacts;
  const film = {
    id: row.id,
    mimeType: original.mimeType,
    sizeBytes: original.sizeBytes,
    durationSeconds: original.durationSeconds,
    form: JSON.parse(row.form) as FilmForm,
    path: row.file_key === null ? null : await ctx.files.locate(row.file_key),
  };
  await assertRoom(ctx, ctx.films, { row, film });
  if (!(await ctx.store.write((tx) => claimFilm(tx, row.id, ctx.workerId)))) return false;
  let toldAt = -Infinity;
  const onProgress = (percent: number): void => {
    if (ctx.clock.monotonic() - toldAt < TOLD_EVERY_MS) return;
    toldAt = ctx.clock.monotonic();
    ctx.store
      .write((tx) => changeFilm(tx, own, { percent }))
      .catch((err: unknown) => ctx.log.warn({ err }, "how far a film is could not be noted"));
  };
  try {
    const job = {
      ...film,
      open: () => open(),
      onProgress,
      dueAt,
      isAhead: () => isAhead(ctx, dueAt),
      msLeft: () => giveUpAt - ctx.clock.now(),
    };
    await using made = await ctx.films.convert(job, signal);
    const facts = await keep(ctx, made, { key: keyOfFilm(row), original, signal });
    const done = { facts: JSON.stringify(facts), percent: 100, worker_id: null };
    await ctx.store.write((tx) => changeFilm(tx, own, done));
    ctx.log.info({ film: row.id, sizeBytes: facts.sizeBytes }, "a film was converted");
  } catch (error) {
    const isLasting = error instanceof AppError && error.kind !== "unavailable";
    const waits = error instanceof DiskFull ? WAITS_FOR_ROOM : null;
    const failed = { worker_id: null, percent: 0, error: isLasting ? error.message : waits };
    await ctx.store.write((tx) => changeFilm(tx, own, failed));
    if (error instanceof Overtaken) {
      ctx.log.info({ film: row.id }, "a film is begun anew later, as another one is due sooner");
      return true;
    }
    if (!isLasting) throw error;
    ctx.log.warn({ film: row.id, err: error }, "a film could not be converted");
  }
  return true;
}

/** Before anything of it is written. */
async function assertRoom(
  ctx: AppContext,
  films: FilmConverter,
  { row, film }: { readonly row: FilmRow; readonly film: Parameters<FilmConverter["assertRoom"]>[0] },
): Promise<void> {
  try {
    await films.assertRoom(film);
  } catch (error) {
    if (error instanceof DiskFull && row.error === null) {
      ctx.log.warn({ film: row.id }, "a film waits for room on the disk");
      await ctx.store.write((tx) => noteFilmWaits(tx, row.id));
    }
    throw error;
  }
}

/** A film that lost more is cut off, and none may be. */
const MAX_LOST_SECONDS = 1;

/** Looks at what came of it, and stores it. */
async function keep(
  ctx: AppContext,
  film: ConvertedFilm,
  at: { readonly key: string; readonly original: MediaFigures; readonly signal: AbortSignal },
): Promise<MediaFacts> {
  const { sizeBytes } = film;
  const found = await ctx.probe.inspect({ sizeBytes, read: (range) => film.read(range) }, at.signal);
  const { durationSeconds: whole } = at.original;
  if (whole !== null && (found.durationSeconds ?? 0) < whole - MAX_LOST_SECONDS) {
    throw new AppError(
      "invalid",
      `The video is damaged: only ${Math.round(found.durationSeconds ?? 0)} of its ${plural(Math.round(whole), "second")} can be converted. Export it again.`,
    );
  }
  const stored = await ctx.files.write(at.key, film.read(), { sizeBytes, signal: at.signal });
  return { ...found, ...stored };
}

/** Converts what waits, one after the other, first due first, until nothing does. */
export async function convertFilms(ctx: AppContext, signal: AbortSignal): Promise<void> {
  await removeUnusedFilms(ctx);
  while (!signal.aborted && (await convertsFilms(ctx))) {
    const next = await findWaitingFilm(ctx.store);
    if (next === null) return;
    try {
      await convertUntilOvertaken(ctx, next, signal);
    } catch (error) {
      // Said with the film. The next pass asks again.
      if (error instanceof DiskFull) return;
      throw error;
    }
  }
}

const LOOK_FOR_DUE_MS = 2 * SECOND;

/** The film's turn in this process ends also for one that another process was told of. */
async function convertUntilOvertaken(ctx: AppContext, next: WaitingFilm, signal: AbortSignal): Promise<void> {
  const { film, dueAt, scheduledAt } = next;
  const key = film.file_key ?? "";
  const [overtaken, done] = [new AbortController(), new AbortController()];
  const watch = async (): Promise<void> => {
    while (isAhead(ctx, dueAt)) {
      await ctx.clock.sleep(LOOK_FOR_DUE_MS, done.signal);
      const first = await findWaitingFilm(ctx.store);
      if (first !== null && !isAhead(ctx, first.dueAt)) return overtaken.abort(new Overtaken());
    }
  };
  const watching = watch().catch((err: unknown) => {
    if (!done.signal.aborted) ctx.log.warn({ err }, "films that are due were not looked for");
  });
  try {
    await convert(ctx, film, {
      open: (range = {}) => ctx.files.read(key, range),
      signal: AbortSignal.any([signal, overtaken.signal]),
      dueAt,
      giveUpAt: scheduledAt + ctx.settings.maxLatenessMs,
    });
  } finally {
    done.abort(new Error("The video is done."));
    await watching;
  }
}
