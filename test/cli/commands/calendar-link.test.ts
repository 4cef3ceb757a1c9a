import { describe, expect, it } from "vitest";
import { runCli } from "../../support/cli.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

interface Link {
  readonly url: string;
}

describe("posthorn calendar-link", () => {
  it("shows the same address until another is wanted, and ends it", async () => {
    using folder = temporaryFolder();
    const show = async (...options: string[]): Promise<string> =>
      (await runCli(["calendar-link", ...options], folder)).stdout;
    const first = await show();
    expect(first).toMatch(/^http:\S+\n$/);
    const told = await runCli(["calendar-link", "--json"], folder);
    expect((JSON.parse(told.stdout) as Link).url).toBe(first.trim());
    const screen = await runCli(["calendar-link"], { ...folder, columns: 80 });
    expect(screen).toMatchObject({ stdout: first, stderr: expect.stringContaining("Subscribe to this") });
    expect(await show()).toBe(first);
    expect(await show("--owner", "alice")).not.toBe(first);
    expect(await show("--new")).not.toBe(first);
    expect(await runCli(["calendar-link", "--revoke"], folder)).toMatchObject({ status: 0, stdout: "" });
    expect(await runCli(["calendar-link", "--revoke"], folder)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("no calendar address"),
    });
    expect(await runCli(["calendar-link", "--revoke", "--new"], folder)).toMatchObject({ status: 1 });
  });
});
