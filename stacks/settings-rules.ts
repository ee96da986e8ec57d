/** What settings of the right shape can still get wrong together: namespaces listed twice or where no agent can live, one install of several that watches everything, verdicts nobody gives; names of agents that no object can have, or that another has. */

import { agentNameViolations } from '../constructs/agent-schema.ts';
import { installViolations } from '../constructs/installs.ts';
import { strictViolations } from '../constructs/strict-mtls.ts';
import { verificationViolations } from '../constructs/verification.ts';
import { agentNamespaceViolations } from '../constructs/watched-namespaces.ts';
import { install } from '../runtime/api/names.ts';
import type { Violation } from '../runtime/config/violation.ts';
import type { AgentsSettings, PlatformSettings } from './settings-schema.ts';

type NamespaceSettings = NonNullable<PlatformSettings['namespaces']>[number];

/** Violations by paths below the platform's section; the section fits its schema. */
export function settingsViolations(settings: PlatformSettings): readonly Violation[] {
  return [
    ...namespacesViolations(settings),
    ...installViolations(settings, settings.mode ?? 'cluster', 'set mode: namespaced'),
    ...verificationViolations(settings),
    ...identityViolations(settings),
  ];
}

function identityViolations({ config, featureGates, namespaces = [] }: PlatformSettings): readonly Violation[] {
  const all = [
    { section: 'config', values: config },
    ...namespaces.map(({ defaults }, index) => ({ section: `namespaces[${index}].defaults`, values: defaults })),
  ];
  return all.flatMap(({ section, values }) =>
    strictViolations(values, featureGates).map(({ path, message }) => ({ path: `${section}.${path}`, message })),
  );
}

function namespacesViolations(settings: PlatformSettings): readonly Violation[] {
  const { namespaces = [], mode = 'cluster' } = settings;
  if (mode === 'namespaced' && namespaces.length === 0) {
    const message = 'is empty, but mode is namespaced: list the namespaces to watch, or use mode: cluster';
    return [{ path: 'namespaces', message }];
  }
  const names = namespaces.map(({ name }) => name);
  return namespaces.flatMap((entry, index) => {
    const path = `namespaces[${index}].name`;
    const first = names.indexOf(entry.name);
    if (first < index) {
      const message = `${entry.name} is already listed as namespaces[${first}]: merge the two entries`;
      return [{ path, message }];
    }
    return placeViolations(entry, path, settings);
  });
}

/** The operator's own namespace may be named beside the others, as long as nothing is asked of it. */
function placeViolations(entry: NamespaceSettings, path: string, settings: PlatformSettings): readonly Violation[] {
  const { namespace: own = install.namespace, mode = 'cluster' } = settings;
  if (entry.name !== own || mode === 'namespaced' || entry.defaults !== undefined) {
    return agentNamespaceViolations(entry.name, own, path);
  }
  if (entry.create === false) return [];
  const message = `${own} is the operator's own namespace, which the install makes already: leave it out, or write create: false`;
  return [{ path, message }];
}

/** What is wrong with the names of agents and tools, by paths below their section; the section fits its schema. */
export function agentNamesViolations({ agents = {}, tools = {} }: Partial<AgentsSettings>): readonly Violation[] {
  const malformed = Object.entries({ agents, tools }).flatMap(([section, members]) =>
    Object.entries(members).flatMap(([name, { kind }]) =>
      agentNameViolations({ name, kind }).map(({ message }) => ({ path: `${section}.${name}`, message })),
    ),
  );
  const twice = Object.keys(tools)
    .filter((name) => Object.hasOwn(agents, name))
    .map((name) => {
      const message = `has the name of agents.${name}, and each would overwrite the objects of the other: rename one of them`;
      return { path: `tools.${name}`, message };
    });
  return [...malformed, ...twice];
}
