/** An API server with the label policies in force, and the people who write to it. */

import { App, Chart } from 'cdk8s';
import { AgentPlatform } from '../../constructs/index.ts';
import { type ControlPlane, startControlPlane } from '../lab/control-plane.ts';
import { eventually, type Json, type Kube, kubeOf, type Who } from './kube.ts';
import { typeLabel, verifiedLabel } from './workloads.ts';

/** A developer with every right but the operator's name. */
export const developer: Who = { user: 'alice@example.test' };
/** The operator's own account. */
export const operator: Who = { user: 'system:serviceaccount:rossoctl-system:rossoctl-operator' };

export interface PolicyBed {
  readonly plane: ControlPlane;
  readonly kube: Kube;
  close(): Promise<void>;
}

const api = '/apis/admissionregistration.k8s.io/v1';
const collections: Readonly<Record<string, string>> = {
  ValidatingAdmissionPolicy: `${api}/validatingadmissionpolicies`,
  ValidatingAdmissionPolicyBinding: `${api}/validatingadmissionpolicybindings`,
};

/** Starts an API server with controllers, installs the policies as the constructs render them, and waits until they refuse. */
export async function startPolicyBed(): Promise<PolicyBed> {
  const plane = await startControlPlane({ name: 'policy', withControllerManager: true });
  const kube = kubeOf(plane);
  const bed: PolicyBed = {
    plane,
    kube,
    close: async () => {
      await kube.close();
      await plane.stop();
    },
  };
  try {
    const chart = new Chart(new App(), 'platform');
    new AgentPlatform(chart, 'rossoctl', { image: 'example.test/rossoctl:1' });
    for (const object of chart.toJson() as readonly Json[]) {
      const collection = collections[String(object['kind'])];
      if (collection === undefined) continue;
      const made = await kube.request('POST', collection, object);
      if (made.code !== 201) throw new Error(`${String(object['kind'])}: ${made.message}`);
    }
    for (const label of [typeLabel, verifiedLabel]) await untilEnforced(kube, label);
  } catch (error) {
    await bed.close();
    throw error;
  }
  return bed;
}

/** A policy takes a moment from its creation to its first refusal. */
async function untilEnforced(kube: Kube, label: string): Promise<void> {
  const probe = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'probe', labels: { [label]: 'agent' } },
    spec: { suspend: true, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
  };
  await eventually(async () => {
    const { code } = await kube.request('POST', '/apis/batch/v1/namespaces/default/jobs?dryRun=All', probe, {
      who: developer,
    });
    return code === 403 ? undefined : `a Job labelled ${label} is answered ${code}`;
  });
}

/** Makes a namespace of a test's own. */
export async function makeNamespace(
  kube: Kube,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  const made = await kube.request('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels },
  });
  if (made.code !== 201) throw new Error(`namespace ${name}: ${made.message}`);
}
