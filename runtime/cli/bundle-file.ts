/** A trust bundle from a file: PEM, a SPIFFE bundle document, or the ConfigMap that holds one, in YAML or JSON. */

import { isRecord } from '../authbridge/record.ts';
import { bundleText, parseTrustBundle, type TrustBundle } from '../signature/trust-bundle.ts';
import { CliError } from './cli-error.ts';
import { documentsOf, type SourceText } from './documents.ts';

/** Throws `CliError` when the file is a ConfigMap without a bundle. A bundle without certificates is an answer: nothing is trusted. */
export function bundleOf(source: SourceText, key: string): TrustBundle {
  if (!isManifest(source.text)) {
    if (key !== '') throw new CliError(`--bundle-key is for a ConfigMap; ${source.file} is none`);
    return parseTrustBundle(source.text);
  }
  const maps = documentsOf([source]).filter(({ kind }) => kind === 'ConfigMap');
  const [map] = maps;
  if (map === undefined)
    throw new CliError(`${source.file} holds Kubernetes objects, but no ConfigMap with a trust bundle`);
  if (maps.length > 1)
    throw new CliError(`${source.file} holds ${maps.length} ConfigMaps; give the one with the trust bundle`);
  const texts = textsOf(map.object['data']);
  const found = bundleText(texts, key, isRecord(map.object['binaryData']) ? Object.keys(map.object['binaryData']) : []);
  if ('text' in found) return parseTrustBundle(found.text);
  const remedy = Object.keys(texts).length > 1 ? '; name the key with --bundle-key' : '';
  throw new CliError(`${map.origin}: ${found.problem}${remedy}`);
}

/** It says apiVersion and kind, each at the beginning of a line or as a member: PEM and a bundle document do not say both. */
function isManifest(text: string): boolean {
  return ['apiVersion', 'kind'].every((name) => new RegExp(`^"?${name}"?\\s*:|[{,]\\s*"${name}"\\s*:`, 'm').test(text));
}

function textsOf(data: unknown): Readonly<Record<string, string>> {
  const entries = isRecord(data) ? Object.entries(data) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
