import { existsSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Finding } from "../../cli/host.ts";
import { listPlatformSettings, loadCatalog, type Catalog } from "../catalog.ts";
import { createContext, defaultPublicUrl, type Context } from "../compose.ts";
import type { Config } from "../config.ts";
import {
  locateDataFolder,
  openDataFolder,
  readEnvironment,
  readSecretKey,
  type DataFolder,
} from "../data-folder.ts";
import { examinePlatforms } from "./doctor-platforms.ts";
import { examinePublishing } from "./doctor-publishing.ts";
import { openBucket } from "../file-store.ts";
import { AppError, sentenceOf } from "../../domain/errors.ts";
import { explainFailure } from "./explain-failure.ts";
import { MINUTE, quote, SECOND, toIso } from "../../domain/time.ts";
import { readRestore } from "../../services/upkeep/restored.ts";
import { parseConfig, type Setup } from "../setup.ts";
import { secretKeyId } from "../../store/engine/cipher.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Clocks that differ by more publish at times nobody meant. */
const MAX_CLOCK_ERROR_MS = MINUTE;

/**
 * Looks at everything a start needs, one thing after the other; what depends on a broken thing is left out.
 * Throws `invalid` for a platform that there is none of.
 */
export async function examine(env: Environment, platform: string | null = null): Promise<Finding[]> {
  const findings: Finding[] = [];
  const note = (topic: string, verdict: Finding["verdict"], text: string): void =>
    void findings.push({ topic, verdict, text });
  const attempt = async <T>(topic: string, work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work();
    } catch (error) {
      note(topic, "problem", sentenceOf(error instanceof AppError ? error : explainFailure(error)));
      return null;
    }
  };

  const catalog = await loadCatalog();
  requireKnown(catalog, platform);
  const place = locateDataFolder(env);
  const settings = await attempt("settings", async () =>
    parseConfig(await readEnvironment(place, env), await listPlatformSettings()),
  );
  if (settings !== null)
    note(
      "settings",
      "ok",
      `read from the environment and ${place}/posthorn.env; time zone ${settings.config.timezone}`,
    );
  const folder = await attempt("data folder", () => openDataFolder(place));
  if (folder !== null) note("data folder", "ok", `${place} can be written`);
  if (folder === null) return findings;
  // What the first start makes is tried elsewhere: a new folder may be about to get a backup, with its own
  // key.
  await using scratch = isNew(folder) ? await makeScratch() : null;
  const trial = scratch?.folder ?? folder;
  const isKeyThere = existsSync(folder.secretKey) || scratch === null;
  const masterKey = await attempt("secret key", () => readSecretKey(isKeyThere ? folder : trial));
  if (masterKey !== null)
    note(
      "secret key",
      "ok",
      isKeyThere
        ? `${secretKeyId(masterKey)}, readable by this user alone; keep a copy of it, apart from your backups`
        : "none yet; the first start makes it",
    );
  if (settings === null || masterKey === null) return findings;

  const setup: Setup = {
    ...settings,
    config: { ...settings.config, logLevel: "silent" },
    folder: trial,
    masterKey,
    catalog,
  };
  const ctx = await attempt("database", () => createContext(setup));
  if (ctx === null) return findings;
  try {
    const made = scratch === null ? folder.database : "none yet; the first start makes it";
    note("database", "ok", `${made} (${ctx.store.engine})`);
    findings.push(
      ...(await examineFiles(setup, ctx)),
      ...(await examineRestore(ctx)),
      ...(await examinePublishing(ctx)),
    );
    findings.push(
      ...(await examinePlatforms(ctx, platform)),
      ...(await examineAddress(ctx, setup.config, catalog)),
    );
  } finally {
    await ctx[Symbol.asyncDispose]();
  }
  return findings;
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

/** The folder was looked at as part of the data folder. */
async function examineFiles(setup: Setup, ctx: Context): Promise<Finding[]> {
  const bucket = await openBucket(setup, ctx);
  return bucket === null ? [] : (await bucket.examine()).map((finding) => ({ topic: "files", ...finding }));
}

/** A database that was put back from a copy is told as long as posts of it are in doubt. */
async function examineRestore(ctx: Context): Promise<Finding[]> {
  const restored = await readRestore(ctx);
  if (restored === null || restored.inDoubt === 0) return [];
  const posts =
    restored.inDoubt === 1
      ? "1 post that was due before may"
      : `${restored.inDoubt} posts that were due before may`;
  const text = `put back from a copy at ${toIso(restored.at)}: ${posts} have gone out. They are not sent again; those whose platform cannot tell are failed, and you settle them with resolve_post.`;
  return [{ topic: "restore", verdict: "note", text }];
}

/** Whether others reach this server, and whether its clock and ours agree. */
async function examineAddress(ctx: Context, config: Config, catalog: Catalog): Promise<Finding[]> {
  const now = ctx.clock.now();
  if (config.publicUrl === null) {
    const fetching = catalog.platforms
      .filter(({ capabilities }) => capabilities.fetchesMedia.length > 0)
      .map(({ title }) => title);
    const who =
      fetching.length === 0
        ? "No platform here needs more."
        : `Posts with media need it on: ${fetching.join(", ")}.`;
    return [
      { topic: "clock", verdict: "ok", text: `${toIso(now)}; it could not be compared with another` },
      {
        topic: "public address",
        verdict: "note",
        text: `only this machine reaches ${defaultPublicUrl(config)}; set POSTHORN_PUBLIC_URL to change that. ${who}`,
      },
    ];
  }
  const address = `${config.publicUrl}/healthz`;
  try {
    const response = await ctx.outbound.request({
      method: "GET",
      url: address,
      timeoutMs: 10 * SECOND,
      maxRedirects: 0,
    });
    response.body.resume();
    const isUp = response.status === 200;
    return [
      compareClocks(now, Date.parse(response.headers["date"] ?? "")),
      {
        topic: "public address",
        verdict: isUp ? "ok" : "problem",
        text: isUp
          ? `${address} answers`
          : `${address} answers with status ${response.status}. Check the reverse proxy in front of Posthorn.`,
      },
    ];
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    return [
      { topic: "clock", verdict: "ok", text: `${toIso(now)}; it could not be compared with another` },
      {
        topic: "public address",
        verdict: "problem",
        text: `${address} does not answer. Is "posthorn serve" running, and does the name lead here? (${reason})`,
      },
    ];
  }
}

function compareClocks(own: number, other: number): Finding {
  const isComparable = Number.isFinite(other);
  const difference = Math.abs(own - other);
  if (!isComparable || difference <= MAX_CLOCK_ERROR_MS) {
    return {
      topic: "clock",
      verdict: "ok",
      text: isComparable ? `${toIso(own)}, as the public address says too` : toIso(own),
    };
  }
  return {
    topic: "clock",
    verdict: "problem",
    text: `${toIso(own)}, but the public address says ${toIso(other)}. Set the clock (NTP), or posts go out at the wrong time.`,
  };
}
