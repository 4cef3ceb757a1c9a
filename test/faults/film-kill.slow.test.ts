import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { startCanary } from "../support/canary.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startServers } from "./killed-servers.ts";

/** Ids of the processes that work in a folder, as Linux tells. */
function atWorkIn(folder: string): string[] {
  return readdirSync("/proc").filter((id) => {
    if (!/^\d+$/.test(id)) return false;
    try {
      // The program's name alone: the server itself may have the folder in its words.
      const words = readFileSync(`/proc/${id}/cmdline`, "utf8").split("\0");
      return words[0]?.endsWith("ffmpeg") === true && words.some((one) => one.startsWith(folder));
    } catch {
      return false;
    }
  });
}

it.skipIf(process.platform !== "linux")(
  "a film whose server is killed leaves no ffmpeg and no folder, and is made once",
  { timeout: 280_000 },
  async () => {
    using folder = temporaryFolder();
    const film = join(folder.path, "long.mkv");
    const made = "-v error -y -f lavfi -i testsrc2=size=1280x720:rate=60 -t 10 -c:v mpeg4 -q:v 3";
    execFileSync("ffmpeg", [...made.split(" "), film]);
    const bytes = readFileSync(film);
    await using source = await startCanary((_request, response) => response.end(bytes));
    const env = { ...folder.env, POSTHORN_ALLOWED_HOSTS: "127.0.0.1" };
    await using servers = await startServers({ program: inject("program"), env, processes: 1 });
    const [accountId] = servers.accounts;
    const { file } = await servers.call(0, "upload_file", { url: `${source.origin}/long.mkv` });
    const at = new Date(Date.now() + 1_000).toISOString();
    const wanted = { accountId, mediaUrl: file.url, scheduledAt: at };
    const { post } = await servers.call(0, "schedule_post", wanted);
    const working = (): string[] => atWorkIn(folder.path);
    for (let kills = 0; kills < 2; kills++) {
      await expect.poll(working, { timeout: 90_000, interval: 20 }).toHaveLength(1);
      const [before] = working();
      await servers.kill(0);
      // Only one that the next start began may be there.
      await expect.poll(() => working().includes(before ?? ""), { timeout: 20_000 }).toBe(false);
      expect(working().length).toBeLessThan(2);
    }
    const status = async (): Promise<string> =>
      (await servers.call(0, "get_post", { id: post.id })).post.status;
    await expect.poll(status, { timeout: 120_000 }).toBe("published");
    expect(working()).toEqual([]);
    const spool = join(folder.path, "data", "spool");
    expect(readdirSync(spool).filter((name) => name.startsWith("film_"))).toEqual([]);
    expect(readdirSync(join(folder.path, "data", "files", "films"))).toHaveLength(1);
  },
);
