/** Every page of the reference, each made by a file of its own. */

import { cliPage } from './cli.ts';
import { conditionsPage } from './conditions.ts';
import { constructsPage } from './constructs.ts';
import { customResourcesPage } from './custom-resources.ts';
import { declarationsOf } from './declarations.ts';
import { metricsPage } from './metrics.ts';
import { reading, type Sources } from './program.ts';
import { settingsPage } from './settings.ts';

/** Path relative to the repository → text. Deterministic. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const pages = { ...reading(readPages), cli: await cliPage() };
  return new Map(Object.entries(pages).map(([name, text]) => [`docs/reference/${name}.md`, text]));
}

function readPages(sources: Sources) {
  const declarations = declarationsOf(sources, 'constructs/index.ts');
  return {
    constructs: constructsPage(declarations, declarationsOf(sources, 'stacks/kubernetes-app.ts')),
    settings: settingsPage(sources, declarations),
    'custom-resources': customResourcesPage(),
    metrics: metricsPage(sources),
    conditions: conditionsPage(),
  };
}
