/** Namespaces in which the API server itself refuses pods of agents, as a quota or another webhook would, and what is said there. */

import assert from 'node:assert/strict';
import { kinds } from '../../runtime/api/kinds.ts';
import { labels } from '../../runtime/api/names.ts';
import type { Kind, KubeObject } from '../../runtime/engine/types.ts';
import { eventually, metric } from '../support/engine-bed.ts';
import { type EnrolmentBed, inNamespace, type Operator, startKubelet } from './bed.ts';
import { podTemplate } from './objects.ts';

/** In the refusal's message. */
export const refusalWords = 'agents are not welcome here';

const admission = 'admissionregistration.k8s.io/v1';

/** In namespaces labelled `refuses: agents` every pod that carries our label is refused. */
export async function installRefusal({ client }: EnrolmentBed): Promise<void> {
  const name = 'no-agents';
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
  const policy = {
    failurePolicy: 'Fail',
    matchConstraints: {
      resourceRules: [rule],
      namespaceSelector: { matchLabels: { refuses: 'agents' } },
      objectSelector: { matchExpressions: [{ key: labels.type, operator: 'Exists' }] },
    },
    validations: [{ expression: 'false', message: refusalWords }],
  };
  const binding = { policyName: name, validationActions: ['Deny'] };
  for (const [kind, spec] of [
    ['ValidatingAdmissionPolicy', policy],
    ['ValidatingAdmissionPolicyBinding', binding],
  ] as const) {
    const plural = kind === 'ValidatingAdmissionPolicy' ? `${kind.slice(0, -1)}ies` : `${kind}s`;
    const resource: Kind = { apiVersion: admission, kind, plural: plural.toLowerCase(), namespaced: false };
    await client.create(resource, { apiVersion: admission, kind, metadata: { name }, spec } as KubeObject);
  }
}

/** A namespace whose pods become ready; `refuse` and `welcome` say whether agents are let in. */
export async function refusing(
  bed: EnrolmentBed,
  operator: Operator,
  name: string,
  t: { after(fn: () => Promise<void>): void },
) {
  const ns = await inNamespace(bed, name);
  const kubelet = startKubelet(bed, name);
  t.after(kubelet.stop);
  const label = (refuses: 'agents' | null) =>
    bed.client.mergePatch({ kind: kinds.namespace, name }, { metadata: { labels: { refuses } } });
  const probe = async () => {
    const metadata = { namespace: name, generateName: 'probe-', labels: { [labels.type]: 'agent' } };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: podTemplate('probe').spec };
    const made = await bed.client.create(kinds.pod, pod);
    await bed.client.remove({ kind: kinds.pod, namespace: name, name: made.metadata.name ?? '' });
  };
  const finding = async (runtime = 'weather') =>
    (await ns.runtimeOf(runtime)).status?.conditions?.find(({ type }) => type === 'PodsInjected');
  return {
    ...ns,
    refuse: async () => {
      await label('agents');
      await eventually(() => assert.rejects(probe(), /not welcome/));
    },
    welcome: async () => {
      await label(null);
      await eventually(probe);
    },
    /** Waits until `PodsInjected` is that `status/reason`. */
    saysOfPods: (wanted: string, runtime?: string) =>
      eventually(async () => {
        const found = await finding(runtime);
        assert.equal(`${found?.status}/${found?.reason}`, wanted, found?.message ?? '');
      }),
    message: async () => (await finding())?.message ?? '',
    /** Waits until the gauge counts so many pods without sidecars. */
    countsBare: (count: number) =>
      eventually(async () => {
        const series = `rossoctl_pods_without_sidecars{namespace="${name}",agentruntime="weather"}`;
        assert.equal(await metric(operator, series), count);
      }),
    /** Waits until so many pods run. */
    untilRunning: (count: number) =>
      eventually(async () => {
        assert.equal((await ns.pods()).filter(({ status }) => status?.phase === 'Running').length, count);
      }),
  };
}
