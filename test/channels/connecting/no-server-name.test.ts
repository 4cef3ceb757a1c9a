import { expect, it } from "vitest";
import { startService } from "../../support/service.ts";

it("refuses what names no server at once, of every platform that asks for one", async () => {
  await using service = await startService();
  const asking = [...service.ctx.platforms.values()].flatMap(({ name, connect }) =>
    connect.flatMap((way) => ("instance" in way && way.instance === "required" ? [[name, way.name]] : [])),
  );
  expect(asking.length).toBeGreaterThan(8);
  for (const [provider, way] of asking)
    for (const instanceUrl of ["notaurl", "https://notaurl./about", "me@notaurl", "http://notaurl:8080"])
      await expect(service.call("connect_channel", { provider, way, instanceUrl })).rejects.toMatchObject({
        kind: "invalid",
        message: expect.stringMatching(
          /^instanceUrl: The address names the host "notaurl\.?", which is no full/,
        ),
      });
});
