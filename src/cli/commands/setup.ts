import { localCaller } from "../../access/api-keys.ts";
import { plainCall } from "../../context.ts";
import { PlatformAppArgs, type PlatformAppState } from "../../domain/accounts/platform-app.ts";
import { AppError } from "../../domain/errors.ts";
import { explainInvalid } from "../../domain/explain-invalid.ts";
import type { wayWithApp } from "../../channels/platform-io/platform-apps.ts";
import { type CommandArgs, JSON_TOO, type Row, row } from "../command.ts";
import type { Host } from "../host.ts";
import { printResult } from "../options.ts";
import { inShell, type Shell } from "../shell/shell.ts";

const SETUP = {
  "<platform>": "the platform",
  "--way <way>": "of a platform with several apps, the way to connect that this one is for",
  "--client-id <id>": "the app's id, instead of asking",
  "--secret-stdin": "read the app's secret from standard input instead of asking",
  "--forget": "forget the app that was entered",
  "--json": JSON_TOO,
} as const;

type Entering = CommandArgs<typeof SETUP>;

export const SETTING_UP: Row = row({
  name: "setup",
  about: "enter the app that you registered at a platform",
  takes: SETUP,
  help: `
It shows the steps to register the app, with the addresses to copy, and asks for the app's id and secret. The secret does not
show while you type. The platform is asked at once whether it takes them. Both are stored encrypted and hold at once, also for
a server that runs. What the environment or
posthorn.env names stands before them.

Examples:
  posthorn setup tiktok
  posthorn setup linkedin --way pages
  posthorn setup tiktok --client-id aw1234 --secret-stdin < secret.txt
  posthorn setup tiktok --forget`,
  async run(given, host) {
    const { forgetPlatformApp } = await import("../../channels/platform-io/platform-apps.ts");
    await inShell(host, given.json, async (at) => {
      const { findPlatform } = await import("../../channels/platform-io/list-platforms.ts");
      const platform = findPlatform(at.ctx, given.platform);
      const { name: provider, title } = platform;
      const result = await (given.forget === true
        ? forgetPlatformApp(callOf(at), { provider })
        : enterApp(at, given, platform));
      const environment = describeEnvironment(result);
      const next = result.configured
        ? ` Connect a channel with: posthorn connect ${result.provider}`
        : ` Still missing: ${result.missing.join(", ")}.`;
      const tried =
        "isAccepted" in result && result.isAccepted === true
          ? `${title} accepts the app. It is stored.`
          : "The app is stored. It could not be tried, so the first sign-in shows whether id and secret are right.";
      const sentence =
        given.forget === true
          ? `What was entered for ${provider} is forgotten.${environment}`
          : `${tried}${environment}${next}`;
      printResult(host, { json: given.json, sentence, result });
    });
  },
});

function describeEnvironment({ environment }: PlatformAppState): string {
  if (environment.length === 0) return "";
  const [are, stand] = environment.length === 1 ? ["is", "stands"] : ["are", "stand"];
  return ` ${environment.join(" and ")} ${are} set in the environment or posthorn.env, and ${stand} before what is entered here.`;
}

async function enterApp(
  at: Shell,
  given: Entering,
  platform: Parameters<typeof wayWithApp>[0],
): Promise<PlatformAppState> {
  const [{ enterPlatformApp }, apps, { describeWaySetup }] = await Promise.all([
    import("../../channels/connecting/try-app.ts"),
    import("../../channels/platform-io/platform-apps.ts"),
    import("../../channels/platform-io/set-up.ts"),
  ]);
  const { host, terminal } = at;
  const way = apps.wayWithApp(platform, given.way);
  const isAsked = given.clientId === undefined || given.secretStdin !== true;
  if (isAsked && !terminal.isInteractive)
    throw new AppError(
      "invalid",
      `${platform.title} needs the id and the secret of its app, and no person can be asked. Add --client-id, and --secret-stdin with the secret on standard input.`,
    );
  const setup = await describeWaySetup(at.ctx, platform, way);
  if (isAsked && setup !== null) terminal.tell(showSteps(setup));
  const clientId = given.clientId ?? (await ask(host, "Id of the app: ", false));
  const secret =
    given.secretStdin === true
      ? (await terminal.readAll()).trim()
      : await ask(host, "Secret of the app (does not show): ", true);
  const args = PlatformAppArgs.safeParse({
    clientId,
    ...(secret !== "" && { clientSecret: secret }),
    ...(given.way !== undefined && { way: given.way }),
  });
  if (!args.success) throw explainInvalid(args.error, PlatformAppArgs);
  return enterPlatformApp(callOf(at), { ...args.data, provider: platform.name });
}

type Setup = NonNullable<
  Awaited<ReturnType<(typeof import("../../channels/platform-io/set-up.ts"))["describeWaySetup"]>>
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

function callOf({ ctx }: Shell) {
  return plainCall(ctx, localCaller());
}
