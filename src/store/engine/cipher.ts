import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import type { Cipher } from "../../domain/cipher.ts";

const VERSION = "v1";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM with 96-bit random nonces; `masterKey` has 32 bytes (`<data>/secret.key`). */
export function createCipher(masterKey: Buffer): Cipher {
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync("sha256", masterKey, "posthorn", purpose, 32));
  // Derived when something is first sealed or opened: an agent that only wants the list of tools does not
  // wait for it.
  let known: Buffer | null = null;
  const sealKey = (): Buffer => (known ??= derive("secrets at rest"));
  // Deriving one takes ten times as long as signing with it; the purposes are few.
  const signingKeys = new Map<string, Buffer>();
  const signingKey = (purpose: string): Buffer => {
    const key = signingKeys.get(purpose) ?? derive(`signing: ${purpose}`);
    signingKeys.set(purpose, key);
    return key;
  };
  return {
    seal(plain, place) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", sealKey(), nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(place));
      const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return `${VERSION}.${Buffer.concat([nonce, body, cipher.getAuthTag()]).toString("base64url")}`;
    },
    open(sealed, place) {
      if (!sealed.startsWith(`${VERSION}.`)) throw new Error("A sealed value has an unknown version.");
      const bytes = Buffer.from(sealed.slice(VERSION.length + 1), "base64url");
      const decipher = createDecipheriv("aes-256-gcm", sealKey(), bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(place));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      return Buffer.concat([
        decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)),
        decipher.final(),
      ]).toString("utf8");
    },
    sign: (purpose, message) => createHmac("sha256", signingKey(purpose)).update(message).digest("hex"),
  };
}

/** Names a secret key without telling anything of it. */
export function secretKeyId(masterKey: Buffer): string {
  return Buffer.from(hkdfSync("sha256", masterKey, "posthorn", "key id", 4)).toString("hex");
}
