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
  const found = bundleText(textsOf(map.object['data']), key);
  if ('problem' in found) throw new CliError(`${map.origin}: ${found.problem}; name the key with --bundle-key`);
  return parseTrustBundle(found.text);
}

/** `kind: ConfigMap` and its like; in PEM and in a bundle document there is no such line. */
function isManifest(text: string): boolean {
  return /^[\s{]*"?(?:apiVersion|kind)"?\s*:/m.test(text) && /"?\bkind"?\s*:\s*"?[A-Z]/.test(text);
}

function textsOf(data: unknown): Readonly<Record<string, string>> {
  const entries = isRecord(data) ? Object.entries(data) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
