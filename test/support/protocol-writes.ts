/** What a transaction of the publisher writes, told by its statements, which are the same on both engines. */
const WRITES: readonly (readonly [RegExp, string])[] = [
  [/^update "posts" set "status" = CASE status/i, "claim"],
  [/^insert into "effects" \([^)]*"sent"/i, "intent"],
  [/^update "effects" set "state"/i, "result"],
  [/^update "effects" set "handle_enc"/i, "handle"],
  [/^update "effects" set "asked"/i, "asked"],
  [/^update "attempts" set "outcome"/i, "end"],
  [/^delete from "workers" where "id"/i, "takeover"],
];

export function writeNamed(statement: string): string | undefined {
  return WRITES.find(([pattern]) => pattern.test(statement))?.[1];
}
