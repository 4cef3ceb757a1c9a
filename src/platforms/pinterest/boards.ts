import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { MINUTE } from "../../domain/time.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { Choice } from "../../ports/platform.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { inOrder } from "../shared/media.ts";
import { collect, findFirst, pages } from "../shared/pages.ts";
import { reconcileByListing } from "../shared/reconcile.ts";
import { call, Created, pageOf } from "./api.ts";
import type { PinterestPost } from "./metadata.ts";

const Board = z.looseObject({ id: z.string(), name: z.string(), privacy: z.string().optional() });
type Board = z.infer<typeof Board>;

const Section = Board.pick({ id: true, name: true });

const PAGE = 250;
/** As many as an account may have. */
const MAX_PAGES = 8;

function list<T>(io: PlatformIo, path: string, item: z.ZodType<T>): AsyncGenerator<T> {
  return pages(MAX_PAGES, async (bookmark) => {
    const query = { page_size: PAGE, bookmark };
    const { items, bookmark: next } = await call(io, { path, query }, pageOf(item));
    return { items, next };
  });
}

function isLike(text: string, search: string): boolean {
  return text.toLowerCase().includes(search.trim().toLowerCase());
}

/** The channel's boards, by a part of their names. */
export async function boards(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  const fitting = (await collect(list(io, "/boards", Board))).filter(({ name }) => isLike(name, search));
  return fitting.map(({ id, name, privacy = "PUBLIC" }) => {
    return { value: id, label: privacy === "PUBLIC" ? name : `${name} (${privacy.toLowerCase()})` };
  });
}

/** Each is asked for its sections, and apps on trial have 1,000 requests a day. */
const MAX_BOARDS_ASKED = 20;

/** The sections of the boards with this number, or with this part of a name. */
export async function sections(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  const all = await collect(list(io, "/boards", Board));
  const fitting = all.filter(({ id, name }) => id === search.trim() || isLike(name, search));
  const found = await inOrder(fitting.slice(0, MAX_BOARDS_ASKED), async (board) => {
    const own = await collect(list(io, `/boards/${board.id}/sections`, Section));
    return own.map(({ id, name }): Choice => ({ value: id, label: `${board.name}: ${name}` }));
  });
  return found.flat();
}

async function findBoard(name: string, io: PlatformIo): Promise<string | null> {
  const plain = (text: string): string => text.replaceAll(/\s+/g, " ").trim().toLowerCase();
  const isIt = (board: Board): boolean => plain(board.name) === plain(name);
  return (await findFirst(list(io, "/boards", Board), isIt))?.id ?? null;
}

/** The number of the board that is meant. Throws `invalid` for a name that no board of the channel has. */
export async function boardOf({ metadata }: PinterestPost, io: PlatformIo): Promise<string> {
  const { boardId, board = "" } = metadata;
  const found = boardId ?? (await findBoard(board, io));
  if (found !== null) return found;
  throw new AppError(
    "invalid",
    "metadata.board: the channel has no board of this name. Give another one, or make it with createBoard.",
  );
}

/** The same, which is made where it is to be made, once. */
export async function openBoard(post: PinterestPost, io: PublishIo): Promise<string> {
  const { boardId, board = "", createBoard } = post.metadata;
  if (boardId !== undefined) return boardId;
  if (createBoard !== true) return io.once("board", () => boardOf(post, io));
  return (await io.once("board", () => findBoard(board, io))) ?? makeBoard(board.trim(), io);
}

function makeBoard(name: string, io: PublishIo): Promise<string> {
  return io.effect<string>({
    step: "new board",
    request: { name },
    send: async () => {
      try {
        const asked = { method: "POST", path: "/boards", json: { name } } as const;
        return (await call(io, asked, Created)).id;
      } catch (error) {
        // Another post made it meanwhile: Pinterest takes no name twice.
        const isRefused = error instanceof PlatformFault && error.kind === "rejected";
        const found = isRefused ? await findBoard(name, io) : null;
        if (found === null) throw error;
        return found;
      }
    },
    reconcile: (context) =>
      reconcileByListing<string>(context, {
        io,
        listedAfterMs: MINUTE,
        find: () => findBoard(name, io),
      }),
  });
}
