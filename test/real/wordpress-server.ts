import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { unpackPackages } from "./debian.ts";
import { openDoor } from "./door.ts";
import { freePort } from "./world.ts";

const EXTENSIONS = [
  ...["mysqlnd", "mysqli", "ctype", "tokenizer", "dom", "xml", "simplexml", "iconv", "mbstring"],
  ...["fileinfo", "exif", "gd", "posix"],
];

const CONFIG = String.raw`<?php
define('DB_NAME', 'wordpress'); define('DB_USER', 'root'); define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:' . getenv('WP_SOCKET')); define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', '');
foreach (['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'] as $name) { define($name . '_KEY', $name); define($name . '_SALT', $name); }
$table_prefix = 'wp_';
// Application passwords without https.
define('WP_ENVIRONMENT_TYPE', 'local');
define('AUTOMATIC_UPDATER_DISABLED', true); define('WP_HTTP_BLOCK_EXTERNAL', true); define('WP_ACCESSIBLE_HOSTS', '127.0.0.1');
define('DISABLE_WP_CRON', file_exists(__DIR__ . '/cron-sleeps'));
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
`;

const ROUTER = String.raw`<?php
$root = $_SERVER['DOCUMENT_ROOT']; $path = urldecode(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH));
if (is_dir($root . $path) && is_file(rtrim($root . $path, '/') . '/index.php')) $path = rtrim($path, '/') . '/index.php';
if ($path !== '/index.php' && is_file($root . $path) && substr($path, -4) !== '.php') return false;
if (!is_file($root . $path)) $path = '/index.php';
$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = $path; chdir(dirname($root . $path)); require $root . $path;
`;

const INSTALL = String.raw`require ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install('A site', 'admin', 'admin@site.example', true, '', 'secret');
foreach (['writer' => 'author', 'helper' => 'contributor'] as $name => $role)
  wp_insert_user(['user_login' => $name, 'user_pass' => 'secret', 'user_email' => "$name@site.example", 'role' => $role]);`;

/** In a group of its own, with the workers that a server of PHP's leaves behind; ends with the script at the latest. */
function start(program: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(program, args, { env, stdio: "ignore", detached: true });
  process.once("exit", () => signal(child));
  return child;
}

function signal({ exitCode, signalCode, pid }: ChildProcess): boolean {
  const isThere = exitCode === null && signalCode === null && pid !== undefined;
  return isThere && process.kill(-pid);
}

async function stop(child: ChildProcess): Promise<void> {
  if (signal(child)) await once(child, "exit");
}

/**
 * WordPress of Debian's packages with PHP's own server and a MariaDB, unpacked into a folder. `given`: another
 * WordPress, of which a copy is taken.
 */
