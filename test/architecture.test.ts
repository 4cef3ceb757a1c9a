import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * The rooms from the ground up, and what each may import beside itself. An arrow is here because it is used; one that
 * no import needs any more goes. `src/main.ts` is of `app`.
 */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  ports: ["domain"],
  media: ["domain", "ports"],
  platforms: ["domain", "ports"],
  store: ["domain", "ports"],
  context: ["domain", "ports", "store"],
  access: ["domain", "store", "context"],
  files: ["domain", "ports", "store", "context", "access"],
  channels: ["domain", "ports", "store", "context", "access"],
  publishing: ["domain", "ports", "store", "context", "access", "files", "channels"],
  posts: ["domain", "ports", "store", "context", "access", "files", "channels", "publishing"],
  reporting: [
    ...["domain", "ports", "store", "context", "access", "files", "channels", "publishing", "posts"],
  ],
  toolkit: ["domain", "context", "access", "channels", "posts"],
  tools: ["domain", "files", "channels", "posts", "reporting", "toolkit"],
  mcp: ["domain", "context", "channels", "posts", "toolkit"],
  http: [...["domain", "ports", "context", "access", "files", "channels", "posts", "reporting", "toolkit"]],
  cli: [
    ...["domain", "context", "access", "files", "channels", "publishing", "posts", "reporting", "toolkit"],
  ],
  app: [
    ...["domain", "ports", "media", "store", "context", "access", "files", "channels", "publishing", "posts"],
    ...["reporting", "toolkit", "mcp", "http", "cli"],
  ],
};

/** Rooms of use cases. */
const USE_CASES: readonly string[] = ["access", "files", "channels", "publishing", "posts", "reporting"];

/** How much house a reader has to hold in mind. */
const SIZE = { rooms: 22, floors: 12, arrows: 100, chain: 20 } as const;

/**
 * The rooms of `apps`, and what each imports beside itself and the rules of `src/domain`. `page/app.tsx`, which loads
 * the rooms of the page, is left out.
 */
const APP_ARROWS: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  ui: ["shared"],
  "features/post": ["shared"],
  "features/draft": ["shared", "ui"],
  "features/calendar": ["features/post", "shared", "ui"],
  review: ["features/draft", "shared", "ui"],
  calendar: ["features/calendar", "shared"],
  "page/data": ["shared"],
  "page/channel": ["page/data", "shared", "ui"],
  "page/post": ["features/post", "page/channel", "page/data", "shared", "ui"],
  page: ["page/data", "shared", "ui"],
  "page/rooms/channels": ["page/channel", "page/data", "shared", "ui"],
  "page/rooms/consent": ["page/data", "page/rooms/settings", "shared", "ui"],
  "page/rooms/plan": ["features/calendar", "page/channel", "page/data", "page/post", "shared", "ui"],
  "page/rooms/results": ["page/channel", "page/data", "page/post", "shared", "ui"],
  "page/rooms/review": ["features/draft", "page/channel", "page/data", "page/post", "shared", "ui"],
  "page/rooms/settings": ["page", "page/channel", "page/data", "shared", "ui"],
  "page/rooms/trouble": ["page/channel", "page/data", "page/post", "shared", "ui"],
  "page/rooms/welcome": ["page/data", "page/rooms/channels", "page/rooms/settings", "shared", "ui"],
  "page/rooms/write": ["page/channel", "page/data", "page/post", "page/rooms/channels", "shared", "ui"],
};

/** What else a file of `apps` imports: types of the tools' answers, and how cells of tables are written. */
const APP_IMPORTS: Readonly<Record<string, RegExp>> = {
  "apps/page/data/tools.ts": /^tools\/\w+\.ts$/,
  "apps/page/rooms/results/downloads.tsx": /^src\/posts\/imports\/cells\.ts$/,
};

/** Files of `src/app` that are no part of the composition. */
const PLAIN_APP_FILES: Readonly<Record<string, readonly string[]>> = {
  "src/app/config.ts": ["domain", "src/app/settings.ts"],
  "src/app/settings.ts": ["domain"],
  "src/app/system-clock.ts": ["ports"],
};

