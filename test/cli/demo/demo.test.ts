import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runCli } from "../../support/cli.ts";

describe("posthorn demo", () => {
  it("shows each state as it is reached, and leaves nothing behind", async () => {
    const run = await runCli(["demo", "--exit"]);
    expect(run).toMatchObject({ status: 0, stderr: "" });
    const states = [...run.stdout.matchAll(/✔ +[\d.]+ s {2}(\w+)/g)].map(([, state]) => state);
    expect(states).toEqual(["scheduled", "publishing", "uploaded", "published"]);
    // Nothing is there any more that an address could lead to.
    expect(run.stdout).not.toContain("http");
    const folder = /happens in (\S+)\. /.exec(run.stdout)?.[1] ?? "";
    expect(folder).not.toBe("");
    expect(existsSync(folder)).toBe(false);
  }, 60_000);

  it("keeps the page up for whoever watches, until they have seen it", async () => {
    let page = "";
    const run = await runCli(["demo"], {
      answers: [],
      onOutput(output, stop) {
        const address = /See it +(\S+)/.exec(output)?.[1];
        if (address === undefined || page !== "" || !output.includes("Ctrl-C")) return;
        page = "asked for";
        void fetch(address)
          .then((response) => response.text())
          .then((html) => {
            page = html;
          })
          .finally(stop);
      },
    });
    expect(run.status).toBe(0);
    expect(page).toContain("first post");
    expect(page).toMatch(/<img[^>]+alt="A golden post horn/);
  }, 60_000);

  it("ends when it is told to, in the middle", async () => {
    const run = await runCli(["demo"], {
      onOutput: (output, stop) => output.includes("scheduled") && stop(),
    });
    expect(run).toMatchObject({ status: 130, stderr: "" });
  }, 60_000);
});
