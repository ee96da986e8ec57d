/** The validating webhook of AgentCards in namespaces where there can be no agent. */

import assert from 'node:assert/strict';
import test from 'node:test';
import type { AgentCard } from '../../../runtime/api/agent-card.ts';
import { apiVersion } from '../../../runtime/api/names.ts';
import { createAgentCardValidator } from '../../../runtime/validation/webhook.ts';

const validator = createAgentCardValidator({
  live: { get: async () => undefined, list: async () => [] },
  operatorNamespace: 'rossoctl-system',
});

const card = (namespace: string, syncPeriod: string): AgentCard => ({
  apiVersion,
  kind: 'AgentCard',
  metadata: { namespace, name: 'mine' },
  spec: { targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'weather' }, syncPeriod },
});

for (const namespace of ['kube-system', 'kube-public', 'kube-node-lease', 'rossoctl-system']) {
  const object = card(namespace, '1m');
  const request = { uid: 'r', namespace, name: 'mine', object, dryRun: false, user: 'dev' } as const;

  test(`validation of cards: a new one in ${namespace} is refused with where to make it`, async () => {
    const verdict = await validator.review({ ...request, operation: 'CREATE' });
    assert.deepEqual([verdict.kind, verdict.reason], ['deny', 'SystemNamespace']);
    assert.match(
      verdict.note,
      new RegExp(
        `^metadata\\.namespace: ${namespace} is .*create the AgentCard and its workload in another namespace\\.$`,
      ),
    );
  });

  test(`validation of cards: RC-04 one that is in ${namespace} already can be changed`, async () => {
    const verdict = await validator.review({ ...request, operation: 'UPDATE', oldObject: card(namespace, '2m') });
    assert.deepEqual([verdict.kind, verdict.reason], ['allow', 'TargetUnchanged']);
  });
}
