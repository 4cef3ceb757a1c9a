import { Choices, ChoicesArgs } from "../src/domain/accounts/platform-listing.ts";
import { listChoices } from "../src/channels/connecting/list-choices.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "list_choices",
  title: "List choices",
  permission: "read",
  description:
    "The values that a metadata field may have on a channel, where only its platform knows: boards, playlists (metadataSchema of list_platforms). The field mention finds people, as @[Name](id) for a text. " +
    'Example: {"accountId":"Blog","field":"boardId"}',
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: true },
  input: ChoicesArgs,
  output: Choices,
  handle: (args, call) => listChoices(call, args),
});
