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

/** Fields of this name, at every depth of an input, as arguments that hold an empty one. */
function emptied(schema: any, name: string): object[] {
  const plain = schema?.def?.innerType ? undefined : schema;
  if (plain === undefined) return emptied(schema.def.innerType, name);
  if (plain.def?.type === "array") return emptied(plain.def.element, name).map((one) => [one]);
  if (plain.def?.type !== "object") return [];
  return Object.entries<any>(plain.shape).flatMap(([field, inner]) =>
    field === name ? [{ [field]: "" }] : emptied(inner, name).map((one) => ({ [field]: one })),
  );
}

it.each([
  ["dryRun", 7],
  ["slot", 4],
])(
  "an empty %s is refused by its name wherever it is taken, as it would publish at once",
  async (name, least) => {
    const calls = service.tools.flatMap(({ name: tool, input }) =>
      emptied(input, name).map((args) => [tool, args] as const),
    );
    expect(calls.length).toBeGreaterThanOrEqual(least);
    for (const [tool, args] of calls)
      await expect(service.call(tool, args), tool).rejects.toThrow(new RegExp(`\\b${name}: must be `));
  },
);
