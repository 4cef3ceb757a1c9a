import { installWorkspace } from "./workspace.ts";

export async function setup(): Promise<void> {
  await installWorkspace("clients");
}
