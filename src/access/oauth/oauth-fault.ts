/** What RFC 6749, 7009, 7591 and 8707 call what can be wrong. */
type FaultCode =
  | "access_denied"
  | "invalid_client"
  | "invalid_client_metadata"
  | "invalid_grant"
  | "invalid_redirect_uri"
  | "invalid_request"
  | "invalid_target"
  | "unsupported_grant_type"
  | "unsupported_response_type";

/** Refused, in the words of OAuth: a code for the program, a sentence for who reads along. */
export class OAuthFault extends Error {
  readonly code: FaultCode;

  constructor(code: FaultCode, sentence: string) {
    super(sentence);
    this.name = "OAuthFault";
    this.code = code;
  }
}
