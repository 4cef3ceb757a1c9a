/** How a command of the operating system ended. */
export interface Ran {
  /** Its exit status; null where there is no such command. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a start with the settings of a data folder would do. */
export interface Instance {
  /** Where this machine reaches it; null where any free port is taken. */
  readonly address: string | null;
  /** Where others reach it. */
  readonly publicUrl: string;
  /** The key that the first start leaves. */
  readonly apiKeyFile: string;
}

/** The operating system, as far as `posthorn service` needs it. Paths are absolute. */
export interface Machine {
  /** As Node names it: linux, darwin, win32, … */
  readonly platform: string;
  /** In which systemd may not be running; null: it is a whole machine. */
  readonly enclosure: "container" | "wsl" | null;
  /** `id` is -1 where users have none. */
  readonly user: { readonly id: number; readonly name: string; readonly home: string };
  /** What runs this program, and its file; null where it runs from its sources. */
  readonly node: string;
  readonly program: string | null;
  /** When that file was written, in ISO 8601: tells builds of one release apart. */
  readonly builtAt: string;
  /** The data folder that this shell's environment means. */
  readonly dataFolder: string;
  /** Names of settings that this shell's environment has otherwise than the data folder's posthorn.env. */
  listStraySettings(): Promise<readonly string[]>;
  /** Reads a data folder's settings as a service does, without this shell's; makes what is missing. */
  openInstance(folder: string): Promise<Instance>;
  /** Whether a server of ours is there: one that works, one that cannot, or none. */
  probe(address: string): Promise<"ready" | "unready" | "none">;
  /** What it writes is kept for the answer; standard input is empty. */
  run(command: string, args: readonly string[]): Promise<Ran>;
  /** What it writes goes where our own output goes, until it or this process is to end. */
  follow(command: string, args: readonly string[]): Promise<number | null>;
  isFolder(path: string): boolean;
  read(file: string): Promise<string | null>;
  /** With the folders above it. */
  write(file: string, text: string): Promise<void>;
  remove(file: string): Promise<void>;
  sleep(ms: number): Promise<void>;
}
