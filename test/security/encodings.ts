/** Ways to write "one folder up" or another place in a path, already as they stand in an address. */
export const TRAVERSALS: readonly string[] = [
  "..%2fsecret.key",
  "..%2f..%2f..%2f..%2fetc%2fpasswd",
  "%2e%2e%2fsecret.key",
  "%2e%2e/secret.key",
  "..%5csecret.key",
  "%2e%2e%5csecret.key",
  "..%255csecret.key",
  "..%252fsecret.key",
  "%252e%252e%252fsecret.key",
  "%25252e%25252e%25252fsecret.key",
  "..%c0%afsecret.key",
  "..%c1%9csecret.key",
  "%c0%ae%c0%ae%c0%afsecret.key",
  "%e0%80%ae%e0%80%ae%e0%80%afsecret.key",
  "..%ef%bc%8fsecret.key",
  "%ef%bc%8e%ef%bc%8e%2fsecret.key",
  "..%e2%88%95secret.key",
  "%e2%80%a5%2fsecret.key",
  "..%u2215secret.key",
  "....%2f%2fsecret.key",
  "..;%2fsecret.key",
  "..%00%2fsecret.key",
  "secret.key%00.png",
  "secret.key%00",
  "%2fetc%2fpasswd",
  "%2f%2fetc%2fpasswd",
  "%5c%5cserver%5cshare",
  "c:%5cwindows%5cwin.ini",
  "c%3a%2fwindows%2fwin.ini",
  "file%3a%2f%2f%2fetc%2fpasswd",
  "~%2f.ssh%2fid_rsa",
  "%7e%2fsecret.key",
  ".%2fsecret.key",
  ".%2f.%2f..%2fsecret.key",
  "%2e",
  "%2e%2e",
  "..%2f",
  "%2e%2e%2f%2e%2e%2f",
  "secret.key%2f.",
  "secret.key%2e",
  "secret.key%20",
  "secret.key%0a",
  "secret.key%0d%0ax-injected:%201",
  "secret.key::$DATA",
  "con",
  "nul.png",
  "__proto__",
  "constructor",
  "%e0%a4%a",
  "%",
  "a".repeat(5_000),
];

/** The same as a text: decoded once, where that is possible. */
export function decoded(traversal: string): string {
  try {
    return decodeURIComponent(traversal);
  } catch {
    return traversal;
  }
}
