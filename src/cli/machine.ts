/** How a command of the operating system ended. */
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
  /**
   * Where this machine and others reach a server with the data folder's own settings, without this shell's.
   * `address` is null where any free port is taken.
   */
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
