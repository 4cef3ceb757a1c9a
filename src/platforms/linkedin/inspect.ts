import * as z from "zod";
import type { Inspection } from "../../ports/platform.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { askLinkedIn } from "./api.ts";
import { readMember } from "./member.ts";
import { authorOf, isPage } from "./metadata.ts";
import { isAllowed } from "./scopes.ts";

export const Acls = z.looseObject({ elements: z.array(z.looseObject({ organization: z.string() })) });
export const ACLS_PATH = "/rest/organizationAcls?q=roleAssignee&role=ADMINISTRATOR&state=APPROVED";

/** A Page is asked whether the person still runs it, a member who they are. */
export async function inspect(io: PlatformIo): Promise<Inspection> {
  try {
    if (!isPage(io.account)) {
      const member = await readMember(io, { isAllowed: (scope) => isAllowed(io.account, scope) });
      const { name = null, picture = null } = member ?? {};
      return {
        ...(name === null ? {} : { name }),
        ...(picture === null ? {} : { avatarUrl: picture }),
        problem: null,
      };
    }
    const { elements } = await askLinkedIn(
      io,
      { path: `${ACLS_PATH}&count=100&start=0`, kind: "read" },
      Acls,
    );
    const isStill = elements.some(({ organization }) => organization === authorOf(io.account));
    return {
      problem: isStill
        ? null
        : "The person who connected the Page is no longer its administrator. Make them one again, or let another administrator reconnect it.",
    };
  } catch (error) {
    if (error instanceof PlatformFault && (error.kind === "rejected" || error.kind === "setup"))
      return { problem: error.message };
    throw error;
  }
}
