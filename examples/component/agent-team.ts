/** What the agents of a team have in common, as one Pulumi component that the programs of all teams share. */

import { all, ComponentResource, type ComponentResourceOptions, type Output } from '@pulumi/pulumi';
import { ApiObject, App, Chart } from 'cdk8s';
import { Agent, type AgentProps, RequireDigest } from 'rossoctl';
import { KubernetesApp, type KubernetesAppArgs } from 'rossoctl/stacks/kubernetes-app';
import type { PlatformFacts } from 'rossoctl/stacks/platform-facts';

/** How a team's agents become resources. */
export interface AgentTeamArgs extends Omit<KubernetesAppArgs, 'app'> {
  /** What the platform's stack says of itself. */
  readonly platform: PlatformFacts;
  /** The team's namespace, which is the platform's to make. */
  readonly namespace: string;
  /** Name → agent. What is not said is the house's: user 1000, two replicas, mutual TLS always. */
  readonly agents: Readonly<Record<string, Omit<AgentProps, 'name' | 'namespace'>>>;
}

/**
 * The agents of a team by the rules of the house: labelled with their team, never all taken down at once by a drain, with images by digest
 * where the platform asks for that. Throws, before anything is created, on a namespace that the platform does not watch and on what the
 * constructs refuse.
 */
export class AgentTeam extends ComponentResource {
  /** Agent → where others in the cluster reach it; known once the agents are there. */
  readonly endpoints: Output<Readonly<Record<string, string>>>;

  constructor(team: string, args: AgentTeamArgs, opts: ComponentResourceOptions = {}) {
    super('example:agents:AgentTeam', team, {}, opts);
    const { platform, namespace, agents, ...treatment } = args;
    refuseUnwatched(platform, namespace);
    const app = new App();
    if (platform.requireImageDigest) app.with(new RequireDigest());
    const chart = new Chart(app, team, { namespace, disableResourceNameHashes: true });
    for (const [name, props] of Object.entries(agents)) houseAgent(chart, name, { team, props });
    const { urns } = new KubernetesApp(team, { app, injects: platform.injects, ...treatment }, { parent: this });
    const endpoints = Object.entries(agents).map(([name, { port = 8080 }]) => [
      name,
      `http://${name}.${namespace}.svc:${port}`,
    ]);
    this.endpoints = all([...urns]).apply(() => Object.fromEntries(endpoints) as Readonly<Record<string, string>>);
    this.registerOutputs({ endpoints: this.endpoints });
  }
}

function refuseUnwatched({ environment, watched }: PlatformFacts, namespace: string): void {
  if (watched === undefined || watched.includes(namespace)) return;
  throw new Error(
    `namespace ${namespace} is not watched by the platform ${environment}, which watches ${watched.join(', ')}: have it added there, or choose one of those`,
  );
}

interface Member {
  readonly team: string;
  readonly props: Omit<AgentProps, 'name' | 'namespace'>;
}

function houseAgent(chart: Chart, name: string, { team, props }: Member): void {
  const { workload } = new Agent(chart, name, {
    user: 1000,
    replicas: 2,
    ...props,
    name,
    labels: { ...props.labels, 'example.com/team': team },
    runtime: { mtlsMode: 'strict', ...props.runtime },
  });
  const disruption = new ApiObject(chart, `${name}-disruption`, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name },
    spec: { maxUnavailable: 1, selector: { matchLabels: { 'app.kubernetes.io/name': name } } },
  });
  disruption.addDependency(workload);
}
