import { platformNamed, unknownPlatform } from "../../channels/platform-io/list-platforms.ts";
import { existsSync } from "node:fs";
import { AppError } from "../../domain/errors.ts";
import { toIso } from "../../domain/time.ts";
import { secretKeyId } from "../../store/engine/cipher.ts";
import { assertMoved } from "../../store/moving/move.ts";
import { examineServer } from "../../store/open-store.ts";
import { readMeta, tryWriting } from "../../store/queries/meta.ts";
import {
  readSecretKey,
  type DataFolder,
  findOwnDatabase,
  foreseeDataFolder,
  locateDataFolder,
  openDataFolder,
  type Environment,
} from "../data-folder.ts";
import { capabilitiesOf, openDatabase, openBucket } from "../file-store.ts";
import { findCipher, nameSecretKey, KEY_CHECK } from "../secret-key.ts";
import { readMasterKey, type Settings, type Setup, readPlace, loadCatalog } from "../setup.ts";
import { systemClock } from "../system-clock.ts";
import {
  examineAddress,
  examinePort,
  examinePlatforms,
  examinePublishing,
  RESOLVE_HOW,
} from "./doctor-checks.ts";
import { examineOAuth } from "./doctor-oauth.ts";
import { note, ok, problem, type Finding } from "../../domain/health/findings.ts";
import { problemOf } from "./failures.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createContext, type Context } from "../compose.ts";
import { readRestore } from "../../publishing/restored.ts";
import type { Tell } from "../../store/engine/store.ts";

/** `setup`: what everything behind the database is looked at with; null where that cannot be. */
type DatabaseState = { readonly findings: readonly Finding[]; readonly setup: Setup | null };

/**
 * The server of the settings and the secret key that goes with it. Nothing is made there: what the first
 * start would leave in an empty database is tried in `scratch`.
 */
async function examineDatabase(given: Omit<Setup, "masterKey">, scratch: DataFolder): Promise<DatabaseState> {
  const findings: Finding[] = [];
  let topic = "database";
  try {
    const { isEmpty, isCurrent, ...seen } = await examineServer(connectionTo(given));
    findings.push(...seen.findings);
    topic = "secret key";
    const masterKey = await findMasterKey(given, isEmpty);
    const trial = async (text: string): Promise<DatabaseState> => ({
      findings: [...findings, note(topic, text)],
      setup: {
        ...given,
        config: { ...given.config, database: null },
        folder: scratch,
        masterKey: await readSecretKey(scratch),
      },
    });
    if (masterKey === null) return await trial(NO_KEY);
    const key = `${secretKeyId(masterKey)}, of ${nameSecretKey(given)}`;
    if (isEmpty) return await trial(`${key}. The first start leaves a mark of it in the database`);
    if (findings.some(({ verdict }) => verdict === "problem") || !isCurrent)
      return { findings: [...findings, ok(topic, key)], setup: null };
    const setup = { ...given, masterKey };
    topic = "database";
    await using store = await openDatabase(setup, () => {});
    await assertMoved(store);
    topic = "secret key";
    if ((await readMeta(store, KEY_CHECK)) === null)
      return await trial(`${key}. The next start leaves a mark of it in the database`);
    await findCipher(store, setup);
    const text = `${key}. It opens this database. Keep a copy of it, apart from your backups`;
    return { findings: [...findings, ok(topic, text)], setup };
  } catch (error) {
    return { findings: [...findings, problemOf(topic, error)], setup: null };
  }
}

function connectionTo({ config, secrets }: Pick<Settings, "config" | "secrets">) {
  const { url = "", directUrl = null } = secrets.database ?? {};
  const size = config.database?.connections ?? 0;
  return { url, directUrl: directUrl ?? undefined, size, now: () => systemClock.now() };
}

const NO_KEY =
  "none yet. The first start makes one in this data folder, and every other host needs the same (POSTHORN_SECRET_KEY_FILE)";

/** Null where there is none yet. Throws `unavailable` where the database has one already, and this host none. */
async function findMasterKey(given: Omit<Setup, "masterKey">, isEmpty: boolean): Promise<Buffer | null> {
  const { secretKey } = given.folder;
  if (nameSecretKey(given) !== secretKey || existsSync(secretKey)) return readMasterKey(given);
  if (isEmpty) return null;
  throw new AppError(
    "unavailable",
    "This host has none. Set POSTHORN_SECRET_KEY or POSTHORN_SECRET_KEY_FILE to the key of the host that made the database.",
  );
}

/**
 * Looks at everything a start needs, one thing after the other; what depends on a broken thing is left out. Of
 * a platform that is named, what it needs comes first, and of the rest only problems. Throws `invalid` for a
 * platform that there is none of.
 */
