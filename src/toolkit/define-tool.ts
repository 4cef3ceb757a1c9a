import type * as z from "zod";
import type { Permission } from "../domain/permissions.ts";
import type { CallContext } from "../context.ts";
import type { Waiting } from "../posts/outcomes.ts";

/** MCP's four hints; every tool states all of them. */
interface ToolHints {
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  readonly openWorld: boolean;
}

/** An address for a person, and the answer for those who need not know it. */
export interface Link<R> {
  readonly url: string;
  /** Why they should open it. */
  readonly message: string;
  readonly rest: R;
}

/** One action of Posthorn: a file of its own under `tools/`, which every face shows from this description. */
interface Tool<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> {
  /** File name, MCP name and path. */
  readonly name: string;
  readonly title: string;
  /** At most 1,024 characters: when to use it, where ids come from, an example. */
  readonly description: string;
  readonly permission: Permission;
  /** A permission that is enough for some calls, by their arguments as they were sent. Default: none. */
  readonly lesser?: {
    readonly permission: Permission;
    fits(args: Readonly<Record<string, unknown>>): boolean;
    /** How such a call is made: `with as "drafts"`. */
    readonly way: string;
  };
  readonly hints: ToolHints;
  /** Strict, without a root `.meta({ id })`. */
  readonly input: I;
  readonly output: O;
  /** Fields that only callers on this machine are offered. The handler refuses them to others. */
  readonly localFields?: readonly string[];
  /** Calls that a person must agree to: a model whose client cannot ask one is refused. Default: none. */
  isForPeople?(args: z.output<I>): boolean;
  /** Tells the person of such a refusal by notice, where they get notices. Default: nothing. */
  describePerson?(args: z.output<I>, call: CallContext): Promise<void>;
  /** What a person is asked before. Null: nothing. Only reads, and throws what the handler would. */
  question?(args: z.output<I>, call: CallContext): Promise<string | null>;
  /** An address for a person to open. A face that shows it to them leaves it out of the answer. */
  link?(result: z.output<O>): Link<z.input<O>> | null;
  handle(args: z.output<I>, call: CallContext): Promise<z.input<O>>;
  /** The answer once what it sends at once is out or has failed, for faces that wait. Default: it sends nothing. */
  untilOut?(result: z.input<O>, call: CallContext, waiting: Waiting): Promise<z.input<O>>;
}

// The registry holds tools of every shape; a tool's own schemas restore the types.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyTool = Tool<any, any>;

/** What a caller needs at least, to call the tool in some way. */
export function leastPermission({ permission, lesser }: AnyTool): Permission {
  return lesser?.permission ?? permission;
}

/** Types a tool's handler by its schemas. */
export function defineTool<I extends z.ZodObject, O extends z.ZodObject>(tool: Tool<I, O>): Tool<I, O> {
  return tool;
}