/** Packages that one folder alone knows; everybody else sees our own words for what they do. */
const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  "@modelcontextprotocol/": ["mcp"],
  "@noble/": ["platforms"],
  "@tus/": ["http", "media"],
  "@aws-sdk/": ["media"],
  "better-sqlite3": ["store"],
  commander: ["cli"],
  croner: ["publishing", "reporting/webhooks"],
  "csv-parse": ["posts/imports"],
  "csv-stringify": ["posts/imports"],
  express: ["http", "mcp"],
  kysely: ["store"],
  nodemailer: ["media"],
  pg: ["store"],
  pino: ["app"],
  undici: ["media"],
  "web-push": ["reporting/webhooks"],
  ws: ["media"],
};

/** What starts the program, and may load all the rest of its room. */
const STARTS = [
  "src/main.ts",
  "src/app/host.ts",
  ...["server", "session", "stdio"].map((name) => `src/app/start-${name}.ts`),
];

/**
 * The rooms of each layer, from the ground up: each may import those before it. What lies beside them in the
 * layer belongs to the ground, except for what puts the layer together.
 */
const ROOMS: Readonly<
  Record<string, { readonly order: readonly string[]; readonly tops: readonly string[] }>
> = {
  app: { order: ["", "operations"], tops: STARTS },
  channels: { order: ["platform-io", "accounts", "connecting"], tops: [] },
  posts: { order: ["drafts", "imports"], tops: [] },
  reporting: { order: ["health", "feeds", "webhooks", "results"], tops: ["src/reporting/export.ts"] },
  cli: { order: ["shell", "demo", "commands", "install", "service"], tops: ["src/cli/program.ts"] },
  domain: {
    order: [
      "text",
      "",
      "settings",
      "accounts",
      "files",
      "posts",
      "drafts",
      "arguments",
      "webhooks",
      "health",
    ],
    tops: [],
  },
  http: {
    order: ["access", "", "pages", "api", "accounts", "files", "feeds", "openapi", "health", "oauth", "page"],
    tops: ["src/http/app.ts"],
  },
  mcp: { order: ["resources", "calls", "prompts", "server.ts", "transports"], tops: [] },
  media: { order: ["outbound", "stores", "probe", "film", "source"], tops: [] },
  store: {
    order: ["schema", "engine", "queries", "local", "sqlite", "postgres", "moving", "backup"],
    tops: ["src/store/open-store.ts"],
  },
};

/** Folders with a file for each of something that there may be any number of. */
const LISTS: readonly string[] = ["tools"];

