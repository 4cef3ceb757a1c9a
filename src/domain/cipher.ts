/** Secrets at rest. `place` (owner|account|column) is bound in: a value opens in its own row only. */
export interface Cipher {
  seal(plain: string, place: string): string;
  /** Throws when the value was changed, moved, or sealed with another key. */
  open(sealed: string, place: string): string;
  /** Hex HMAC-SHA-256 with a key of this instance derived for `purpose`. */
  sign(purpose: string, message: string): string;
}
