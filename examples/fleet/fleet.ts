/** A fleet of agents: what all have in common, what a namespace has, and a row of a table for what is an agent's own. */

import { App, Chart } from 'cdk8s';
import { Agent, AgentNamespace, type AgentProps, type NamespaceConfig } from 'rossoctl';
import { rowsOf } from './table.ts';

const columns = ['namespace', 'name', 'image', 'model', 'skills', 'replicas', 'port', 'memory'] as const;
type Cells = Readonly<Record<(typeof columns)[number], string>>;

/** What an empty cell stands for. */
const defaults = { model: 'small', replicas: '1', port: '8080', memory: '256Mi' } as const satisfies Partial<Cells>;

/** Namespaces in which the platform's configuration is overridden for every agent. */
const namespaceDefaults: Readonly<Record<string, NamespaceConfig>> = {
  finance: { mtls: { mode: 'strict' } },
  operations: { trace: { sampling: { rate: 1 } } },
};

/**
 * The app of a table in CSV: its namespaces and a row an agent. Throws once, with a line for each row that is wrong, by its line in `file`.
 */
export function fleetApp(text: string, file: string): App {
  const app = new App();
  const namespaces = new Chart(app, 'namespaces', { disableResourceNameHashes: true });
  const agents = new Chart(app, 'agents', { disableResourceNameHashes: true });
  const problems: string[] = [];
  const lines = new Map<string, number>();
  for (const { line, cells } of readRows(text, file)) {
    const id = `${cells.namespace}/${cells.name}`;
    const earlier = lines.get(id);
    if (earlier !== undefined) {
      problems.push(`${file}:${line}: ${id} is on line ${earlier} already: give it another name`);
      continue;
    }
    lines.set(id, line);
    try {
      new Agent(agents, id.replace('/', '.'), propsOf(cells));
      namespaceOnce(namespaces, cells.namespace);
    } catch (error) {
      problems.push(
        ...messageOf(error)
          .split('\n')
          .map((message) => `${file}:${line}: ${message}`),
      );
    }
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return app;
}

function readRows(text: string, file: string) {
  try {
    return rowsOf(text, columns);
  } catch (error) {
    throw new Error(`${file}: ${messageOf(error)}`, { cause: error });
  }
}

function propsOf(cells: Cells): AgentProps {
  const { namespace, name, image } = cells;
  const own = (column: keyof typeof defaults) => cells[column] || defaults[column];
  return {
    namespace,
    name,
    image,
    port: numberIn('port', own('port')),
    replicas: numberIn('replicas', own('replicas')),
    user: 1000,
    env: { MODEL: own('model') },
    // One Secret a namespace, which you make apart.
    envFromSecrets: ['model-credentials'],
    resources: { requests: { cpu: '50m', memory: own('memory') }, limits: { memory: own('memory') } },
    runtime: { skills: cells.skills.split(' ').filter((skill) => skill !== '') },
  };
}

/** Bounds are the construct's to check. */
function numberIn(column: keyof typeof defaults, cell: string): number {
  if (/^\d+$/.test(cell)) return Number(cell);
  throw new Error(`${column}: "${cell}" is no number; write one, or nothing for ${defaults[column]}`);
}

function namespaceOnce(chart: Chart, name: string): void {
  if (chart.node.tryFindChild(name) !== undefined) return;
  new AgentNamespace(chart, name, { name, defaults: namespaceDefaults[name] });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
