import { randomBytes } from "node:crypto";
import { agentsWords } from "../../src/toolkit/words.ts";
import { type Caller, DEFAULT_OWNER, PERMISSIONS } from "../../src/domain/permissions.ts";
import { createMediaProbe } from "../../src/media/probe/media-reader.ts";
import { showError } from "../../src/app/log.ts";
import type { Logger } from "../../src/ports/logger.ts";
import type { Outbound } from "../../src/ports/outbound.ts";
import type { AnyPlatform } from "../../src/ports/platform.ts";
import { type AppContext, type CallContext, plainCall } from "../../src/context.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { openStore } from "../../src/store/open-store.ts";
import { FakeClock } from "./clock.ts";
import { freshSchema } from "./fresh-schema.ts";

interface LogLine {
  readonly level: string;
  readonly fields: object;
  readonly message: string;
}

/** A logger that keeps its lines. `text()`: all of them with their errors, as they would be written. */
export function createMemoryLogger(): Logger & { readonly lines: LogLine[]; text(): string } {
  const lines: LogLine[] = [];
  const at =
    (level: string) =>
    (fields: object, message: string): void =>
      void lines.push({ level, fields, message });
  const text = (): string =>
    JSON.stringify(lines, (_name, value: unknown) => (value instanceof Error ? showError(value) : value));
  return { lines, text, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** A part of the context that a test did not bring and must not reach. */
function absent<T extends object>(name: string): T {
  return new Proxy({} as T, {
    get(_target, property) {
      throw new Error(`This test uses ctx.${name}.${String(property)} but did not provide ${name}.`);
    },
  });
}

export type TestContext = AppContext &
  AsyncDisposable & { readonly clock: FakeClock; readonly log: ReturnType<typeof createMemoryLogger> };

const ENGINES = ["sqlite", "postgres"] as const;
type TestEngine = (typeof ENGINES)[number];

/** Which engine the run asks for. Throws for one that is not listed here, and would be tried on another. */
export const testEngine = engineNamed(process.env.POSTHORN_TEST_ENGINE ?? "sqlite");

function engineNamed(name: string): TestEngine {
  const found = ENGINES.find((engine) => engine === name);
  if (found !== undefined) return found;
  throw new Error(
    `POSTHORN_TEST_ENGINE is "${name}", but test/support/context.ts knows: ${ENGINES.join(", ")}.`,
  );
}

/** The run asks for contexts on PostgreSQL. */
export const isOnPostgres = testEngine === "postgres";

const EMPTY_STORES: Readonly<Record<TestEngine, () => Promise<Store>>> = {
  sqlite: async () => openStore({ file: ":memory:", around: await freshSchema() }),
  // It needs Vitest, which those do without who use this in a process of their own.
  postgres: async () => (await import("./postgres-store.ts")).openTestStore(),
};

/** Of its own, in memory or on the run's PostgreSQL server. */
export function openEmptyStore(): Promise<Store> {
  return EMPTY_STORES[testEngine]();
}

/** What each context that is made from now on asks through, and who hears of it; null ends that. */
interface Watch {
  readonly door: (outbound: Outbound) => Outbound;
  readonly onContext: (ctx: TestContext) => void;
}
let watch: Watch | null = null;

/** For contexts that others make, as the stages of the platforms do. */
export function watchContexts(watching: Watch | null): void {
  watch = watching;
}

/** A context over an empty database and a clock moved by hand; the rest is what the test passes. */
export async function createTestContext(
  overrides: Partial<AppContext> & { readonly platformList?: readonly AnyPlatform[] } = {},
): Promise<TestContext> {
  const store = overrides.store ?? (await openEmptyStore());
  const { platformList, ...parts } = overrides;
  const outbound = parts.outbound ?? absent<Outbound>("outbound");
  const ctx: TestContext = {
    settings: { timezone: "UTC", maxLatenessMs: 60 * 60_000, uploadFolders: [], platformSettings: {} },
    cipher: createCipher(randomBytes(32)),
    sockets: absent("sockets"),
    mailer: null,
    files: absent("files"),
    media: absent("media"),
    publicMedia: absent("publicMedia"),
    probe: createMediaProbe(),
    films: null,
    feed: absent("feed"),
    platforms: new Map((platformList ?? []).map((platform) => [platform.name, platform])),
    workerId: "wrk_test",
    publicUrl: async () => "http://localhost:4747",
    inWords: agentsWords,
    wakePublisher: () => {},
    ...parts,
    outbound: parts.outbound === undefined || watch === null ? outbound : watch.door(outbound),
    store,
    clock: (parts.clock as FakeClock | undefined) ?? new FakeClock(),
    log: (parts.log as ReturnType<typeof createMemoryLogger> | undefined) ?? createMemoryLogger(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
  watch?.onContext(ctx);
  return ctx;
}

/** A caller of the default owner with every permission, or what is given. */
export function callerOf(overrides: Partial<Caller> = {}): Caller {
  return {
    ownerId: DEFAULT_OWNER,
    permissions: PERMISSIONS,
    accountIds: null,
    keyId: "local",
    isLocal: false,
    ...overrides,
  };
}

export function callOf(ctx: AppContext, caller: Caller = callerOf(), signal?: AbortSignal): CallContext {
  return plainCall(ctx, caller, signal);
}
