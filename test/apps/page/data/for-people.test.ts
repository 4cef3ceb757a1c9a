import { expect, it } from "vitest";
import { forPeople } from "../../../../apps/page/data/for-people.ts";

it("sends a person to the room where they do it themselves, and to no agent", () => {
  expect(
    forPeople(
      'The channel "News" on bluesky must be reconnected first. Call connect_channel with provider "bluesky" and accountId "acc_1".',
    ),
  ).toBe('The channel "News" on bluesky must be reconnected first. Reconnect it under Channels.');
  expect(forPeople('Look at the channel "Blog", then settle it with resolve_post.')).toBe(
    'Look at the channel "Blog", then say here whether it is there.',
  );
  expect(forPeople('id: there is no draft "dft_1". Take ids from list_drafts.')).toBe(
    'There is no draft "dft_1".',
  );
});
