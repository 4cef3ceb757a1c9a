import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { FileStore } from "@tus/file-store";
import type { Upload } from "@tus/server";
import { AppError } from "../../domain/errors.ts";
import { Gate } from "../../domain/gate.ts";
import { DAY } from "../../domain/time.ts";
import { assertFreeSpace, DiskFull, explainFullDisk } from "../../ports/disk-space.ts";
import type { AppContext } from "../../services/context.ts";
import { listParts, removePart, type UploadFolder } from "../../services/files/unfinished-uploads.ts";
import { MAX_FILE_BYTES } from "../../services/files/upload-body.ts";
import { asRefusal } from "./upload-answers.ts";

/** An upload that is not finished by then is forgotten. */
const ABANDONED_MS = DAY;

/** What one owner may have begun and not finished: so many uploads, and so much announced in all of them. */
const MAX_UNFINISHED = 64;
const MAX_UNFINISHED_GIB = 32;

export type UploadPlace = UploadFolder;

/** The parts of resumable uploads: tus's own store of files, within limits of the owner's and the disk's. */
export async function openUploadStore(ctx: AppContext, at: UploadPlace): Promise<FileStore> {
  const { FileStore: Store } = await import("@tus/file-store");
  await mkdir(at.folder, { recursive: true, mode: 0o700 });
  // An owner's uploads are counted one after the other.
  const beginning = new Gate(Infinity, { maxPerOwner: 1 });

  class Parts extends Store {
    override async create(upload: Upload): Promise<Upload> {
      const begin = async (): Promise<Upload> => {
        await this.#assertFits(upload);
        return super.create(upload);
      };
      return refusing(() => beginning.pass(begin, markOf(upload.id)));
    }

    override write(readable: Readable, name: string, offset: number): Promise<number> {
      return refusing(async () => {
        await using file = await open(join(at.folder, name), "r+");
        let position = offset;
        try {
          // The request itself is left whole: it is still to be answered.
          for await (const chunk of readable.iterator({ destroyOnReturn: false })) {
            for (let done = 0; done < chunk.length;) {
              const { bytesWritten } = await file.write(chunk, done, chunk.length - done, position);
              done += bytesWritten;
              position += bytesWritten;
            }
          }
        } catch (error) {
          const explained = explainFullDisk(error);
          // It would only keep the disk full.
          if (explained instanceof DiskFull) await this.remove(name);
          throw explained;
        }
        return position;
      });
    }

    override async deleteExpired(): Promise<number> {
      let removed = 0;
      for (const { name, changedAt } of await listParts(at.folder)) {
        // Of one whose making broke off nothing is known.
        const begunAt = Date.parse((await this.configstore.get(name))?.creation_date ?? "");
        const isOver = ctx.clock.now() - (Number.isNaN(begunAt) ? changedAt : begunAt) > ABANDONED_MS;
        if (isOver && (await removePart(at, name))) removed += 1;
      }
      return removed;
    }

    async #assertFits(upload: Upload): Promise<void> {
      const names = (await listParts(at.folder)).map(({ name }) => name);
      const own = names.filter((name) => markOf(name) === markOf(upload.id));
      const sizes = await Promise.all(own.map(async (name) => sizeOf(await this.configstore.get(name))));
      const announced = sizes.reduce((sum, size) => sum + size, sizeOf(upload));
      if (own.length >= MAX_UNFINISHED || announced > MAX_UNFINISHED_GIB * 1024 ** 3) {
        throw new AppError(
          "conflict",
          `There may be ${MAX_UNFINISHED} unfinished uploads at most, of ${MAX_UNFINISHED_GIB} GiB together. Finish some, or end them with DELETE at their addresses, then begin this one.`,
        );
      }
      await assertFreeSpace(at.folder, upload.size ?? 0);
    }
  }
  return new Parts({ directory: at.folder, expirationPeriodInMilliseconds: ABANDONED_MS });

  async function refusing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof AppError ? asRefusal(ctx, error) : error;
    }
  }
}

function markOf(name: string): string {
  return name.split("-")[0] ?? "";
}

/** One whose length is told later may become as large as any. */
function sizeOf(upload: Pick<Upload, "size"> | undefined): number {
  return upload?.size ?? MAX_FILE_BYTES;
}
