import { describe, expect, it } from "vitest";
import { createLogger } from "../../src/app/log.ts";
import { AppError } from "../../src/domain/errors.ts";
import { MediaUnavailable } from "../../src/ports/media.ts";
import { PlatformFault } from "../../src/ports/platform-io.ts";
import { OutcomeUnknown } from "../../src/publishing/effect-steps.ts";

const CANARY = "canary-5ecret-7ext";

function write(
  work: (log: ReturnType<typeof createLogger>) => void,
  logFormat: "json" | "text" = "json",
): string {
  let text = "";
  work(createLogger({ logLevel: "info", logFormat }, (line) => (text += line)));
  return text;
}

describe("the log", () => {
  it("is one line of JSON an event", () => {
    const [line] = write((log) => log.info({ postId: "post_1" }, "published"))
      .trim()
      .split("\n");
    expect(JSON.parse(line ?? "")).toMatchObject({
      level: "info",
      msg: "published",
      postId: "post_1",
      time: expect.stringMatching(/Z$/),
    });
  });

  it("is for people where that is asked for, without anything that a terminal obeys", () => {
    const cause = new Error("no route to host");
    const text = write((log) => {
      log.info({ postId: "post_1", tries: 2, words: "two words" }, "published");
      log.warn({ err: new Error("the server\u001b[2J is down", { cause }), secret: CANARY }, "tried");
      log.error({ err: new Error("it broke") }, "a bug");
    }, "text");
    const lines = text.trimEnd().split("\n");
    const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z /;
    expect(lines.slice(0, 6).map((line) => line.replace(time, "TIME "))).toEqual([
      'TIME info  published  postId=post_1  tries=2  words="two words"',
      "TIME warn  tried  secret=[redacted]",
      "    Error: the server\\u001b[2J is down",
      "    Error: no route to host",
      "TIME error a bug",
      "    Error: it broke",
    ]);
    expect(lines[6]).toMatch(/^ {8}at .*log\.test\.ts/);
  });

  it("shows no secret, wherever one slips in", () => {
    const text = write((log) => {
      log.info({ token: CANARY }, "a");
      log.info({ secrets: { appPassword: CANARY } }, "b");
      log.info({ headers: { authorization: `Bearer ${CANARY}`, cookie: CANARY } }, "c");
      log.info({ request: { headers: { authorization: CANARY } } }, "d");
    });
    expect(text.match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(4);
    expect(text).not.toContain(CANARY);
  });

  it("tells an error with its causes, cut to what helps", () => {
    const cause = new Error("x".repeat(100_000));
    const text = write((log) => log.error({ err: new Error("it broke", { cause }) }, "failed"));
    expect(text).toContain("it broke");
    expect(text.length).toBeLessThan(30_000);
  });

  it("tells the words of a cause that is no error, and no field of an error that may hold anything", () => {
    const text = write((log) => {
      const error = new Error("refused", { cause: "in the platform's words" });
      log.warn(
        {
          err: Object.assign(error, {
            code: "Refused",
            httpStatus: 400,
            answer: { message: CANARY },
            request: CANARY,
          }),
        },
        "a try",
      );
    });
    expect(JSON.parse(text).err).toMatchObject({
      type: "Error",
      code: "Refused",
      httpStatus: 400,
      cause: "in the platform's words",
    });
    expect(text).not.toContain(CANARY);
  });

  it("takes an error under the one name whose message and stack are written", () => {
    const error = new Error("it broke");
    // @ts-expect-error an error under any other name is written as {}
    expect(JSON.parse(write((log) => log.error({ error }, "failed"))).error).toEqual({});
    // @ts-expect-error its text alone lacks the stack and the causes
    write((log) => log.error({ error: error.message }, "failed"));
    expect(JSON.parse(write((log) => log.error({ err: error }, "failed"))).err).toMatchObject({
      message: "it broke",
    });
  });

  it.each([
    new PlatformFault("rejected", "It is too long.", { httpStatus: 422, cause: new Error("422") }),
    new AppError("conflict", "Not now.", { cause: new Error("why") }),
    new MediaUnavailable("The address does not answer."),
    new OutcomeUnknown("It did not answer."),
  ])("writes no stack of what was to be expected, nor of its causes: %s", (err) => {
    const text = write((log) => log.warn({ err }, "a try did not succeed"));
    expect(text).toContain(err.message);
    expect(text).not.toContain("stack");
    expect(write((log) => log.error({ err: new Error("a bug", { cause: err }) }, "bug"))).toContain("stack");
  });

  it("keeps below its level quiet", () => {
    expect(write((log) => log.debug({}, "chatter"))).toBe("");
  });
});
