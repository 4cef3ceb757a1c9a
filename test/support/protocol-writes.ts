/** What a transaction of the publisher writes, told by its statements, which are the same on both engines. */
const WRITES: readonly (readonly [RegExp, string])[] = [
  [/^update "posts" set "status" = CASE status/, "claim"],
  [/^insert into "effects" \([^)]*"sent"/, "intent"],
  [/^update "effects" set "state"/, "result"],
  [/^update "effects" set "handle_enc"/, "handle"],
  [/^update "effects" set "asked"/, "asked"],
  [/^update "attempts" set "outcome"/, "end"],
  [/^delete from "workers" where "id"/, "takeover"],
];

export function writeNamed(statement: string): string | undefined {
  return WRITES.find(([pattern]) => pattern.test(statement))?.[1];
}
