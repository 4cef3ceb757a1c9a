import { hostname } from "node:os";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHost } from "../../../src/app/host.ts";
import { systemClock } from "../../../src/app/system-clock.ts";
import type { Host, Terminal } from "../../../src/cli/host.ts";
import { runCommandLine } from "../../../src/cli/program.ts";
import { createFakeTerminal } from "../../support/cli.ts";
import {
  CLOSED,
  NEWS,
  SPORT,
  startConsentService,
  type ConsentService,
} from "../../support/consent-fixtures.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** The real time, in which nobody waits long. */
const clock = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(Math.min(ms, 5), signal),
};

let at: ConsentService;
beforeEach(async () => {
  at = await startConsentService({}, { clock });
});
afterEach(() => at[Symbol.asyncDispose]());

interface Run {
  readonly args?: readonly string[];
  readonly answers?: readonly string[];
  /** Called with the address of our page, once it is printed, and with what waits for a sentence. */
  readonly person: (url: string, untilTold: (sentence: string) => Promise<void>) => Promise<unknown>;
  readonly input?: string;
}

/** The command beside the running server, on its database. */
async function run({ args = [], answers, person, input = "" }: Run) {
  let walked: Promise<unknown> | null = null;
  const untilTold = (sentence: string): Promise<void> =>
    expect.poll(() => fake.stderr(), { timeout: 20_000 }).toContain(sentence);
  const fake = createFakeTerminal({
    input,
    ...(answers === undefined ? {} : { answers }),
    onOutput: (output) => {
      const url = /http:\S+\/connect\/[\w-]+/.exec(output)?.[0];
      if (url !== undefined) walked ??= person(url, untilTold);
    },
  });
  const host = {
    version: "0",
    terminal: {
      ...fake.terminal,
      // Nobody pastes an address.
      ask: async (question: string, options: Parameters<Terminal["ask"]>[1]) =>
        question.startsWith("Waiting") ? "" : fake.terminal.ask(question, options),
    },
    stopSignal: new AbortController().signal,
    findCommand: () => "posthorn",
    openSession: async () => ({
      ctx: at.service.ctx,
      servePages: async () => {},
      [Symbol.asyncDispose]: async () => {},
    }),
    explainFailure: async () => null,
    logFailure: async (error: unknown) => fake.terminal.tell(String(error)),
  } as unknown as Host;
  const status = await runCommandLine(["connect", "parlor", ...args], host);
  await walked;
  return { status, stdout: fake.stdout(), stderr: fake.stderr(), questions: fake.questions };
}

describe("posthorn connect, on the platform's own page", () => {
  it("prints the address, waits until the browser has come back, and prints the account", async () => {
    const done = await run({ person: (url) => at.agree(url) });
    expect(done).toMatchObject({ status: 0, questions: [] });
    expect(JSON.parse(done.stdout)).toMatchObject({ provider: "parlor", name: "News", status: "connected" });
    expect(done.stderr).toContain("/connect/");
  });

  it.each([
    ["all", ["News", "Sport"]],
    ["page-2", ["Sport"]],
  ])("connects those of --targets %s", async (targets, names) => {
    at.parlor.channels = [NEWS, SPORT, CLOSED];
    const done = await run({ args: ["--targets", targets], person: (url) => at.agree(url) });
    expect(done.status).toBe(0);
    expect([JSON.parse(done.stdout)].flat().map(({ name }) => name)).toEqual(names);
  });

  it("waits for the page of a browser that did not begin", async () => {
    const person: Run["person"] = async (url, untilTold) => {
      const page = await fetch(await at.decide(await at.goOn(url)));
      // The command looks now and then: it would miss what is done at once.
      await untilTold("Confirm the channel");
      const body = new URLSearchParams({ target: "1" });
      await fetch(`${page.url}?step=choice`, { method: "POST", body });
    };
    const done = await run({ args: ["--targets", "all"], person });
    expect(done).toMatchObject({ status: 0, questions: [] });
    expect(JSON.parse(done.stdout)).toMatchObject({ name: "News" });
    expect(done.stderr).toContain("Confirm the channel on the page that it shows.");
  });

  it("asks by number for several, and lists those that cannot be had", async () => {
    at.parlor.channels = [NEWS, SPORT, CLOSED];
    const answers = ["3", "1, 2"];
    const done = await run({ answers, person: (url) => at.agree(url) });
    expect(JSON.parse(done.stdout)).toMatchObject([{ name: "News" }, { name: "Sport" }]);
    expect(done.stderr).toContain("3  Archive · You may not create content on this Page.");
  });

  it("takes the address that the browser ended at", async () => {
    const authorize = /http:\S+\/authorize\S+/;
    let shown = "";
    const fake = createFakeTerminal({ answers: [] });
    const host = {
      version: "0",
      terminal: {
        ...fake.terminal,
        tell: (text: string) => void (shown += text),
        ask: async () => at.decide(authorize.exec(shown)?.[0] ?? ""),
      },
      stopSignal: new AbortController().signal,
      openSession: async () => ({
        ctx: at.service.ctx,
        servePages: async () => {},
        [Symbol.asyncDispose]: async () => {},
      }),
    } as unknown as Host;
    expect(await runCommandLine(["connect", "parlor"], host)).toBe(0);
    expect(JSON.parse(fake.stdout())).toMatchObject({ name: "News" });
  });

  it("ends with the reason where the person says no, and where --targets names what is not there", async () => {
    at.provider.person = "refuses";
    const refused = await run({ person: (url) => at.agree(url) });
    expect(refused).toMatchObject({ status: 1, stdout: "" });
    expect(refused.stderr).toContain("permission was refused");
    at.provider.person = "agrees";
    at.parlor.channels = [NEWS, SPORT];
    const missing = await run({ args: ["--targets", "page-9"], person: (url) => at.agree(url) });
    expect(missing).toMatchObject({ status: 1, stdout: "" });
    expect(missing.stderr).toMatch(/"page-9" was not found.*page-1 \(News\)/);
  });

  it("takes --way and --targets with secrets, too", async () => {
    at.parlor.channels = [NEWS, SPORT];
    const args = ["--way", "bot", "--secrets-stdin"];
    const input = JSON.stringify({ botToken: "bot-canary" });
    const nobody = async (): Promise<void> => {};
    const unsaid = await run({ args, input, person: nobody });
    expect(unsaid.stderr).toMatch(/^--targets: several channels|--targets: several channels/);
    const done = await run({ args: [...args, "--targets", "all"], input, person: nobody });
    expect(JSON.parse(done.stdout)).toHaveLength(2);
  });

  it("opens pages of its own where no server runs", async () => {
    using folder = temporaryFolder();
    const host = createHost({
      env: { POSTHORN_LOG_LEVEL: "silent", POSTHORN_PORT: "0", ...folder.env },
      terminal: createFakeTerminal().terminal,
      self: { host: hostname(), pid: process.pid },
      node: process.execPath,
      stopSignal: new AbortController().signal,
      stdio: { stdin: new PassThrough(), stdout: new PassThrough(), readParentId: () => 1 },
    });
    await using session = await host.openSession();
    await session.servePages();
    const page = await fetch(
      `${(await session.ctx.publicUrl()).replace("localhost", "127.0.0.1")}/connect/x`,
    );
    expect(page.status).toBe(404);
    expect(await page.text()).toContain("This address does not work");
  });
});
