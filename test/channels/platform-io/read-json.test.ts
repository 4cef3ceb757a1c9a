import fc from "fast-check";
import { expect, it } from "vitest";
import { readJson } from "../../../src/channels/platform-io/platform-request.ts";

it.each<[string, unknown]>([
  ['{"id":7311223344556677889}', { id: "7311223344556677889" }],
  [
    "[-9007199254740992,9007199254740991,-9007199254740991]",
    ["-9007199254740992", 9007199254740991, -9007199254740991],
  ],
  ["17841400000000000000001", "17841400000000000000001"],
  ["[1234567890123456789.5,1e30,12345678901234567890e-2]", [1234567890123456800, 1e30, 123456789012345680]],
  [
    '{"9007199254740993":"9007199254740993 \\" 9007199254740993"}',
    { "9007199254740993": '9007199254740993 " 9007199254740993' },
  ],
  ['{"a":"ends in \\\\","id":9007199254740993}', { a: "ends in \\", id: "9007199254740993" }],
  ["[00000000000000000001]", null],
  ["9007199254740993 9007199254740993", null],
  ["", null],
  ["<html>9007199254740993</html>", null],
])("reads %s", (text, value) => {
  expect(readJson(text)).toEqual(value);
});

it("changes nothing but long integers", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.bigInt({ min: 2n ** 53n, max: 2n ** 80n }), (value, long) => {
      const text = `{"value":${JSON.stringify(value)},"long":${long},"less":-${long}}`;
      const expected: unknown = JSON.parse(JSON.stringify(value), (_name, inner: unknown) =>
        Number.isInteger(inner) && !Number.isSafeInteger(inner) && /^-?\d+$/.test(String(inner))
          ? String(inner)
          : inner,
      );
      expect(readJson(text)).toEqual({ value: expected, long: String(long), less: `-${long}` });
    }),
  );
});

it("reads the longest answer with long texts in it", () => {
  const text = '"\\'.repeat(250_000);
  expect(readJson(JSON.stringify([text, "9".repeat(16)]))).toEqual([text, "9".repeat(16)]);
});
