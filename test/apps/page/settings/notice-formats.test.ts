import { describe, expect, it } from "vitest";
import {
  EVENT_WORDS,
  EVENTS,
  eventsInWords,
  formatTitle,
  NOTICE_FORMAT_NAMES,
  NOTICE_FORMATS,
  testInWords,
  USUAL_EVENTS,
} from "../../../../apps/page/rooms/settings/notice-formats.ts";
import { readReceiver } from "../../../../src/domain/webhooks/receivers.ts";
import { EVENT_KINDS, usualEvents, WEBHOOK_FORMATS } from "../../../../src/domain/webhooks/webhook.ts";

const GIVEN = {
  ntfy: { address: "https://ntfy.sh/my-topic", token: "tk_1" },
  slack: { address: " https://hooks.slack.com/services/a/b/c " },
  discord: { address: "https://discord.com/api/webhooks/1/abc" },
  telegram: { token: "123:AbC-d", chat: "42" },
  email: { address: "someone@example.com" },
} as const;

describe("notices", () => {
  it.each(NOTICE_FORMAT_NAMES)("%s: the server takes what the fields make", (format) => {
    expect(readReceiver(format, NOTICE_FORMATS[format].address(GIVEN[format])).format).toBe(format);
  });

  it("a topic's token is its password, and without one the address stays as it was typed", () => {
    const receiver = readReceiver("ntfy", NOTICE_FORMATS.ntfy.address(GIVEN.ntfy));
    expect(receiver).toMatchObject({ authorization: "Bearer tk_1" });
    expect(NOTICE_FORMATS.ntfy.address({ address: "https://ntfy.sh/a" })).toBe("https://ntfy.sh/a");
    // The server says what is wrong with it.
    expect(NOTICE_FORMATS.ntfy.address({ address: "a topic", token: "tk_1" })).toBe("a topic");
  });

  it("knows each format and event of the server", () => {
    expect([...NOTICE_FORMAT_NAMES, "standard"].toSorted()).toEqual(
      WEBHOOK_FORMATS.filter((format) => String(format) !== "push").toSorted(),
    );
    expect(EVENTS.toSorted()).toEqual(EVENT_KINDS.toSorted());
    expect(USUAL_EVENTS).toEqual(usualEvents("ntfy"));
    expect(formatTitle("ntfy")).toBe("ntfy");
    expect(formatTitle("push")).toBe("A browser");
  });

  it("says events in words", () => {
    expect(eventsInWords(EVENTS)).toBe("Everything that happens");
    expect(eventsInWords([...USUAL_EVENTS].toReversed())).toBe("What needs you");
    expect(eventsInWords(["post.published", "post.failed"])).toBe(
      `${EVENT_WORDS["post.failed"]}, ${EVENT_WORDS["post.published"]}`,
    );
  });

  it("says what came back of a test", () => {
    expect(testInWords({ status: "delivered", httpStatus: 200, error: null }, "Slack")).toEqual({
      isGood: true,
      text: "Slack took the test message. It answered with status 200.",
    });
    expect(testInWords({ status: "failed", httpStatus: null, error: null }, "Slack").text).toBe(
      "The test did not get through. No answer came.",
    );
    expect(testInWords({ status: "pending", httpStatus: 404, error: "It is gone." }, "Slack")).toEqual({
      isGood: false,
      text: "The test did not get through. It is gone.",
    });
  });
});
