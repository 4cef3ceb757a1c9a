import { setImmediate as turn } from "node:timers/promises";
import { beforeEach, expect, it } from "vitest";
import { createLateToolbox, type ToolAccess } from "../../src/toolkit/late-toolbox.ts";
import { describeTools } from "../../src/toolkit/toolbox.ts";
import { callerOf } from "../support/context.ts";
import { createSmallTools } from "../mcp/small-tools.ts";

let opened: number;
let toolbox: ToolAccess;

beforeEach(() => {
  opened = 0;
  const open = async (): Promise<ToolAccess> => {
    opened += 1;
    return { list: () => [], call: async (name) => ({ result: { name }, isReplay: false, link: null }) };
  };
  toolbox = createLateToolbox(describeTools(createSmallTools(), {}), open);
});

it("lists what the caller may call, and opens when that is out", async () => {
  const names = (permissions: ("read" | "publish")[]): string[] =>
    toolbox.list(callerOf({ permissions })).map(({ name }) => name);
  expect(names(["read"])).not.toContain("refuse");
  expect(opened).toBe(0);
  await turn();
  expect(opened).toBe(1);
});

it("opens with the first call", async () => {
  expect((await toolbox.call("echo", {}, callerOf())).result).toEqual({ name: "echo" });
  expect(opened).toBe(1);
});

it("leaves a failure to open to those who call", async () => {
  const failing = createLateToolbox([], () => Promise.reject(new Error("The disk is gone.")));
  expect(failing.list(callerOf())).toEqual([]);
  await turn();
  await expect(failing.call("echo", {}, callerOf())).rejects.toThrow("The disk is gone.");
});