export async function startWordpress(folder: string, given: string | undefined) {
  const said = execFileSync("apt-cache", ["depends", "php-cli"], { encoding: "utf8" });
  const php = /php\d\.\d+(?=-cli)/.exec(said)?.[0] ?? "php8.2";
  const parts = ["cli", "common", "mysql", "gd", "xml", "mbstring"].map((name) => `${php}-${name}`);
  const database = ["mariadb-server", "mariadb-server-core", "mariadb-client-core", "liburing2", "libaio1"];
  const root = unpackPackages(folder, {
    names: [...["wordpress", "php-getid3", "libjs-cropper", "libjs-underscore"], ...parts, ...database],
  });
  const site = given === undefined ? join(root, "usr/share/wordpress") : join(folder, "wordpress");
  if (given !== undefined) cpSync(given, site, { recursive: true });
  const socket = join(folder, "db.sock");
  const port = await freePort();
  const door = await openDoor(port);
  const base = `http://127.0.0.1:${door.port}`;
  const libraries = `${root}/usr/lib/x86_64-linux-gnu:${root}/lib/x86_64-linux-gnu`;
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: libraries,
    WP_SOCKET: socket,
    PHP_CLI_SERVER_WORKERS: "4",
  };

  const data = join(folder, "db");
  const usr = join(root, "usr");
  const install = ["--no-defaults", `--basedir=${usr}`, `--datadir=${data}`, "--user=root", "--skip-test-db"];
  execFileSync(
    join(usr, "bin/mariadb-install-db"),
    [...install, "--auth-root-authentication-method=normal"],
    {
      env,
      stdio: "ignore",
    },
  );
  const serve = [
    "--no-defaults",
    `--basedir=${usr}`,
    `--datadir=${data}`,
    "--user=root",
    "--skip-networking",
  ];
  const places = [`--lc-messages-dir=${usr}/share/mysql`, `--plugin-dir=${usr}/lib/mysql/plugin`];
  const own = [`--socket=${socket}`, `--pid-file=${folder}/db.pid`, ...places];
  const mariadb = start(join(usr, "sbin/mariadbd"), [...serve, ...own], env);
  const sql = (text: string): void =>
    void execFileSync(join(usr, "bin/mariadb"), ["--no-defaults", "-S", socket, "-u", "root", "-e", text], {
      env,
      stdio: ["ignore", "ignore", "ignore"],
    });
  for (let n = 0; n < 100 && !existsSync(socket); n += 1) await wait(100);
  sql("create database wordpress");

  writeFileSync(join(site, "wp-config.php"), CONFIG);
  mkdirSync(join(site, "wp-content/uploads"), { recursive: true });
  const router = join(folder, "router.php");
  writeFileSync(router, ROUTER);
  const ini = join(folder, "php.ini");
  const lines = [
    `extension_dir=${join(usr, "lib/php")}/${execFileSync("ls", [join(usr, "lib/php")], { encoding: "utf8" })
      .split("\n")
      .find((name) => /^\d{8}$/.test(name))}`,
    ...EXTENSIONS.map((name) => `extension=${name}`),
    ...["memory_limit=256M", "upload_max_filesize=64K", "post_max_size=8M", "display_errors=0"],
    `sendmail_path=/bin/true`,
  ];
  writeFileSync(ini, lines.join("\n"));
  const program = join(usr, "bin", php);
  const run = (code: string): string => {
    const file = join(folder, "task.php");
    const { host } = new URL(base);
    const head = `<?php $_SERVER['HTTP_HOST'] = '${host}'; $_SERVER['REQUEST_URI'] = '/';`;
    const load = `${code.includes("wp_install(") ? "define('WP_INSTALLING', true);" : ""} require '${site}/wp-load.php';`;
    writeFileSync(file, `${head} ${load} ${code}`);
    return execFileSync(program, ["-n", "-c", ini, file], {
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  };
  run(INSTALL);
  run(`update_option('siteurl', '${base}'); update_option('home', '${base}');`);
  const server = start(program, ["-n", "-c", ini, "-S", `127.0.0.1:${port}`, "-t", site, router], env);
  for (let n = 0; n < 50 && (await fetch(base).catch(() => null)) === null; n += 1) await wait(100);

  return {
    base,
    door,
    version: run("echo $wp_version;"),
    run,
    setPermalinks: (structure: string) => run(`update_option('permalink_structure', '${structure}');`),
    sleepCron(doesSleep: boolean): void {
      if (doesSleep) writeFileSync(join(site, "cron-sleeps"), "");
      else rmSync(join(site, "cron-sleeps"), { force: true });
    },
    password: (user: string): string =>
      run(
        `[$p] = WP_Application_Passwords::create_new_application_password(get_user_by('login', '${user}')->ID, ['name' => 'by hand']); echo WP_Application_Passwords::chunk_password($p);`,
      ).trim(),
    /** As everybody sees it. */
    look: async (path: string): Promise<any> => (await fetch(`${base}/?rest_route=${path}`)).json(),
    /** The person signs in and agrees on the site's page; what the browser comes back with. */
    async approve(address: string, user: string): Promise<Record<string, string>> {
      const cookies = new Map([["wordpress_test_cookie", "WP%20Cookie%20check"]]);
      const cookie = () => [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const post = async (url: string, fields: Record<string, string>) => {
        const body = new URLSearchParams(fields);
        const answer = await fetch(url, {
          method: "POST",
          redirect: "manual",
          headers: { cookie: cookie() },
          body,
        });
        for (const line of answer.headers.getSetCookie()) {
          const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          cookies.set(name, value);
        }
        return answer;
      };
      await post(`${base}/wp-login.php`, { log: user, pwd: "secret", testcookie: "1" });
      const page = await (await fetch(address, { headers: { cookie: cookie() } })).text();
      const hidden = [...page.matchAll(/<input type="hidden"[^>]*name="([^"]+)"[^>]*value="([^"]*)"/g)];
      const text = (html: string) => html.replaceAll("&#038;", "&").replaceAll("&amp;", "&");
      const fields = Object.fromEntries(hidden.map(([, name = "", value = ""]) => [name, text(value)]));
      const form = { ...fields, app_name: "Posthorn", approve: "Yes" };
      const done = await post(`${base}/wp-admin/authorize-application.php`, form);
      return Object.fromEntries(new URL(done.headers.get("location") ?? base).searchParams);
    },
    async [Symbol.asyncDispose]() {
      await stop(server);
      await stop(mariadb);
      await door[Symbol.asyncDispose]();
    },
  };
}
