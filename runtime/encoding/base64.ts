/** Base64 in its one canonical spelling: what RFC 4648 lets a decoder forgive is refused. */

/** Bytes of standard base64 with padding and nothing else in it; `undefined` for any other text (line breaks, the URL alphabet, stray bits). */
export function bytesOfBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

/** Bytes of base64url without padding, as JWS writes it (RFC 7515 section 2); `undefined` for any other text. */
export function bytesOfBase64Url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
