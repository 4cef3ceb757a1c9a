import type { AppContext } from "../context.ts";
import { AppError } from "../domain/errors.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import type { PlatformCapabilities } from "../domain/accounts/capabilities.ts";
import { LONGEST_SOURCE_SIDE } from "../domain/files/film-form.ts";
import {
  checkMedia,
  EVERY_SKILL,
  type MediaFigures,
  type MediaSkills,
} from "../domain/files/media-limits.ts";

export const convertsFilms = async ({ films }: AppContext): Promise<boolean> =>
  films !== null && (await films.isThere());

/** What this process can make of media for a platform: the one question behind "will be made" and "cannot". */
export async function skillsOf(
  ctx: AppContext,
  { showsOriginals = false }: Pick<PlatformCapabilities, "showsOriginals">,
): Promise<MediaSkills> {
  const films = await convertsFilms(ctx);
  return showsOriginals ? { films, pictures: false, heic: false } : { films, ...(await ctx.probe.skills()) };
}

const WITHOUT_SHARP =
  " This Posthorn cannot change pictures: sharp is not installed. Install Posthorn with its optional packages.";
const WITHOUT_LIBHEIF =
  " This Posthorn cannot read HEIC: libheif-js is not installed. Install Posthorn with its optional packages, or send the picture as JPEG.";

const SMALL = { width: LONGEST_SOURCE_SIDE, height: LONGEST_SOURCE_SIDE };
const TOO_WIDE = ` A video with a side of more than ${LONGEST_SOURCE_SIDE} pixels is not converted. Export it smaller.`;

const isTooWide = ({ width, height }: MediaFigures): boolean =>
  Math.max(width ?? 0, height ?? 0) > LONGEST_SOURCE_SIDE;

/** What an owner installs who has no program or package that would help. "": none would. */
export async function adviceOnMedia(
  ctx: AppContext,
  media: MediaFigures,
  capabilities: Pick<PlatformCapabilities, "media" | "showsOriginals">,
): Promise<string> {
  const { accepts } = capabilities.media;
  const { problems, film, changes } = checkMedia(media, accepts, EVERY_SKILL);
  if (isTooWide(media) && checkMedia({ ...media, ...SMALL }, accepts, EVERY_SKILL).film !== null)
    return TOO_WIDE;
  if (problems.length > 0 || capabilities.showsOriginals === true) return "";
  const skills = await skillsOf(ctx, capabilities);
  if (film !== null) return skills.films || ctx.films === null ? "" : ` ${ctx.films.howToInstall}`;
  if (changes.length === 0 || skills.heic) return "";
  return skills.pictures ? WITHOUT_LIBHEIF : WITHOUT_SHARP;
}

/** One sentence for a person: the field, what is wrong with it, what to do. */
export function refusal(
  platform: Pick<AnyPlatform, "title">,
  field: string,
  problems: readonly string[],
  advice = "",
): AppError {
  const what = `${field}: ${problems.join("; ")} on ${platform.title}.`;
  return new AppError("invalid", `${what} Give another file.${advice}`);
}
