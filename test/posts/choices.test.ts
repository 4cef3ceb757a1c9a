import listChoices from "../../tools/list_choices.ts";
import { describe, expect, it } from "vitest";
import { PlatformFault } from "../../src/ports/platform-io.ts";
import { connectChannel, disconnectChannel } from "../../src/channels/connecting/connections.ts";
import type { AnyPlatform } from "../../src/ports/platform.ts";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import { createPinboard } from "../support/connect-fixtures.ts";
import { callerOf, callOf, createTestContext } from "../support/context.ts";

const BOARDS = Array.from({ length: 150 }, (_, at) => ({
  value: `b${at}`,
  label: `Board ${at}`,
  more: "no",
}));

const FAULTS: Readonly<Record<string, PlatformFault>> = {
  auth: new PlatformFault("auth", "Pinboard does not know the token."),
  rejected: new PlatformFault("rejected", "Pinboard has no boards here."),
  rate: new PlatformFault("rate", "Pinboard asks to slow down."),
  transient: new PlatformFault("transient", "Pinboard is down."),
};

async function setUp(choices?: AnyPlatform["choices"]) {
  const board: AnyPlatform["choices"] = {
    boardId: async (search) => {
      if (FAULTS[search] !== undefined) throw FAULTS[search];
      return BOARDS.filter(({ label }) => label.includes(search));
    },
    section: async (_search, io) => [{ value: io.account.id, label: io.account.name }],
  };
  const platform = { ...createPinboard(), choices: choices ?? board };
  const bare = { ...createPinboard(), name: "bare", title: "Bare" };
  const ctx = await createTestContext({ platformList: [platform, bare] });
  const { account } = await connectChannel(callOf(ctx), { provider: "pinboard" });
  const other = await connectChannel(callOf(ctx), { provider: "bare" });
  const toolbox = createToolbox(ctx, [listChoices]);
  const ask = async (args: object, caller = callerOf({ permissions: ["read"] })) =>
    (await toolbox.call("list_choices", { accountId: account!.id, ...args }, caller)).result;
  return { ctx, ask, accountId: account!.id, bareId: other.account!.id };
}

describe("list_choices", () => {
  it("answers what the platform knows, as many as a model may read", async () => {
    const { ask, accountId } = await setUp();
    expect(await ask({ field: "boardId", search: " Board 149 " })).toEqual({
      choices: [{ value: "b149", label: "Board 149" }],
    });
    const { choices } = (await ask({ field: "boardId" })) as { choices: unknown[] };
    expect(choices).toHaveLength(100);
    expect(await ask({ field: "section" })).toMatchObject({ choices: [{ value: accountId }] });
  });

  it("names the fields there are", async () => {
    const { ask, bareId } = await setUp();
    for (const field of ["colour", "toString"])
      await expect(ask({ field })).rejects.toMatchObject({
        kind: "invalid",
        message: `field: "${field}" cannot be looked up on Pinboard.`,
      });
    await expect(ask({ field: "boardId", accountId: bareId })).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/^field: Bare has no fields to look up/),
    });
  });

  it.each([
    ["auth", "conflict"],
    ["rejected", "conflict"],
    ["rate", "rate_limited"],
    ["transient", "unavailable"],
  ])("says so where the platform answers with %s", async (search, kind) => {
    const { ask } = await setUp();
    await expect(ask({ field: "boardId", search })).rejects.toMatchObject({
      kind,
      message: expect.stringContaining(`Pinboard did not tell the choices: ${FAULTS[search]!.message}`),
    });
  });

  it("asks for a channel that is forgotten to be connected again, and knows no others'", async () => {
    const { ctx, ask, accountId } = await setUp();
    await disconnectChannel(callOf(ctx), { accountId });
    await expect(ask({ field: "boardId" })).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("must be reconnected first"),
    });
    const stranger = callerOf({ ownerId: "other" });
    await expect(ask({ field: "boardId" }, stranger)).rejects.toMatchObject({ kind: "not_found" });
    const limited = callerOf({ accountIds: [] });
    await expect(ask({ field: "boardId" }, limited)).rejects.toMatchObject({ kind: "not_found" });
  });
});
