import type { Command } from "commander";
import { localCaller } from "../../access/api-keys.ts";
import { plainCall } from "../../context.ts";
import { PlatformAppArgs, type PlatformAppState } from "../../domain/accounts/platform-app.ts";
import { AppError } from "../../domain/errors.ts";
import { explainInvalid } from "../../domain/explain-invalid.ts";
import type { Host, Session } from "../host.ts";
import { printResult } from "../options.ts";

interface SetupOptions {
  readonly way?: string;
  readonly clientId?: string;
  readonly secretStdin?: true;
  readonly forget?: true;
  readonly json?: true;
}

export function addSetupCommand(program: Command, host: Host): void {
  program
    .command("setup")
    .description("enter the app that you registered at a platform")
    .argument("<platform>", "the platform")
    .option("--way <way>", "of a platform with several apps, the way to connect that this one is for")
    .option("--client-id <id>", "the app's id, instead of asking")
    .option("--secret-stdin", "read the app's secret from standard input instead of asking")
    .option("--forget", "forget the app that was entered")
    .option("--json", "print JSON on a terminal, too")
    .addHelpText(
      "after",
      `
It shows the steps to register the app, with the addresses to copy, and asks for the app's id and secret. The secret does not
show while you type. The platform is asked at once whether it takes them. Both are stored encrypted and hold at once, also for
a server that runs. What the environment or
posthorn.env names stands before them.

Examples:
  posthorn setup tiktok
  posthorn setup linkedin --way pages
  posthorn setup tiktok --client-id aw1234 --secret-stdin < secret.txt
  posthorn setup tiktok --forget`,
    )
    .action((provider: string, options: SetupOptions) => setUp(host, provider, options));
}

async function setUp(host: Host, provider: string, options: SetupOptions): Promise<void> {
  const { forgetPlatformApp } = await import("../../platform-io/platform-apps.ts");
  await using session = await host.openSession();
  if (options.forget === true) {
    const { name } = await findPlatform(session, provider);
    const result = await forgetPlatformApp(callOf(session), { provider: name });
    const sentence = `What was entered for ${name} is forgotten.${tellEnvironment(result)}`;
    return printResult(host, { json: options.json, sentence, result });
  }
  const result = await enterApp(host, session, { ...options, provider });
  const next = result.configured
    ? ` Connect a channel with: posthorn connect ${result.provider}`
    : ` Still missing: ${result.missing.join(", ")}.`;
  const tried =
    result.isAccepted === true
      ? `${await titleOf(session, result)} accepts the app. It is stored.`
      : "The app is stored. It could not be tried, so the first sign-in shows whether id and secret are right.";
  const sentence = `${tried}${tellEnvironment(result)}${next}`;
  printResult(host, { json: options.json, sentence, result });
}

function tellEnvironment({ environment }: PlatformAppState): string {
  if (environment.length === 0) return "";
  const [are, stand] = environment.length === 1 ? ["is", "stands"] : ["are", "stand"];
  return ` ${environment.join(" and ")} ${are} set in the environment or posthorn.env, and ${stand} before what is entered here.`;
}

async function enterApp(
  host: Host,
  session: Session,
  { provider, ...options }: SetupOptions & { readonly provider: string },
): Promise<PlatformAppState> {
  const { enterPlatformApp } = await import("../../connecting/try-app.ts");
  const { wayWithApp } = await import("../../platform-io/platform-apps.ts");
  const { describeWaySetup } = await import("../../platform-io/set-up.ts");
  const platform = await findPlatform(session, provider);
  const way = wayWithApp(platform, options.way);
  const isAsked = options.clientId === undefined || options.secretStdin !== true;
  if (isAsked && !host.terminal.isInteractive) {
    throw new AppError(
      "invalid",
      `${platform.title} needs the id and the secret of its app, and no person can be asked. Add --client-id, and --secret-stdin with the secret on standard input.`,
    );
  }
  const setup = await describeWaySetup(session.ctx, platform, way);
  if (isAsked && setup !== null) host.terminal.tell(showSteps(setup));
  const clientId = options.clientId ?? (await ask(host, "Id of the app: ", false));
  const secret =
    options.secretStdin === true
      ? (await host.terminal.readAll()).trim()
      : await ask(host, "Secret of the app (does not show): ", true);
  const given = {
    clientId,
    ...(secret === "" ? {} : { clientSecret: secret }),
    ...(options.way === undefined ? {} : { way: options.way }),
  };
  const args = PlatformAppArgs.safeParse(given);
  if (!args.success) throw explainInvalid(args.error, PlatformAppArgs);
  return enterPlatformApp(callOf(session), { ...args.data, provider: platform.name });
}

type Setup = NonNullable<
  Awaited<ReturnType<(typeof import("../../platform-io/set-up.ts"))["describeWaySetup"]>>
>;

function showSteps({ guide, redirectUrl, scopes }: Setup): string {
  return [
    ...guide.needs.map((need) => `Needs: ${need}`),
    `Begin at ${guide.url}`,
    ...guide.steps.map((step, at) => `${at + 1}. ${step}`),
    ...(redirectUrl === null ? [] : ["", `Redirect address:\n  ${redirectUrl}`]),
    ...(scopes === "" ? [] : [`Scopes:\n  ${scopes}`]),
    ...guide.warnings.map((warning) => `Note: ${warning}`),
    "\nEnter id and secret here instead of copying them into a file.\n\n",
  ].join("\n");
}

function ask(host: Host, question: string, isHidden: boolean): Promise<string> {
  return host.terminal.ask(question, { isHidden, signal: host.stopSignal });
}

async function titleOf(session: Session, { provider }: PlatformAppState): Promise<string> {
  return (await findPlatform(session, provider)).title;
}

async function findPlatform({ ctx }: Session, provider: string) {
  const platforms = await import("../../platform-io/list-platforms.ts");
  return platforms.findPlatform(ctx, provider);
}

function callOf({ ctx }: Session) {
  return plainCall(ctx, localCaller());
}
