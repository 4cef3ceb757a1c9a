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
      (JSON.parse((await runCli(["calendar-link", ...options], folder)).stdout) as Link).url;
    const first = await show();
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
