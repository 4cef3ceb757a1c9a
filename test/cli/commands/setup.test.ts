import { describe, expect, it } from "vitest";
import { runCli } from "../../support/cli.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** No port that anything listens on: the tests ask no real platform. */
const TOKEN_URL = "http://127.0.0.1:9/token";

function offline() {
  const folder = temporaryFolder();
  return {
    ...folder,
    env: { ...folder.env, POSTHORN_TIKTOK_TOKEN_URL: TOKEN_URL },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

async function isConfigured(folder: { readonly env: Record<string, string> }): Promise<boolean> {
  const { stdout } = await runCli(["call", "list_platforms", '{"provider":["tiktok"]}'], folder);
  return JSON.parse(stdout).platforms[0].configured;
}

describe("posthorn setup", () => {
  it("shows the steps, asks for id and secret, and forgets them again", async () => {
    using folder = offline();
    const run = await runCli(["setup", "tiktok"], {
      ...folder,
      answers: ["aw-client", "canary-secret"],
      columns: 80,
    });
    expect(run).toMatchObject({ status: 0 });
    expect(run.stderr).toContain("1. ");
    expect(run.stdout).toBe(
      "The app is stored. It could not be tried, so the first sign-in shows whether id and secret are right. Connect a channel with: posthorn connect tiktok\n",
    );
    expect(run.questions.map(({ isHidden }) => isHidden)).toEqual([false, true]);
    expect(run.stdout + run.stderr).not.toContain("canary");
    expect(await isConfigured(folder)).toBe(true);
    const forgotten = await runCli(["setup", "tiktok", "--forget"], folder);
    expect(JSON.parse(forgotten.stdout)).toMatchObject({ provider: "tiktok", configured: false });
    expect(await isConfigured(folder)).toBe(false);
  });

  it("reads the secret from standard input for scripts, and asks nobody", async () => {
    using folder = offline();
    const args = ["setup", "tiktok", "--client-id", "aw-client", "--secret-stdin"];
    const run = await runCli(args, { ...folder, input: "canary-secret\n" });
    expect(run).toMatchObject({ status: 0, stderr: "", questions: [] });
    expect(JSON.parse(run.stdout)).toEqual({
      provider: "tiktok",
      configured: true,
      missing: [],
      environment: [],
      isAccepted: false,
    });
  });

  it("says what stands before it", async () => {
    using folder = offline();
    const env = { ...folder.env, POSTHORN_TIKTOK_CLIENT_ID: "id" };
    const run = await runCli(["setup", "tiktok"], { env, answers: ["a", "b"], columns: 80 });
    expect(run.stdout).toBe(
      "The app is stored. It could not be tried, so the first sign-in shows whether id and secret are right. POSTHORN_TIKTOK_CLIENT_ID is set in the environment or posthorn.env, and stands before what is entered here. Still missing: POSTHORN_TIKTOK_CLIENT_SECRET.\n",
    );
  });

  it.each([
    [["tiktok"], undefined, "no person can be asked. Add --client-id, and --secret-stdin"],
    [["bluesky"], [], "needs no app"],
    [["tiktokk"], [], "Did you mean tiktok?"],
    [["tiktok"], ["", ""], "--client-id: "],
    [["tiktok"], ["id", ""], "clientSecret: is required"],
    [["linkedin", "--way", "nothing"], ["id", "secret"], "way: "],
  ])("refuses %j with the answers %j", async (args, answers, problem) => {
    using folder = offline();
    const run = await runCli(["setup", ...args], {
      ...folder,
      ...(answers === undefined ? {} : { answers }),
    });
    expect(run).toMatchObject({ status: 1, stdout: "", stderr: expect.stringContaining(problem) });
  });
});
