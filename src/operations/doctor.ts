import { existsSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadCatalog, type Catalog } from "../app/catalog.ts";
import { createContext, type Context } from "../app/compose.ts";
import {
  foreseeDataFolder,
  locateDataFolder,
  openDataFolder,
  readSecretKey,
  type DataFolder,
  type Environment,
} from "../app/data-folder.ts";
import { examineAddress, examinePort } from "./doctor-address.ts";
import { examineDatabase } from "./doctor-database.ts";
import { examinePlatforms } from "./doctor-platforms.ts";
import { examinePublishing } from "./doctor-publishing.ts";
import { note, ok, problemOf } from "./finding.ts";
import { openBucket } from "../app/file-store.ts";
import { AppError } from "../domain/errors.ts";
import { quote, toIso } from "../domain/time.ts";
import { readRestore } from "../publishing/restored.ts";
import { readPlace, type Setup } from "../app/setup.ts";
import type { Tell } from "../store/engine/store.ts";
import { tryWriting } from "../store/queries/meta.ts";
import { secretKeyId } from "../store/engine/cipher.ts";
import type { Finding } from "./reports.ts";

/**
 * Looks at everything a start needs, one thing after the other; what depends on a broken thing is left out. Of
 * a platform that is named, what it needs comes first, and of the rest only problems. Throws `invalid` for a
 * platform that there is none of.
 */
export async function examine(env: Environment, platform: string | null = null): Promise<Finding[]> {
  const findings = await examineAll(env, platform);
  if (platform === null) return findings;
  const isOwn = ({ topic }: Finding): boolean => topic === platform;
  return [...findings.filter(isOwn), ...findings.filter((one) => !isOwn(one) && one.verdict === "problem")];
}

async function examineAll(env: Environment, platform: string | null): Promise<Finding[]> {
  const findings: Finding[] = [];
  const attempt = async <T>(topic: string, work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work();
    } catch (error) {
      findings.push(problemOf(topic, error));
      return null;
    }
  };

  const catalog = await loadCatalog();
  requireKnown(catalog, platform);
  const place = locateDataFolder(env);
  const settings = await attempt("settings", () => readPlace(env, place));
  if (settings !== null) {
    const { timezone } = settings.config;
    const text = `read from the environment and ${place}/posthorn.env. Time zone: ${timezone}`;
    findings.push(ok("settings", text));
  }
  const isThere = existsSync(place);
  const folder = await attempt("data folder", () => foreseeDataFolder(place));
  if (folder === null) return findings;
  findings.push(
    ok("data folder", isThere ? `${place} can be written` : `${place}, which the first start makes`),
  );
  if (settings !== null && settings.config.database !== null)
    return [...findings, ...(await examineServer({ ...settings, folder, catalog }, platform))];
  // What the first start makes is tried elsewhere: a new folder may be about to get a backup, with its own
  // key.
  await using scratch = isNew(folder) ? await makeScratch() : null;
  const trial = scratch?.folder ?? folder;
  const isKeyThere = existsSync(folder.secretKey) || scratch === null;
  const masterKey = await attempt("secret key", () => readSecretKey(isKeyThere ? folder : trial));
  if (masterKey !== null) {
    const id = secretKeyId(masterKey);
    const kept = `${id}, readable only by this user. Keep a copy of it, apart from your backups`;
    findings.push(ok("secret key", isKeyThere ? kept : "none yet. The first start makes it"));
  }
  if (settings === null || masterKey === null) return findings;

  const setup = quiet({ ...settings, folder: trial, masterKey, catalog });
  const ctx = await attempt("database", () =>
    openWritable(setup, (sentence) => void findings.push(note("database", sentence))),
  );
  if (ctx === null) return findings;
  const made = scratch === null ? folder.database : "none yet. The first start makes it";
  findings.push(ok("database", `${made} (${ctx.store.engine})`));
  return [...findings, ...(await examineService(setup, ctx, platform))];
}

/** The same where the database is on a server; the folder holds what is this host's alone. */
async function examineServer(
  given: Omit<Setup, "masterKey">,
  platform: string | null,
): Promise<readonly Finding[]> {
  await using scratch = await makeScratch();
  const { findings, setup } = await examineDatabase(given, scratch.folder);
  if (setup === null) return findings;
  const folder = existsSync(setup.folder.path) ? setup.folder : scratch.folder;
  let ctx: Context;
  try {
    ctx = await openWritable(quiet({ ...setup, folder }));
  } catch (error) {
    return [...findings, problemOf("database", error)];
  }
  return [...findings, ...(await examineService({ ...setup, ...given }, ctx, platform))];
}

/** What a context shows, which is closed with it. */
async function examineService(setup: Setup, ctx: Context, platform: string | null): Promise<Finding[]> {
  try {
    return [
      ...(await examineFiles(setup)),
      ...(await examineRestore(ctx)),
      ...(await examinePublishing(ctx)),
      ...(await examinePlatforms(ctx, platform)),
      ...(await examinePort(ctx, setup.config)),
      ...(await examineAddress(ctx, setup.config, setup.catalog)),
    ];
  } finally {
    await ctx[Symbol.asyncDispose]();
  }
}

function quiet(setup: Setup): Setup {
  return { ...setup, config: { ...setup.config, logLevel: "silent" } };
}

/** With a write that changes nothing: a database that can be read alone opens, too. */
async function openWritable(setup: Setup, tell?: Tell): Promise<Context> {
  const ctx = await createContext(setup, {}, tell);
  try {
    await ctx.store.write(tryWriting);
    return ctx;
  } catch (error) {
    await ctx[Symbol.asyncDispose]();
    throw error;
  }
}

function requireKnown({ platforms }: Catalog, name: string | null): void {
  if (name === null || platforms.some((platform) => platform.name === name)) return;
  const known = platforms.map((platform) => platform.name).join(", ");
  throw new AppError("invalid", `${quote(name)} is not a known platform. The platforms are ${known}.`);
}

/** Neither a database nor the mark of one that was lost. */
function isNew({ database, generation }: DataFolder): boolean {
  const bytes = statSync(database, { throwIfNoEntry: false })?.size ?? 0;
  return bytes === 0 && !existsSync(generation);
}

/** A data folder that goes when it was looked at. */
async function makeScratch(): Promise<{ readonly folder: DataFolder } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "posthorn-doctor-"));
  return {
    folder: await openDataFolder(path),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

/** One host's folder was looked at as part of the data folder. */
async function examineFiles(setup: Setup): Promise<Finding[]> {
  const bucket = await openBucket(setup);
  if (bucket !== null) return (await bucket.examine()).map((found) => ({ topic: "files", ...found }));
  if (setup.config.database === null) return [];
  return [ok("files", `kept in ${setup.folder.files}, which all hosts must share`)];
}

/** A database that was put back from a copy is told as long as posts of it are in doubt. */
async function examineRestore(ctx: Context): Promise<Finding[]> {
  const restored = await readRestore(ctx);
  if (restored === null || restored.inDoubt === 0) return [];
  const posts =
    restored.inDoubt === 1
      ? "1 post that was due before may"
      : `${restored.inDoubt} posts that were due before may`;
  const text = `put back from a copy at ${toIso(restored.at)}: ${posts} have gone out. They are not sent again. Where the platform cannot tell, they are failed until you settle them with posthorn call resolve_post.`;
  return [note("restore", text)];
}
