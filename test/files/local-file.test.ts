import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readConfig } from "../../src/app/config.ts";
import type { CallingClient, Inquiry, InquiryKind } from "../../src/context.ts";
import { uploadFile } from "../../src/files/file-uploads.ts";
import { callerOf, callOf } from "../support/context.ts";
import { createFileContext, type FileContext } from "../support/file-context.ts";
import { fixture } from "../support/media.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PICTURE = fixture("photo.png");
const KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE\n-----END OPENSSH PRIVATE KEY-----\n";

/** A person at a client: which folders it works in, and what they answer. */
function clientOf(kinds: readonly InquiryKind[], { uris = [] as string[], action = "accept" as const } = {}) {
  const asked: Inquiry[] = [];
  const client = {
    canAnswer: (kind: InquiryKind) => kinds.includes(kind),
    ask(inquiries: Record<string, Inquiry>) {
      asked.push(...Object.values(inquiries));
      return Object.fromEntries(
        Object.entries(inquiries).map(([name, { kind }]) => [
          name,
          kind === "folders" ? { kind, uris } : { kind, action, content: {} },
        ]),
      );
    },
  } as CallingClient;
  return { client, asked };
}

describe("a file of this machine", () => {
  const disk = temporaryFolder();
  const home = join(disk.path, "home", "ada");
  const elsewhere = join(disk.path, "mnt", "photos");
  let ctx: FileContext;

  beforeAll(async () => {
    for (const folder of ["Downloads/.cache", "Pictures/2027", ".ssh", ".config", "project", "Bilder"])
      mkdirSync(join(home, folder), { recursive: true });
    mkdirSync(elsewhere, { recursive: true });
    for (const path of [
      "a.png",
      "Downloads/a.png",
      "Downloads/.hidden.png",
      "Downloads/.cache/a.png",
      "Pictures/2027/a.png",
      "Bilder/a.png",
      ".ssh/a.png",
      "project/a.png",
    ])
      writeFileSync(join(home, path), PICTURE);
    writeFileSync(join(elsewhere, "a.png"), PICTURE);
    writeFileSync(join(elsewhere, "notes.txt"), "Not for you.");
    writeFileSync(join(home, ".ssh", "id_rsa"), KEY);
    const opened = await createFileContext();
    ctx = { ...opened, settings: { ...opened.settings, uploadFolders: null, homeFolder: home } };
  });

  afterAll(async () => {
    await ctx[Symbol.asyncDispose]();
    disk[Symbol.dispose]();
  });

  beforeEach(() => rmSync(join(home, ".config", "user-dirs.dirs"), { force: true }));

  const local = callerOf({ isLocal: true });
  const upload = (path: string, client?: CallingClient, context: FileContext = ctx) =>
    uploadFile({ ...callOf(context, local), ...(client && { client }) }, { path });
  const taken = { file: { name: "a.png", status: "ready" } };

  async function expectRefused(path: string, client?: CallingClient): Promise<void> {
    await expect(upload(path, client), path).rejects.toThrow(/^path: is not a picture, video or sound in /);
  }

  it("is taken out of the folders that a person usually has", async () => {
    expect(await upload(join(home, "Downloads", "a.png"))).toMatchObject(taken);
    expect(await upload(join(home, "Pictures", "2027", "a.png"))).toMatchObject(taken);
    expect(await upload("~/Pictures/2027/a.png")).toMatchObject(taken);
  });

  it("is taken out of a folder that has its name in another language, and no other for that", async () => {
    const path = join(home, "Bilder", "a.png");
    await expectRefused(path);
    const lines = ['XDG_PICTURES_DIR="$HOME/Bilder"', 'XDG_MUSIC_DIR="/"', 'XDG_VIDEOS_DIR="$HOME/"'];
    writeFileSync(
      join(home, ".config", "user-dirs.dirs"),
      [...lines, 'XDG_DOWNLOAD_DIR="$HOME/.ssh"'].join("\n"),
    );
    expect(await upload(path)).toMatchObject(taken);
    for (const other of [join(home, "a.png"), join(home, ".ssh", "a.png"), join(elsewhere, "a.png")])
      await expectRefused(other);
  });

  it("is not taken from anywhere else, nor where it is hidden, whatever leads there", async () => {
    symlinkSync(join(home, ".ssh"), join(home, "Downloads", "keys"));
    symlinkSync(join(home, ".ssh", "a.png"), join(home, "Downloads", "b.png"));
    symlinkSync(elsewhere, join(home, "Pictures", "mine"));
    for (const path of [
      join(home, "a.png"),
      "~/a.png",
      "~/../ada/.ssh/a.png",
      join(home, "project", "a.png"),
      join(elsewhere, "a.png"),
      join(home, ".ssh", "a.png"),
      join(home, "Downloads", ".hidden.png"),
      join(home, "Downloads", ".cache", "a.png"),
      join(home, "Downloads", "keys", "a.png"),
      join(home, "Downloads", "b.png"),
      join(home, "Pictures", "mine", "a.png"),
      `${home}/Downloads/../.ssh/a.png`,
      join(home, "Downloads", ".missing.png"),
      join(home, "Downloads", "keys", "missing.png"),
      "//server/share/a.png",
      "/etc/passwd",
      "/proc/self/environ",
      "/dev/zero",
    ])
      await expectRefused(path);
    for (const path of [join(home, "Downloads"), "~/Pictures"])
      await expect(upload(path), path).rejects.toThrow(
        "path: is a folder. Give the whole path of one file in it.",
      );
  });

  it("is said to be missing where it could be taken from", () =>
    expect(upload(join(home, "Downloads", "missing.png"))).rejects.toThrow(
      /^path: there is no file ".*missing\.png"\. Look at its name/,
    ));

  it("is no key, even where a hard link or a copy of one lies in an open folder", async () => {
    linkSync(join(home, ".ssh", "id_rsa"), join(home, "Downloads", "key.png"));
    writeFileSync(join(home, "Downloads", "copy.jpg"), KEY);
    for (const name of ["key.png", "copy.jpg"])
      await expect(upload(join(home, "Downloads", name))).rejects.toMatchObject({ kind: "invalid" });
  });

  it("is no pipe, which nobody would ever write to", async () => {
    execFileSync("mkfifo", [join(home, "Downloads", "pipe.png")]);
    await expectRefused(join(home, "Downloads", "pipe.png"));
  });

  it("is the one that was looked at, however quickly a link takes its folder's place", async () => {
    const folder = join(home, "Downloads", "turning");
    const kept = join(home, "Downloads", "kept");
    writeFileSync(join(elsewhere, "song.png"), fixture("sound.mp3"));
    mkdirSync(kept);
    writeFileSync(join(kept, "song.png"), PICTURE);
    for (let ticks = 0; ticks < 60; ticks += 1) {
      rmSync(folder, { force: true });
      renameSync(kept, folder);
      const taking = upload(join(folder, "song.png")).catch(() => null);
      for (let tick = 0; tick < ticks; tick += 1) await new Promise(setImmediate);
      renameSync(folder, kept);
      symlinkSync(elsewhere, folder);
      const answer = await taking;
      expect(answer).not.toMatchObject({ file: { type: "audio" } });
    }
  });

  it("is taken out of a project that the client works in, if that is not all of the home folder", async () => {
    const path = join(home, "project", "a.png");
    const at = (folder: string) => clientOf(["folders"], { uris: [pathToFileURL(folder).href] });
    expect(await upload(path, at(join(home, "project")).client)).toMatchObject(taken);
    for (const folder of [home, disk.path, "/", join(home, ".ssh"), join(home, "Downloads")])
      await expectRefused(path, at(folder).client);
    await expectRefused(path, clientOf(["folders"], { uris: ["https://example.com", "nonsense"] }).client);
    await expectRefused(join(home, ".ssh", "a.png"), at(join(home, ".ssh")).client);
  });

  it("is asked for elsewhere, once for each and only where it is a picture, video or sound", async () => {
    const yes = clientOf(["form"]);
    expect(await upload(join(elsewhere, "a.png"), yes.client)).toMatchObject(taken);
    expect(yes.asked).toEqual([
      expect.objectContaining({ message: expect.stringContaining(join(elsewhere, "a.png")) }),
    ]);
    for (const path of [
      join(elsewhere, "notes.txt"),
      join(elsewhere, "missing.png"),
      join(home, ".ssh", "id_rsa"),
      join(home, ".ssh", "a.png"),
      "/etc/passwd",
    ])
      await expectRefused(path, yes.client);
    expect(yes.asked).toHaveLength(1);
  });

  it("is not asked for by a name that reads like another", async () => {
    const path = join(elsewhere, "gnp\u202e.png");
    writeFileSync(path, PICTURE);
    await expectRefused(path, clientOf(["form"]).client);
  });

  it.each([
    ["decline" as const, { kind: "conflict", message: expect.stringMatching(/does not want/) }],
    [
      "cancel" as const,
      {
        kind: "invalid",
        message: expect.stringMatching(/no answer, so nothing was done\./),
      },
    ],
  ])("stays where it is after %s, with what to do", async (action, refusal) => {
    const { client } = clientOf(["form"], { action: action as "accept" });
    await expect(upload(join(elsewhere, "a.png"), client)).rejects.toMatchObject(refusal);
  });

  it("is asked for by nobody where folders were set, and not taken where none is open", async () => {
    const { client, asked } = clientOf(["form", "folders"], { uris: [pathToFileURL(elsewhere).href] });
    const withFolders = (uploadFolders: string[]) => ({
      ...ctx,
      settings: { ...ctx.settings, uploadFolders },
    });
    const set = withFolders([join(home, "project")]);
    expect(await upload(join(home, "project", "a.png"), client, set)).toMatchObject(taken);
    for (const path of [join(elsewhere, "a.png"), join(home, "Downloads", "a.png")])
      await expect(upload(path, client, set)).rejects.toThrow(/POSTHORN_UPLOAD_FOLDERS/);
    await expect(upload(join(home, "Downloads", "a.png"), client, withFolders([]))).rejects.toMatchObject({
      kind: "forbidden",
    });
    expect(asked).toEqual([]);
  });
});

describe("POSTHORN_UPLOAD_FOLDERS", () => {
  it.each([
    [undefined, null],
    ["", []],
    ["none", []],
    ["/usr, /bin ,", ["/usr", "/bin"]],
  ])("%j opens %j", (value, folders) => {
    const { config } = readConfig({ POSTHORN_UPLOAD_FOLDERS: value }, []);
    expect(config.uploadFolders).toEqual(folders);
  });
});
