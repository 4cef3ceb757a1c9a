import * as z from "zod";

/** Express' `trust proxy`: how many proxies are in front, or which addresses they have; false: none. */
export type TrustProxy = number | readonly string[] | false;

/** The names that Express has for subnets. */
const NAMES = ["loopback", "linklocal", "uniquelocal"] as const;

const Place = z.union([z.enum(NAMES), z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

/** `true` is none of them: then each client could name any address as its own. */
export const TrustProxy = z
  .string()
  .transform((text) => text.split(",").map((part) => part.trim()))
  .transform((parts): TrustProxy => (/^[1-9]$/.test(parts.join()) ? Number(parts[0]) : parts))
  .refine(
    (trusted) => typeof trusted === "number" || z.array(Place).safeParse(trusted).success,
    `must be how many proxies are in front (1 to 9), or their addresses and subnets with commas between them, for example ${NAMES[0]} or 10.0.0.0/8`,
  )
  .optional()
  .transform((trusted): TrustProxy => trusted ?? false);
