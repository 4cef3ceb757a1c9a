import type { AppError } from "../domain/errors.ts";
import type { Permission } from "../domain/permissions.ts";
import type { Finding } from "../domain/health/findings.ts";
import type {
  BackupResult,
  MigrationResult,
  RestoreResult,
  RotationResult,
} from "../domain/health/backups.ts";
import type { AppContext } from "../context.ts";
import type { Toolbox } from "../toolkit/toolbox.ts";

/** Whose machine this is: what paths of other programs' settings are made of. */
export interface OwnFolders {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The person's or script's end of the command line. */
export interface Terminal {
  /** A person can be asked. */
  readonly isInteractive: boolean;
  /** Standard output is a terminal. */
  readonly isScreen: boolean;
  /** How many characters a line of it has. */
  readonly columns: number;
  /** Results: standard output. What a terminal would obey is shown as an escape. */
  print(text: string): void;
  /** Everything for a reader that is no result: standard error; shown as `print` shows it. */
  tell(text: string): void;
  /** All of standard input. */
  readAll(): Promise<string>;
  /** One line; what is typed for a hidden one does not show. */
  ask(
    question: string,
    options: { readonly isHidden: boolean; readonly signal: AbortSignal },
  ): Promise<string>;
}

/** The service opened for one command. */
export interface Session extends AsyncDisposable {
  readonly ctx: AppContext;
  readonly toolbox: Toolbox;
  readonly folder: string;
  /** Our pages can be opened from here on, at a server that runs or at this process. */
  servePages(): Promise<void>;
  /** Publishes what is due until the session ends. False: another process on the data folder does. */
  startPublishing(): Promise<boolean>;
}

export interface Server extends AsyncDisposable {
  readonly ctx: AppContext;
  readonly toolbox: Toolbox;
  readonly folder: string;
  readonly address: string;
  readonly publicUrl: string;
  /** The half that it runs. Null: both. */
  readonly half: "api" | "publisher" | null;
  /** Where another server is reached that serves the same data folder; null: none does. */
  readonly beside: string | null;
  /** The full key made at the first start; null ever after. */
  readonly firstKey: string | null;
  /** Where the first key is kept; null: it is not (any more). */
  readonly apiKeyFile: string | null;
  /** Signs in to the page, once, within 10 minutes. Null: there is no page. */
  readonly signInUrl: string | null;
  /** Where posts on the built-in feed are seen; null: there is no such channel. */
  readonly feedPage: string | null;
  /** What the start did to the database, in sentences. */
  readonly news: readonly string[];
}

interface ServerOptions {
  readonly role: "serve" | "cli";
  /** Only this half. Default: both. */
  readonly half?: "api" | "publisher" | undefined;
  /** A server of its own in this folder, whatever the settings say: any free port, loopback, no log. */
  readonly sandbox?: string;
  readonly tools?: string | undefined;
  /** In the place of `POSTHORN_HOST` and `POSTHORN_PORT`. */
  readonly host?: string | undefined;
  readonly port?: string | undefined;
}

interface StdioOptions {
  readonly permissions: readonly Permission[];
  /** In the place of `POSTHORN_TOOLS`. */
  readonly tools?: string | undefined;
}

/** How to start this installation. Absolute paths. */
export interface ProgramPlace {
  readonly node: string;
  readonly script: string;
  /** To be given at its start. Null: it is found without. */
  readonly dataFolder: string | null;
}

/** How a client starts this installation, before the name of a command. */
export interface ProgramLaunch extends Pick<ProgramPlace, "dataFolder"> {
  readonly command: string;
  readonly args: readonly string[];
}

/** What the commands need from the process; `src/main.ts` builds the real one. */
export interface Host {
  readonly version: string;
  readonly terminal: Terminal;
  readonly place: OwnFolders;
  /** Throws `unavailable` where nothing stays that others could start. */
  locateProgram(): ProgramPlace;
  /** Throws `unavailable` where it was not built. */
  locateLaunch(): ProgramLaunch;
  /** What a person types before the name of a command, in the shell that they are in. */
  findCommand(): string;
  /** Aborted when the process is asked to end. */
  readonly stopSignal: AbortSignal;
  openSession(options?: { readonly isRegistered?: boolean }): Promise<Session>;
  startServer(options: ServerOptions): Promise<Server>;
  /** Speaks MCP on standard input and output until the client goes. */
  runStdio(options: StdioOptions): Promise<void>;
  makeTemporaryFolder(): Promise<string>;
  removeFolder(path: string): Promise<void>;
  /** Looks at everything that may be wrong, and never throws for it. With the steps to set up the platform. */
  examine(platform: string | null): Promise<readonly Finding[]>;
  /** The way of programs that connect by OAuth. `url`: of `/mcp`; null: this server's own. */
  examineAgents(url: string | null): Promise<readonly Finding[]>;
  backup(options: { readonly file: string; readonly isForced: boolean }): Promise<BackupResult>;
  /** Throws `conflict` while anything runs on the data folder. */
  restore(options: {
    readonly file: string;
    readonly isForced: boolean;
    readonly isUnsigned: boolean;
  }): Promise<RestoreResult>;
  /** Throws `conflict` while anything runs on the data folder. `oldKeyFile`: where the old key is kept. */
  rotateSecret(options: { readonly oldKeyFile: string | null }): Promise<RotationResult>;
  /** Throws `conflict` while anything runs on the data folder, or where the target is in use. */
  migrateDatabase(
    progress: (moved: { readonly table: string; readonly rows: number }) => void,
  ): Promise<MigrationResult>;
  /** The operating system, for `posthorn service`. */
  openMachine(): Promise<Machine>;
  /** The sentence for trouble of the machine (a disk, a file in the way); null for a bug of ours. */
  explainFailure(error: unknown): Promise<AppError | null>;
  logFailure(error: unknown): Promise<void>;
}

export interface Ran {
  /** Its exit status; null where there is no such command. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The operating system, as far as `posthorn service` and `posthorn install` need it. Paths are absolute. */
export interface Machine {
  /** As Node names it: linux, darwin, win32, … */
  readonly platform: string;
  /** `id` is -1 where users have none. */
  readonly user: { readonly id: number; readonly name: string; readonly home: string };
  /** The data folder that this shell's environment means. */
  readonly dataFolder: string;
  makeDataFolder(): Promise<void>;
  /** Where a server with the folder's own settings is reached. `address` null: at any free port. */
  readAddress(): Promise<{ readonly address: string | null; readonly publicUrl: string }>;
  /** Whether a server of ours is there: one that works, one that cannot, or none. */
  probe(address: string): Promise<"ready" | "unready" | "none">;
  /** What it writes is kept for the answer; standard input is empty. */
  run(command: string, args: readonly string[]): Promise<Ran>;
  /** What it writes goes where our own output goes, until it or this process is to end. */
  follow(command: string, args: readonly string[]): Promise<number | null>;
  read(file: string): Promise<string | null>;
  /** With the folders above it. */
  write(file: string, text: string): Promise<void>;
  remove(file: string): Promise<void>;
  sleep(ms: number): Promise<void>;
}
