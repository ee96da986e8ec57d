/** What the schema cannot say of authorities, paths that are open and routes of calls: each of these would keep a sidecar from starting, or open more than it seems to. */

import { authoritiesProblem } from './authorities.ts';
import { globViolations } from './bypass-paths.ts';
import { isSection } from './overlay.ts';
import type { Violation } from './violation.ts';
import { type RouteText, routeViolations } from './routes.ts';

/** Of a configuration that the schema accepts. */
export function trafficViolations(config: unknown): readonly Violation[] {
  const authorities = authoritiesProblem(textAt(config, 'identity', 'ca'));
  return [
    ...(authorities === undefined ? [] : [{ path: 'identity.ca', message: authorities }]),
    ...below('identity.bypassPaths', globViolations(listAt(config, 'identity', 'bypassPaths') as readonly string[])),
    ...below(
      'tokenExchange.routes',
      routeViolations(listAt(config, 'tokenExchange', 'routes') as readonly RouteText[]),
    ),
  ];
}

/** The schema has looked at the items. */
function listAt(config: unknown, section: string, key: string): readonly unknown[] {
  const found = valueAt(config, section, key);
  return Array.isArray(found) ? found : [];
}

function textAt(config: unknown, section: string, key: string): string {
  const found = valueAt(config, section, key);
  return typeof found === 'string' ? found : '';
}

function valueAt(config: unknown, section: string, key: string): unknown {
  return isSection(config) && isSection(config[section]) ? config[section][key] : undefined;
}

function below(path: string, violations: readonly Violation[]): readonly Violation[] {
  return violations.map((violation) => ({ ...violation, path: `${path}${violation.path}` }));
}
