/** Reads a `JWTSVIDResponse`: a token for some audiences, and until when it is good. Who signed it is judged by whom it is for. */

import { bytesOfBase64Url } from '../../encoding/base64.ts';
import { isJsonObject, type Json, type JsonObject, parseStrictJson } from '../../encoding/strict-json.ts';
import { answerIn } from './messages.ts';

export interface JwtSvid {
  /** The compact JWS. A secret: whoever has it is the workload to its audiences. */
  readonly token: string;
  readonly spiffeId: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

export interface JwtAsked {
  /** At least one; the token must be for all of them. */
  readonly audiences: readonly string[];
  /** Whose token it must be. */
  readonly spiffeId: string;
  /** The time, milliseconds since 1970. */
  readonly now: number;
}

const limits = { bytes: 64 * 1024, depth: 16 };

/** The first token, or a sentence without a full stop in which nothing of the token is quoted. Never throws. */
export function readJwtSvid(bytes: Uint8Array, asked: JwtAsked): JwtSvid | string {
  const message = answerIn('JWTSVIDResponse', bytes)?.svids[0];
  if (message === undefined) return 'the answer holds no JWT-SVID';
  const { svid: token, spiffeId } = message;
  const claims = claimsOf(token);
  if (claims === undefined) return 'the JWT-SVID cannot be read';
  if (spiffeId !== asked.spiffeId || claims['sub'] !== spiffeId) return `the JWT-SVID is not for ${asked.spiffeId}`;
  const audiences = listOf(claims['aud']);
  if (!asked.audiences.every((audience) => audiences.includes(audience)))
    return 'the JWT-SVID is not for all audiences asked for';
  const expires = Number(claims['exp']) * 1000;
  if (typeof claims['exp'] !== 'number' || !(expires > asked.now)) return 'the JWT-SVID has no end, or is past it';
  return { token, spiffeId, expires };
}

function claimsOf(token: string): JsonObject | undefined {
  const [, payload = ''] = /^[\w-]+\.([\w-]+)\.[\w-]+$/.exec(token) ?? [];
  const bytes = bytesOfBase64Url(payload);
  if (bytes === undefined) return undefined;
  const parsed = parseStrictJson(bytes, limits);
  return 'value' in parsed && isJsonObject(parsed.value) ? parsed.value : undefined;
}

/** RFC 7519 section 4.1.3: one string or a list. */
function listOf(aud: Json | undefined): readonly Json[] {
  return Array.isArray(aud) ? aud : aud === undefined ? [] : [aud];
}
