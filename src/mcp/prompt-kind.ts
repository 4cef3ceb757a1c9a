import type { GetPromptResult } from "@modelcontextprotocol/server";
import type { Scope, Suggestion } from "./scope.ts";

export interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  complete?(scope: Scope): Promise<Suggestion[]>;
}

/** A task that a person starts by name, with what they fill in. */
export interface PromptKind {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  /** Arguments that were left out are "". */
  messages(args: Readonly<Record<string, string>>, scope: Scope): Promise<GetPromptResult["messages"]>;
}