/** Statements of SQL, as they begin in a text. */
const SQL =
  /["'`]\s*(SELECT\s|INSERT INTO\s|UPDATE \w+ SET|DELETE FROM\s|WITH RECURSIVE|PRAGMA\s|CREATE (TABLE|INDEX))/;

const CHOOSES = "src/store/open-store.ts";

/** The SQL of PostgreSQL, which an engine that is PostgreSQL in another way may import. */
const POSTGRES_SQL: readonly string[] = ["claims", "post-index", "schema"].map(
  (name) => `src/store/postgres/${name}.ts`,
);

/** Which engine the settings mean, and what that one can do. */
const ENGINE_CHOICES: readonly string[] = [CHOOSES, "src/app/file-store.ts"];

/** Whether SQLite's file is there, which says nothing of another engine's. */
const ASKS_FOR_FILE = /\b(existsSync|isThere|statSync|sizeOf)\((\w+\.)*database\b/;
/** Of these, what is done with a database that is one file. */
const BACKUP_FILES: readonly string[] = [
  "src/app/operations/replaced-database.ts",
  "src/app/operations/restore-backup.ts",
];
/** Whether the setting of a server is there. In the store a variable of this name is something else. */
const ASKS_FOR_SETTING = /\bdatabase [!=]== null/;

/**
 * What is outside of the program, how it is reached, and where: in the rooms that make the ports of it, and in the
 * files named besides. Everything else gets it from its context, so that the simulation decides about it.
 */
const OUTSIDE: Readonly<Record<string, { readonly is: RegExp; readonly in: readonly string[] }>> = {
  time: { is: /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b/, in: ["src/app/system-clock.ts"] },
  timers: {
    is: /\bset(Timeout|Interval|Immediate)\b|"node:timers/,
    in: [
      ...["src/app/", "src/main.ts", "src/media/", "src/store/", "src/http/server.ts"],
      // Node's own timeouts of signals get lost, and the locks of uploads are files.
      ...["src/domain/time.ts", "src/http/files/upload-locks.ts"],
      // Others get their turn.
      ...["src/posts/imports/plan-import.ts", "src/mcp/transports/endpoints.ts"],
      // Loops of the process, which croner wakes each second, and their end.
      ...["src/publishing/loop.ts", "src/publishing/running-publisher.ts"],
      "src/reporting/webhooks/webhook-deliveries.ts",
      // Runs in the browser.
      "src/http/accounts/scripts.ts",
    ],
  },
  // Processes do not try again together, nor begin together.
  dice: {
    is: /\bMath\.random\b/,
    in: ["src/publishing/run.ts", "src/publishing/running-publisher.ts", "src/store/postgres/"],
  },
  files: {
    is: /"node:fs/,
    in: [
      ...["src/app/", "src/store/", "src/media/", "src/ports/disk-space.ts"],
      // What a person names at the shell, and what is sent from this machine.
      ...["src/cli/", "src/files/local-file.ts", "src/reporting/export.ts"],
      // Of the package itself: its tools, pages and guides.
      ...["src/toolkit/load-folder.ts", "src/http/openapi/", "src/http/page/", "src/mcp/resources/"],
      // Uploads that go on where they broke off, and a socket that is a file.
      ...["src/http/files/", "src/http/server.ts"],
    ],
  },
  sockets: {
    is: /^(?!import type).*("node:(net|tls|https?|http2|dgram|dns)[/"]|\bawait fetch\()/,
    in: ["src/media/outbound/", "src/http/server.ts"],
  },
};

/**
 * Where use cases write what is no call's effect, and why. Everything else goes through
 * `commitOnce`, which commits the answer of a call with an idempotency key together with what the call did.
 */
const OTHER_WRITES: Readonly<Record<string, string>> = {
  "src/access/api-keys.ts": "keys of the command line, and when a key was used last",
  "src/access/confirmations.ts": "a person's yes, used once, before the call begins",
  "src/access/idempotency.ts": "the keys themselves",
  "src/access/oauth/clients.ts": "programs that register themselves, for nobody yet",
  "src/access/oauth/consents.ts": "a person's yes or no to a program, on the page",
  "src/access/oauth/grants.ts": "a program's access, ended on the page",
  "src/access/oauth/requests.ts": "what a program asks of a person who is not known yet",
  "src/access/oauth/tokens.ts": "codes and tokens that programs exchange",
  "src/access/page-sessions.ts": "who is signed in to the page, and its greeting, put away",
  "src/channels/connecting/connect-page.ts": "how often a link was tried, and why that failed",
  "src/channels/connecting/account-io.ts": "what a platform learned of an account while it was used",
  "src/channels/connecting/inspect.ts": "what a platform says of an account, asked by nobody in particular",
  "src/channels/connecting/consent.ts": "a state made and used up, tries, and why one failed",
  "src/channels/connecting/oauth.ts": "apps registered at a server, or forgotten by it",
  "src/channels/connecting/renew-tokens.ts": "channels whose tokens were refused or go into a grant",
  "src/channels/connecting/renewal.ts": "tokens renewed, or refused by the platform",
  "src/posts/drafts/approval.ts": "where the media of a draft are stored, before a person looks once more",
  "src/posts/drafts/draft-events.ts": "what is told of drafts that went out in part",
  "src/posts/drafts/series.ts": "the next posts of a series, made ahead",
  "src/posts/drafts/taking-in.ts": "files that were taken in for drafts, gone by maintenance",
  "src/reporting/feeds/calendar-link.ts": "the calendar's address, from the command line",
  "src/files/films.ts": "films that are converted, of which the posts know nothing",
  "src/files/unused-films.ts": "films that no post needs any more",
  "src/publishing/at-work.ts": "where the server of a data folder is reached",
  "src/files/file-uploads.ts": "uploads begun, given up and abandoned",
  "src/channels/platform-io/platform-apps.ts":
    "apps of platforms, entered by the administrator and not by a tool",
  "src/posts/store-posts.ts": "a dry run, whose transaction is taken back",
  "src/publishing/take-down.ts": "the lease on a post that its platform did not delete",
  "src/publishing/reconcile.ts": "the lease on a post while the platform is asked",
  "src/app/secret-key.ts": "which key a new database is sealed with, and secrets bound to their servers",
  "src/publishing/restored.ts": "what a restored backup holds back",
  "src/publishing/workers.ts": "which processes are at work",
  "src/reporting/results/collect.ts": "what platforms tell of live posts, asked by nobody in particular",
  "src/reporting/webhooks/push.ts": "the keys that push services know this installation by, made once",
  "src/reporting/webhooks/reminders.ts": "what the time alone brings: access that ends, the day at eight",
  "src/reporting/webhooks/webhook-deliveries.ts":
    "what the delivering loop leases, sends and gives back, and old deliveries",
  "src/app/operations/doctor.ts": "a write that tries whether writing works, taken back",
  "src/app/operations/rotate-secret.ts": "everything that is sealed, with another key",
  "src/app/operations/replaced-database.ts": "what is forgotten of a database that is put aside",
  "src/app/operations/restore-backup.ts": "what a restored backup begins with",
};

interface Source {
  readonly path: string;
  readonly layer: string;
  readonly text: string;
  readonly imports: readonly string[];
}

const sources = [...listSources("src"), ...listSources("tools")];
const appSources = listSources("apps");

/** Of `src/store/<name>/engine.ts`; that of `engine` is what they all are. */
const engines = sources.flatMap(({ path }) => {
  const name = /^src\/store\/(\w+)\/engine\.ts$/.exec(path)?.[1];
  return name === undefined || name === "engine" ? [] : name;
});

/** A comparison with the name of an engine or of its package, or a look at its options. */
const ASKS_FOR_ENGINE = new RegExp(
  `[!=]==? ["'\`](node:)?(${[...engines, ...packagesOf("store")].join("|")})\\w*["'\`]|"\\w+" in options|store\\.name [!=]==`,
  "i",
);

function packagesOf(layer: string): string[] {
  return Object.keys(ONLY_IN).filter((name) => ONLY_IN[name]?.includes(layer));
}

function listSources(folder: string): Source[] {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" });
  return files.filter((file) => /\.tsx?$/.test(file)).map((file) => readSource(join(folder, file)));
}

function readSource(file: string): Source {
  const text = readFileSync(join(ROOT, file), "utf8");
  const path = file.split(sep).join("/");
  const imports = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  return { path, layer: layerOf(path), text, imports };
}

function layerOf(path: string): string {
  const [top = "", second = "", ...rest] = path.split("/");
  if (top === "tools") return "tools";
  if (second === "main.ts") return "app";
  return rest.length === 0 ? second.replace(/\.ts$/, "") : second;
}

/** The path of one of our files that an import leads to; null for a package. */
function targetOf(source: Source, name: string): string | null {
  if (!name.startsWith(".")) return null;
  return relative(ROOT, resolve(ROOT, dirname(source.path), name))
    .split(sep)
    .join("/");
}

function ownImports(source: Source): string[] {
  return source.imports
    .flatMap((name) => targetOf(source, name) ?? [])
    .filter((path) => /\.tsx?$/.test(path));
}

describe("architecture", () => {
  it("knows every folder", () => {
    const layers = new Set(sources.map((source) => source.layer));
    expect(
      [...layers].filter((layer) => ARROWS[layer] === undefined),
      "Add the folder to ARROWS of test/architecture.test.ts, with what it may import.",
    ).toEqual([]);
    const unknown = sources.flatMap(({ path }) => {
      const [layer = "", room = ""] = roomOf(path).split("/");
      const rooms = ROOMS[layer];
      return rooms === undefined || room === "" || rooms.order.includes(room) ? [] : `${layer}/${room}`;
    });
    expect(
      [...new Set(unknown)],
      "Add the room to `order` in ROOMS of test/architecture.test.ts, after the rooms that it imports.",
    ).toEqual([]);
  });

  it("imports only downwards", () => {
    const forbidden = sources.flatMap((source) => {
      const plain = PLAIN_APP_FILES[source.path];
      const allowed = plain ?? [source.layer, ...(ARROWS[source.layer] ?? [])];
      return ownImports(source)
        .filter((path) => !allowed.includes(layerOf(path)) && !allowed.includes(path))
        .map((path) => `${source.path} imports ${path}`);
    });
    expect(forbidden).toEqual([]);
  });

  it("has an arrow only where an import needs it, none up, and a house that can be held in mind", () => {
    const rooms = Object.keys(ARROWS);
    const used = (room: string): string[] => {
      const targets = sources
        .filter(({ layer }) => layer === room)
        .flatMap(ownImports)
        .map(layerOf);
      return rooms.filter((other) => other !== room && targets.includes(other));
    };
    expect(Object.fromEntries(rooms.map((room) => [room, used(room)]))).toEqual(ARROWS);
    const floors = new Map<string, number>();
    for (const room of rooms) {
      const below = ARROWS[room]!.map((other) => floors.get(other) ?? Number.NaN);
      floors.set(room, 1 + Math.max(0, ...below));
    }
    const measured = {
      rooms: rooms.length,
      floors: Math.max(...floors.values()),
      arrows: Object.values(ARROWS).flat().length,
      chain: longestChain().length,
    };
    for (const [name, most] of Object.entries(SIZE))
      expect(measured[name as keyof typeof SIZE], name).toBeLessThanOrEqual(most);
  });

  it("lets what the apps share know no page, and has an arrow between rooms of `apps` only where it is needed", () => {
    const importsOf = (room: string): string[] =>
      appSources
        .filter(({ path }) => appRoomOf(path) === room && path !== "apps/page/app.tsx")
        .flatMap((source) =>
          ownImports(source).filter((path) => APP_IMPORTS[source.path]?.test(path) !== true),
        );
    const used = (room: string): string[] => {
      const targets = new Set(
        importsOf(room)
          .filter((path) => layerOf(path) !== "domain")
          .map(appRoomOf),
      );
      return [...targets].filter((other) => other !== room).toSorted();
    };
    const rooms = [...new Set(appSources.map(({ path }) => appRoomOf(path)))];
    expect(Object.fromEntries(rooms.map((room) => [room, used(room)]))).toEqual(APP_ARROWS);
  });

  it("imports rooms of its own layer in their order", () => {
    const forbidden = sources.flatMap((source) =>
      ownImports(source)
        .filter((path) => layerOf(path) === source.layer && floorOf(path) > floorOf(source.path))
        .map((path) => `${source.path} imports ${path}`),
    );
    expect(forbidden).toEqual([]);
  });

  it("keeps SQL in the store", () => {
    const speaking = sources
      .filter(({ layer }) => layer !== "store")
      .flatMap((source) =>
        codeLines(source.text)
          .filter((line) => SQL.test(line))
          .map((line) => `${source.path}: ${line.trim()}`),
      );
    expect(speaking).toEqual([]);
    const looking = sources.filter(
      (source) =>
        source.layer !== "store" &&
        source.imports.some((name) => /\/engine\/(handle|driver|database)\.ts$/.test(name)),
    );
    expect(looking.map(({ path }) => path)).toEqual([]);
  });

  it("chooses an engine in one place, and asks nowhere which one it is", () => {
    expect(engines).toEqual(expect.arrayContaining(["postgres", "sqlite"]));
    const room = (path: string): string =>
      engines.find((name) => path.startsWith(`src/store/${name}/`)) ?? "";
    const reaching = sources.flatMap((source) =>
      ownImports(source)
        .filter((path) => room(path) !== "" && room(path) !== room(source.path))
        .filter((path) => room(source.path) === "" || !POSTGRES_SQL.includes(path))
        .map((path) => `${source.path} imports ${path}`),
    );
    expect(
      reaching.filter((one) => !one.startsWith(`${CHOOSES} `)),
      `Only ${CHOOSES} imports an engine. One engine imports of another only POSTGRES_SQL.`,
    ).toEqual([]);
    const asking = sources
      .filter(({ path }) => room(path) === "" && !ENGINE_CHOICES.includes(path))
      .flatMap((source) =>
        codeLines(source.text)
          .filter(
            (line) => ASKS_FOR_ENGINE.test(line) || (source.layer !== "store" && ASKS_FOR_SETTING.test(line)),
          )
          .map((line) => `${source.path}: ${line.trim()}`),
      );
    expect(asking, "Ask `capabilities` what the engine can do.").toEqual([]);
    const looking = sources
      .filter(({ path, layer }) => layer !== "store" && !BACKUP_FILES.includes(path))
      .flatMap((source) =>
        codeLines(source.text)
          .filter((line) => ASKS_FOR_FILE.test(line))
          .map((line) => `${source.path}: ${line.trim()}`),
      );
    expect(looking, "Ask `findOwnDatabase` whether the data folder has a database.").toEqual([]);
  });

  it("keeps the ways of an engine to forty functions", () => {
    const file = sources.find(({ path }) => path === "src/store/engine/engine.ts");
    const tree = ts.createSourceFile("engine.ts", file?.text ?? "", ts.ScriptTarget.Latest);
    const functions = tree.statements
      .filter(ts.isInterfaceDeclaration)
      .flatMap(({ members }) => members.filter(ts.isMethodSignature))
      .map(({ name }) => name.getText(tree));
    expect(functions).toEqual(expect.arrayContaining(["write", "findDue", "hold", "tell", "find"]));
    expect(functions.length).toBeLessThanOrEqual(40);
    const guide = readFileSync(join(ROOT, "docs/add-an-engine.md"), "utf8");
    expect(functions.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
    // A value that is a function would not be counted.
    expect(file?.text).not.toMatch(/readonly \w+: \(/);
  });

  it("has no crowd of files side by side", () => {
    const counts = new Map<string, number>();
    for (const { path } of sources) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    const crowded = [...counts].filter(([folder, files]) => files > 20 && !LISTS.includes(folder));
    expect(crowded).toEqual([]);
  });

  it("keeps a platform in one folder of at most six files", () => {
    const counts = new Map<string, number>();
    for (const { path, layer } of sources)
      if (layer === "platforms" && !path.startsWith("src/platforms/shared/"))
        counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    expect([...counts].filter(([folder, files]) => files > 6 || folder === "src/platforms")).toEqual([]);
  });

  it("has no circles", () => {
    const graph = new Map(sources.map((source) => [source.path, ownImports(source)]));
    const done = new Set<string>();
    const circles: string[] = [];
    const walk = (path: string, trail: readonly string[]): void => {
      const start = trail.indexOf(path);
      if (start >= 0) return void circles.push([...trail.slice(start), path].join(" → "));
      if (done.has(path)) return;
      for (const next of graph.get(path) ?? []) walk(next, [...trail, path]);
      done.add(path);
    };
    for (const path of graph.keys()) walk(path, []);
    expect(circles).toEqual([]);
  });

  it("keeps packages in the folder that knows them", () => {
    const misplaced = sources.flatMap((source) =>
      source.imports
        .filter((name) =>
          Object.entries(ONLY_IN).some(
            ([pack, layers]) =>
              (name === pack || name.startsWith(pack.endsWith("/") ? pack : `${pack}/`)) &&
              !layers.some((room) => source.path.startsWith(`src/${room}/`)),
          ),
        )
        .map((name) => `${source.path} imports ${name}`),
    );
    expect(misplaced).toEqual([]);
  });

  it("names the endings of its files", () => {
    const bare = sources.flatMap((source) =>
      source.imports
        .filter((name) => name.startsWith(".") && !/\.(ts|json)$/.test(name))
        .map((name) => `${source.path} imports ${name}`),
    );
    expect(bare).toEqual([]);
  });

  it("writes what calls do with their answers", () => {
    const writing = sources
      .filter(({ layer, text }) => [...USE_CASES, "app"].includes(layer) && /\bstore\s*\.write\(/.test(text))
      .map(({ path }) => path);
    expect(writing.sort()).toEqual(Object.keys(OTHER_WRITES).sort());
  });

  it("touches the process in src/main.ts alone, and the console nowhere", () => {
    const touching = sources.flatMap((source) =>
      codeLines(source.text)
        .filter(
          (line) =>
            (/(?<![\w."'])process\./.test(line) && source.path !== "src/main.ts") ||
            // An address such as https://console.cloud.google.com is none.
            /(?<![\w./])console\./.test(line),
        )
        .map((line) => `${source.path}: ${line.trim()}`),
    );
    expect(touching).toEqual([]);
  });

  it.each(Object.entries(OUTSIDE))("reaches %s in the ports alone", (_what, { is, in: allowed }) => {
    const reaching = sources.filter(({ text }) => codeLines(text).some((line) => is.test(line)));
    const roomFor = (path: string): string => allowed.find((room) => path.startsWith(room)) ?? path;
    expect([...new Set(reaching.map(({ path }) => roomFor(path)))].sort()).toEqual([...allowed].sort());
  });

  it("reads addresses with parseUrl", () => {
    const others = sources.filter(({ text }) => codeLines(text).some((line) => line.includes("canParse(")));
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  it("exports defaults only from tools and platforms, and no barrels", () => {
    const isListed = (path: string): boolean =>
      /^tools\/[^/]+\.ts$/.test(path) || /^src\/platforms\/[^/]+\/index\.ts$/.test(path);
    const wrong = sources
      .filter((source) => /^export default /m.test(source.text) !== isListed(source.path))
      .map((source) => source.path);
    expect(wrong).toEqual([]);
    expect(
      sources.filter((source) => /^export \* from/m.test(source.text)).map((source) => source.path),
    ).toEqual([]);
  });

  it("keeps files small", () => {
    const limits: Readonly<Record<string, number>> = { tools: 100 };
    const long = sources
      .map((source) => ({
        path: source.path,
        lines: source.text.split("\n").length - 1,
        limit: limits[source.layer] ?? 400,
      }))
      .filter(({ lines, limit }) => lines > limit)
      .map(({ path, lines, limit }) => `${path}: ${lines} lines, at most ${limit}`);
    expect(long).toEqual([]);
  });
});

/** The longest way from file to file by imports that load something. */
function longestChain(): readonly string[] {
  const graph = new Map(sources.map((source) => [source.path, loadedBy(source)]));
  const known = new Map<string, readonly string[]>();
  const below = (path: string): readonly string[] => {
    const found = known.get(path);
    if (found !== undefined) return found;
    const ways = (graph.get(path) ?? []).map(below);
    const chain = [path, ...ways.reduce((one, other) => (other.length > one.length ? other : one), [])];
    known.set(path, chain);
    return chain;
  };
  return [...graph.keys()].map(below).reduce((one, other) => (other.length > one.length ? other : one), []);
}

/** Without types, which are gone at run time, and what is loaded when it is needed. */
function loadedBy(source: Source): string[] {
  const tree = ts.createSourceFile(source.path, source.text, ts.ScriptTarget.Latest);
  return tree.statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) return [];
    const { importClause: clause } = statement;
    const names = clause?.namedBindings;
    const isTypes =
      clause?.isTypeOnly === true ||
      (names !== undefined &&
        ts.isNamedImports(names) &&
        names.elements.every(({ isTypeOnly }) => isTypeOnly));
    const target = targetOf(source, statement.moduleSpecifier.text);
    return isTypes || target === null || !target.endsWith(".ts") ? [] : [target];
  });
}

/** `http/files` of `src/http/files/send-bytes.ts`; "" for what lies beside the rooms of its layer. */
function roomOf(path: string): string {
  const [top = "", layer = "", room = "", ...rest] = path.split("/");
  return top === "src" && rest.length > 0 ? `${layer}/${room}` : "";
}

/** `page/rooms/plan` of `apps/page/rooms/plan/tile.tsx`; what lies beside the rooms is of `page`, or is shared. */
function appRoomOf(path: string): string {
  if (!path.startsWith("apps/")) return path;
  const [, top = "", ...rest] = path.split("/");
  if (rest.length === 0) return "shared";
  const depth = top === "features" || (top === "page" && rest[0] !== "rooms") ? 1 : top === "page" ? 2 : 0;
  return [top, ...(rest.length > depth ? rest.slice(0, depth) : [])].join("/");
}

/** How high a file lies in its layer. A file may be named in the order, too. */
function floorOf(path: string): number {
  const { order, tops } = ROOMS[layerOf(path)] ?? { order: [], tops: [] };
  if (tops.includes(path)) return order.length + 1;
  const beside = path.split("/").at(-1) ?? "";
  const room = roomOf(path).split("/")[1] ?? (order.includes(beside) ? beside : "");
  return room === "" && !order.includes("") ? 0 : order.indexOf(room) + 1;
}

/** Without comment lines, which may speak of what is forbidden. */
function codeLines(text: string): string[] {
  return text.split("\n").filter((line) => !/^\s*(\/\/|\*|\/\*)/.test(line));
}
