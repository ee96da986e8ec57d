/** A program of workloads that become ready only with what is injected into them, and of a Job that is enrolled before it runs. */

import { Config } from '@pulumi/pulumi';
import { ApiObject, App, Chart, JsonPatch } from 'cdk8s';
import type { Construct } from 'constructs';
import { KubernetesApp } from '../../../stacks/kubernetes-app.ts';
import { Agent, AgentRuntime } from '../../../constructs/index.ts';
import { compiledDefaults } from '../../../runtime/config/platform.ts';

const config = new Config();
const image = config.require('image');
const { healthPort } = compiledDefaults.proxy;

const props = {
  image,
  imagePullPolicy: 'Never',
  user: 1000,
  env: { PORT: '8080', RELEASE: config.require('release') },
} as const;

/** Ready once the sidecar answers, which is in the pod's network. */
function needy(chart: Chart, name: string, kind: 'Deployment' | 'StatefulSet'): void {
  const { workload } = new Agent(chart, name, { ...props, kind, card: true });
  const readinessProbe = {
    exec: { command: ['wget', '-q', '-O', '-', `http://127.0.0.1:${healthPort}/readyz`] },
    periodSeconds: 1,
  };
  workload.addJsonPatch(
    JsonPatch.replace('/spec/template/spec/containers/0/readinessProbe', readinessProbe),
    // The image does not end when it is asked to.
    JsonPatch.add('/spec/template/spec/terminationGracePeriodSeconds', 1),
  );
  // In order, Kubernetes replaces no pod that is not ready.
  if (kind === 'StatefulSet') workload.addJsonPatch(JsonPatch.add('/spec/podManagementPolicy', 'Parallel'));
}

function job(chart: Chart): ApiObject {
  const containers = [{ name: 'once', image, imagePullPolicy: 'Never', command: ['sh', '-c', 'echo done'] }];
  const securityContext = { runAsNonRoot: true, runAsUser: 1000 };
  return new ApiObject(chart, 'job', {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'once' },
    spec: {
      suspend: config.requireBoolean('suspend'),
      template: { spec: { restartPolicy: 'Never', containers, securityContext } },
    },
  });
}

/** One that has no pods, and the Job. */
function others(chart: Chart): readonly Construct[] {
  return [
    new Agent(chart, 'idle', { ...props, replicas: 0 }),
    new AgentRuntime(chart, 'once', { target: job(chart), type: 'agent' }),
  ];
}

const app = new App();
const chart = new Chart(app, 'needy', { namespace: config.require('namespace'), disableResourceNameHashes: true });
needy(chart, 'asker', 'Deployment');
needy(chart, 'keeper', 'StatefulSet');
others(chart);

export const { urns } = new KubernetesApp('needy', { app, providerVersion: config.get('providerVersion') });
