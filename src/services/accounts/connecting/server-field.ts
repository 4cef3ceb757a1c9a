import { AppError } from "../../../domain/errors.ts";
import type { AnyPlatform } from "../../../ports/platform.ts";
import type { AppContext } from "../../context.ts";
import { isOwnAddress } from "../../platforms/own-address.ts";
import type { ConnectTarget, FormField } from "./connect-fields.ts";
import { withoutTrailing } from "../../../domain/parse-url.ts";

/** Asked for on the page where whoever made the link did not know it. */
const SERVER_FIELD: FormField = {
  name: "instanceUrl",
  label: "Server",
  help: "The address of the server or site that the channel is on, for example https://social.example.",
  isRequired: true,
  isSecret: false,
  value: "",
  isStored: false,
};

/** Null where the server is known, or the platform has but one. */
export function serverFieldOf(ctx: AppContext, target: ConnectTarget): FormField | null {
  const { way } = target;
  const isNeeded = "instance" in way && way.instance === "required";
  return isNeeded && instanceOf(ctx, target) === null ? SERVER_FIELD : null;
}

/** Of a platform with many servers, the one in the settings stands in. */
export function instanceOf(ctx: AppContext, { platform, instanceUrl }: ConnectTarget): string | null {
  if (instanceUrl !== null) return instanceUrl;
  const usual = ctx.settings.platformSettings[`POSTHORN_${platform.name.toUpperCase()}_BASE_URL`];
  return usual === undefined ? null : withoutTrailing(usual, "/");
}

/** The target on the server that a person entered, where it was asked for. Throws `invalid`. */
export function onServer<T extends ConnectTarget>(ctx: AppContext, target: T, entered = ""): T {
  if (entered.trim() === "" || serverFieldOf(ctx, target) === null) return target;
  return { ...target, instanceUrl: readInstance(ctx, target.platform, entered) };
}

/** `pds.example` and `https://pds.example/` mean the same. Throws `invalid`. */
export function readInstance(ctx: AppContext, platform: AnyPlatform, text: string): string {
  const address = text.includes("://") ? text.trim() : `https://${text.trim()}`;
  const url = ctx.outbound.assertAllowed("instanceUrl", address, isOwnAddress(ctx, platform, address));
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new AppError(
      "invalid",
      "instanceUrl: give only the server's address, for example https://pds.example.",
    );
  }
  return withoutTrailing(url.origin + url.pathname, "/");
}
