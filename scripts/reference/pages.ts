/** Every page of the reference, each made by a file of its own. */

import { cliPage } from './cli.ts';
import { conditionsPage } from './conditions.ts';
import { customResourcesPage } from './custom-resources.ts';
import { metricsPage } from './metrics.ts';

type Make = () => string | Promise<string>;

const pages: Readonly<Record<string, Make>> = {
  'custom-resources': customResourcesPage,
  cli: cliPage,
  metrics: metricsPage,
  conditions: conditionsPage,
};

/** Path relative to the repository → text. Deterministic. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const made = Object.entries(pages).map(async ([name, make]) => [`docs/reference/${name}.md`, await make()] as const);
  return new Map(await Promise.all(made));
}
