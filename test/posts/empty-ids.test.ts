import { afterEach, beforeEach, expect, it } from "vitest";
import { startService, type Service } from "../support/service.ts";

let service: Service;
beforeEach(async () => {
  service = await startService();
});
afterEach(() => service[Symbol.asyncDispose]());

it("an empty id is none, in one sentence whatever it is of", async () => {
  const required = service.tools.flatMap(({ name, input }) =>
    Object.entries<any>(input.shape)
      .filter(([field, schema]) => /^(?:id|[a-z]+Id)$/.test(field) && !schema.safeParse(undefined).success)
      .map(([field]) => [name, field] as const),
  );
  expect(required.length).toBeGreaterThan(10);
  for (const [tool, field] of required)
    await expect(service.call(tool, { [field]: "" }), tool).rejects.toThrow(`${field}: is required.`);
});
