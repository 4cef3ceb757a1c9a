import { openConnection, submitChoice } from "../../../src/channels/connecting/connect-page.ts";
import { checkConnection } from "../../../src/channels/connecting/check-connection.ts";
import { connectChannel } from "../../../src/channels/connecting/connections.ts";
import { comeBack, leadOn } from "../../../src/channels/connecting/consent.ts";
import { guestCall, type CallContext } from "../../../src/context.ts";
import { findAccountRow, type AccountRow } from "../../../src/store/queries/accounts.ts";

/** A person at the platform's page. */
interface Person {
  /** Agrees, or does not, and gives what the browser comes back with. */
  agree(url: string): Readonly<Record<string, string>>;
  /** Which of several channels are connected; default: all that may be. */
  choose?(channels: readonly { readonly key: string; readonly name: string }[]): readonly string[];
}

/** Connects by a consent, as people do with link and browser: the channels that came of it, or what went wrong. */
export async function consentOn(
  call: CallContext,
  args: Parameters<typeof connectChannel>[1],
  person: Person,
): Promise<{ rows: AccountRow[]; error: string | null; url: string }> {
  const { ctx, caller } = call;
  const link = await connectChannel(call, args);
  const ref = { token: link.url?.split("/connect/")[1] ?? "" };
  const lead = await leadOn(guestCall(ctx), ref);
  if (lead.state !== "lead") throw new Error(`The link leads nowhere: ${JSON.stringify(lead)}`);
  await comeBack(guestCall(ctx), { answer: person.agree(lead.url), isBegunHere: true });
  const page = await openConnection(guestCall(ctx), ref);
  if (page.state === "choose") {
    const free = page.choice.channels.filter(({ problem }) => problem === null);
    const keys = person.choose?.(page.choice.channels) ?? free.map(({ key }) => key);
    await submitChoice(guestCall(ctx), { ...ref, keys });
  }
  const { accounts, error } = await checkConnection(call, { connectId: link.connectId ?? "" });
  const rows: AccountRow[] = [];
  for (const { id } of accounts) {
    const row = await findAccountRow(ctx.store, caller.ownerId, id);
    if (row !== undefined) rows.push(row);
  }
  return { rows, error: error === null ? null : String(error), url: lead.url };
}
