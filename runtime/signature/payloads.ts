/** The four forms of a card's payload that a signature may cover, and what each leaves out. */

import { canonicalJson } from '../encoding/canonical-json.ts';
import { goJson } from '../encoding/go-json.ts';
import type { Json, JsonObject } from '../encoding/strict-json.ts';
import { withoutEmpties, withoutGoEmpties } from './empties.ts';
import { createOmissions, type Omissions } from './omissions.ts';
import { withoutDefaults } from './proto-defaults.ts';

/** In the order in which they are tried. */
export const profiles = ['jcs', 'jcs-spec', 'jcs-clean', 'go-clean'] as const;
export type Profile = (typeof profiles)[number];

export interface Payload {
  readonly profile: Profile;
  readonly text: string;
  /** As it stands in the signing input: base64url of the text's UTF-8. */
  readonly encoded: string;
  /** The tree the text was made from: the signature covers it, and no more. */
  readonly tree: JsonObject;
  /** JSON pointers of what the card has and the tree has not, at most 64 of at most 1,024 characters. */
  readonly unsigned: readonly string[];
}

interface Form {
  readonly reduce: (card: JsonObject, omissions: Omissions) => JsonObject;
  readonly write: (tree: JsonObject) => string;
}

const forms: Readonly<Record<Profile, Form>> = {
  jcs: { reduce: (card) => card, write: canonicalJson },
  'jcs-spec': { reduce: withoutDefaults, write: canonicalJson },
  'jcs-clean': { reduce: withoutEmpties, write: canonicalJson },
  'go-clean': { reduce: withoutGoEmpties, write: goJson },
};

/**
 * The payloads of a card, each made when it is asked for; one whose text is that of an earlier one is passed over.
 * Throws `TypeError` for a card that has no canonical JSON, which no card from `readCard` is.
 */
export function* payloadsOf(card: JsonObject, which: 'all' | 'jcs'): Generator<Payload, undefined> {
  const seen = new Set<string>();
  for (const profile of which === 'jcs' ? profiles.slice(0, 1) : profiles) {
    const payload = payloadOf(card, profile);
    if (seen.has(payload.text)) continue;
    seen.add(payload.text);
    yield payload;
  }
  return undefined;
}

/** The payload in one form. Throws `TypeError` as `payloadsOf` does. */
export function payloadOf(card: JsonObject, profile: Profile): Payload {
  const { reduce, write } = forms[profile];
  const omissions = createOmissions();
  const tree = reduce(withoutSignatures(card), omissions);
  const text = write(tree);
  return { profile, text, encoded: Buffer.from(text).toString('base64url'), tree, unsigned: omissions.pointers() };
}

/** Only the root's `signatures` is no part of the payload. */
function withoutSignatures(card: JsonObject): JsonObject {
  const { signatures: _, ...rest } = card;
  return rest as Record<string, Json>;
}
