import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Packages {
  readonly names: readonly string[];
  /** Of Debian: "trixie", "sid"; left out: the one that this machine has. */
  readonly release?: string;
  /** All that they need too, C library and all; else they alone. */
  readonly withDependencies?: boolean;
}

/** Unpacks packages of Debian into a folder, by lists of its own: nothing is installed. Answers that folder. */
export function unpackPackages(folder: string, packages: Packages, root = join(folder, "root")): string {
  const { names, release, withDependencies = false } = packages;
  const apt = join(folder, "apt");
  mkdirSync(apt, { recursive: true });
  const env =
    release === undefined ? process.env : { ...process.env, APT_CONFIG: writeSettings(apt, release) };
  const run = (...args: string[]): void =>
    void execFileSync("apt-get", ["-q", ...args], { cwd: apt, env, stdio: ["ignore", "ignore", "inherit"] });
  if (release !== undefined) run("update");
  if (withDependencies) run("install", "-y", "--download-only", "--no-install-recommends", ...names);
  else run("download", ...names);
  const files = [apt, join(apt, "cache/archives")].flatMap((place) =>
    withDependencies || place === apt ? readdirSync(place).map((name) => join(place, name)) : [],
  );
  for (const file of files.filter((name) => name.endsWith(".deb")))
    execFileSync("dpkg-deb", ["-x", file, root]);
  return root;
}

/** Of an apt that knows nothing of this machine, and that changes nothing of it. */
function writeSettings(apt: string, release: string): string {
  for (const part of ["lists/partial", "cache/archives/partial"])
    mkdirSync(join(apt, part), { recursive: true });
  const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
  const source = `deb [signed-by=${keyring}] ${findMirror()} ${release} main\n`;
  writeFileSync(join(apt, "sources.list"), source);
  writeFileSync(join(apt, "status"), "");
  const settings = {
    "Dir::State::lists": join(apt, "lists"),
    "Dir::State::status": join(apt, "status"),
    "Dir::Cache": join(apt, "cache"),
    "Dir::Etc::sourcelist": join(apt, "sources.list"),
    "Dir::Etc::sourceparts": "/nonexistent",
    "Debug::NoLocking": "1",
    "APT::Sandbox::User": "",
  };
  const file = join(apt, "apt.conf");
  writeFileSync(
    file,
    Object.entries(settings)
      .map(([name, value]) => `${name} "${value}";\n`)
      .join(""),
  );
  return file;
}

/** Where this machine gets its own packages from; other releases lie at the same place. */
function findMirror(): string {
  const list = ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"];
  const places = execFileSync("apt-get", list, { encoding: "utf8" }).split("\n");
  const mirror = places.find((place) => /\/debian\/?$/.test(place));
  if (mirror === undefined) throw new Error("apt is set up for no packages of Debian on this machine.");
  return mirror;
}
