/** Stands in for a node: every pod of the run becomes Ready, and one that is being deleted goes. */

import { kinds } from '../../runtime/api/kinds.ts';
import type { Client } from '../../runtime/engine/client.ts';
import { pause } from './pause.ts';

/** Works until the signal; what fails is tried again at the next look. */
export async function playKubelet(client: Client, namespaces: readonly string[], signal: AbortSignal): Promise<void> {
  const ready = new Set<string>();
  while (!signal.aborted) {
    try {
      const { items } = await client.list(kinds.pod);
      for (const { metadata } of items) {
        const { namespace = '', name = '', uid = '' } = metadata;
        if (!namespaces.includes(namespace) || ready.has(uid)) continue;
        const at = new Date().toISOString().replace(/\.\d+/, '');
        const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: at }] };
        const body = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name, uid }, status };
        await client.apply({ kind: kinds.pod, body }, { fieldManager: 'kubelet', subresource: 'status' });
        ready.add(uid);
      }
    } catch {
      // The API server is away, or the pod is.
    }
    await pause(300, signal);
  }
}
