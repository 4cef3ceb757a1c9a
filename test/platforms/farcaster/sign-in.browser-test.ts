import { expect, it } from "vitest";
import { listAccounts } from "../../../src/channels/accounts/accounts.ts";
import { newContext } from "../../support/browser.ts";
import { callOf } from "../../support/context.ts";
import { API_KEY, SIGNER } from "./fake.ts";
import { openSignIn } from "./sign-in.ts";

it("signs in with Neynar in a window, which fills the signer in", async () => {
  await using at = await openSignIn();
  const page = await (await newContext()).newPage();
  await page.goto(at.page);
  await page.getByLabel("API key").fill(API_KEY);
  // Others may send the page messages, too.
  await page.evaluate(`postMessage({ signer_uuid: "of a stranger" }, "*")`);
  await page.getByRole("button", { name: "Sign in with Neynar" }).click();
  await page.getByRole("button", { name: "Signed in: go on below" }).waitFor();
  expect(await page.getByLabel("Signer").inputValue()).toBe(SIGNER);
  await page.getByRole("button", { name: "Connect" }).click();
  await page.getByRole("heading", { name: "Connected" }).waitFor();
  await page.context().close();
  const { accounts } = await listAccounts(callOf(at.ctx), {});
  expect(accounts).toMatchObject([{ handle: "alice", platformAccountId: "194" }]);
});