export async function examine(env: Environment, given: string | null = null): Promise<Finding[]> {
  const catalog = await loadCatalog();
  const platform = given === null ? null : platformNamed(catalog.platforms, given)?.name;
  if (platform === undefined) throw new AppError("invalid", unknownPlatform(catalog.platforms, given ?? ""));
  const findings = await examineAll(env, catalog, (setup, ctx) => examineService(setup, ctx, platform));
  if (platform === null) return findings;
  const isOwn = ({ topic }: Finding): boolean => topic === platform;
  return [...findings.filter(isOwn), ...findings.filter((one) => !isOwn(one) && one.verdict === "problem")];
}

/** The way of programs that connect by OAuth, and of the rest only problems. `url`: null for this server's own. */
export async function examineAgents(env: Environment, url: string | null): Promise<Finding[]> {
  let walked: readonly Finding[] = [];
  const findings = await examineAll(env, await loadCatalog(), async ({ config }, ctx) => {
    walked = await examineOAuth(ctx, { url, publicUrl: config.publicUrl });
    return [];
  });
  return [...findings.filter(({ verdict }) => verdict === "problem"), ...walked];
}

/** What is looked at with a context, which is closed then. */
type ServiceCheck = (setup: Setup, ctx: Context) => Promise<readonly Finding[]>;

async function examineAll(
  env: Environment,
  catalog: Setup["catalog"],
  look: ServiceCheck,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const attempt = async <T>(topic: string, work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work();
    } catch (error) {
      findings.push(problemOf(topic, error));
      return null;
    }
  };

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
  if (settings !== null && !capabilitiesOf(settings.config).inFolder)
    return [...findings, ...(await examineElsewhere({ ...settings, folder, catalog }, look))];
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
  const made = scratch === null ? findOwnDatabase(folder).place : "none yet. The first start makes it";
  findings.push(ok("database", `${made} (${ctx.store.name})`));
  return [...findings, ...(await lookAndClose(look, setup, ctx))];
}

/** The same where the database is on a server; the folder holds what is this host's alone. */
async function examineElsewhere(
  given: Omit<Setup, "masterKey">,
  look: ServiceCheck,
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
  return [...findings, ...(await lookAndClose(look, { ...setup, ...given }, ctx))];
}

async function lookAndClose(look: ServiceCheck, setup: Setup, ctx: Context): Promise<readonly Finding[]> {
  try {
    return await look(setup, ctx);
  } finally {
    await ctx[Symbol.asyncDispose]();
  }
}

async function examineService(setup: Setup, ctx: Context, platform: string | null): Promise<Finding[]> {
  return [
    ...(await examineFiles(setup)),
    ...(await examineRestore(ctx)),
    ...(await examinePictures(ctx)),
    ...(await examineFilms(ctx, setup)),
    ...(await examinePublishing(ctx)),
    ...(await examinePlatforms(ctx, platform)),
    ...(await examinePort(ctx, setup.config)),
    ...(await examineAddress(ctx, setup.config, setup.catalog)),
  ];
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

/** Neither a database nor the mark of one that was lost. */
function isNew(folder: DataFolder): boolean {
  return findOwnDatabase(folder).isEmpty && !existsSync(folder.epoch);
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
  if (!capabilitiesOf(setup.config).manyHosts) return [];
  return [ok("files", `kept in ${setup.folder.files}, which all hosts must share`)];
}

async function examinePictures({ probe }: Context): Promise<Finding[]> {
  const { pictures, heic } = await probe.skills();
  const [missing, what] = pictures
    ? ["libheif-js", "HEIC, as phones take pictures, is refused"]
    : ["sharp", "pictures are sent as they are, or refused"];
  if (heic) return [ok("pictures", "made fit where a platform needs it, HEIC too")];
  return [
    note("pictures", `${what}, as ${missing} is not installed. Install Posthorn with its optional packages.`),
  ];
}

async function examineFilms({ films }: Context, { config }: Setup): Promise<Finding[]> {
  if (films === null) return [ok("films", "sent as they are, or refused (POSTHORN_FFMPEG=off)")];
  if (await films.isThere()) return [ok("films", "converted by ffmpeg where a platform needs it")];
  if (config.isFfmpegSet)
    return [
      problem(
        "films",
        `POSTHORN_FFMPEG: beside ${config.ffmpeg?.[0]} there is no ffprobe, or one of them is no program. Install both.`,
      ),
    ];
  return [ok("films", `sent as they are, or refused, as ffmpeg is not installed. ${films.howToInstall}`)];
}

/** A database that was put back from a copy is told as long as posts of it are in doubt. */
async function examineRestore(ctx: Context): Promise<Finding[]> {
  const restored = await readRestore(ctx);
  if (restored === null || restored.inDoubt === 0) return [];
  const posts =
    restored.inDoubt === 1
      ? "1 post that was due before may"
      : `${restored.inDoubt} posts that were due before may`;
  const text = `put back from a copy at ${toIso(restored.at)}: ${posts} have gone out. They are not sent again. Where the platform cannot tell, they are failed until you settle them: "posthorn list failed" shows them, and ${RESOLVE_HOW}.`;
  return [note("restore", text)];
}
