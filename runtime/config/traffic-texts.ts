/** What the schema cannot say of paths that are open and routes of calls: each of these would keep a sidecar from starting, or open more than it seems to. */

import { globViolations } from './bypass-paths.ts';
import { isSection } from './overlay.ts';
import type { Violation } from './violation.ts';
import { type RouteText, routeViolations } from './routes.ts';

/** Of a configuration that the schema accepts. */
export function trafficViolations(config: unknown): readonly Violation[] {
  return [
    ...below('identity.bypassPaths', globViolations(listAt(config, 'identity', 'bypassPaths') as readonly string[])),
    ...below(
      'tokenExchange.routes',
      routeViolations(listAt(config, 'tokenExchange', 'routes') as readonly RouteText[]),
    ),
  ];
}

/** The schema has looked at the items. */
function listAt(config: unknown, section: string, key: string): readonly unknown[] {
  const found = isSection(config) && isSection(config[section]) ? config[section][key] : undefined;
  return Array.isArray(found) ? found : [];
}

function below(path: string, violations: readonly Violation[]): readonly Violation[] {
  return violations.map((violation) => ({ ...violation, path: `${path}${violation.path}` }));
}
