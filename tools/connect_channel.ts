import { ConnectArgs, ConnectResult } from "../src/domain/accounts/connection.ts";
import { askToReconnect, connectChannel, linkOf } from "../src/channels/connecting/connections.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "connect_channel",
  title: "Connect a channel",
  permission: "accounts",
  description:
    "Connect a channel, or reconnect one that asks for it. Answers an address that the person opens to agree or enter secrets. Never ask for a password or token in the chat. Then call check_connection. " +
    'Example: {"provider":"bluesky","handle":"alice.example"}',
  hints: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  input: ConnectArgs,
  output: ConnectResult,
  question: (args, call) => askToReconnect(call, args),
  link: linkOf,
  handle: (args, call) => connectChannel(call, args),
});
