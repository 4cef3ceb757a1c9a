import { afterAll, beforeAll, expect, it } from "vitest";
import { WIDTHS, newWindow, picture } from "../../support/looks.ts";
import { startService, type Service } from "../../support/service.ts";

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.[Symbol.asyncDispose]());

it.each(WIDTHS)(
  "the description can be read and tried in a $name window, and asks nobody else",
  async (look) => {
    const context = await newWindow(look);
    const page = await context.newPage();
    const faults: string[] = [];
    const asked: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") faults.push(message.text());
    });
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(`http://127.0.0.1:${service.port}/docs`);
    expect(page.url()).toBe(`http://127.0.0.1:${service.port}/api/v1/docs`);
    await page.getByText("Schedules posts to your channels").first().waitFor();
    await picture(page, `docs-${look.name}`);

    await page.getByRole("button", { name: "Authorize" }).click();
    await page.locator(".auth-container input").fill(await service.keyFor("default"));
    await page.locator(".auth-btn-wrapper").getByRole("button", { name: "Apply credentials" }).click();
    await page.locator(".auth-btn-wrapper").getByRole("button", { name: "Close" }).click();
    await page.locator("#operations-Service-getStatus .opblock-summary-control").click();
    await page.getByRole("button", { name: "Execute" }).click();
    const answer = page.locator(
      "#operations-Service-getStatus .live-responses-table tbody .response-col_status",
    );
    expect((await answer.first().innerText()).trim()).toMatch(/^200/);
    await picture(page, `docs-tried-${look.name}`);

    expect(faults).toEqual([]);
    const elsewhere = asked.filter(
      (url) => !/^(data|blob):/.test(url) && !url.startsWith(`http://127.0.0.1:${service.port}/`),
    );
    expect(elsewhere).toEqual([]);
    await context.close();
  },
);
