/** What the schema cannot say of texts and keys that end in a pod: each of these would keep every new pod from being made or from starting. */

import { labelKeyPattern } from './network-policy.ts';
import { isSection } from './overlay.ts';
import { shown } from './problem.ts';
import type { Violation } from './violation.ts';

/** Of a configuration that the schema accepts. */
export function podViolations(config: unknown): readonly Violation[] {
  return [...controlCharacters(config, ''), ...unknownResources(config)];
}

/** PEM is written in lines. */
const ofLines = 'identity.ca';

/** No container starts with such a character in its environment. */
function controlCharacters(value: unknown, path: string): readonly Violation[] {
  if (typeof value === 'string') {
    const text = path === ofLines ? value.replaceAll(/[\r\n]/g, '') : value;
    return /\p{Cc}/u.test(text) ? [{ path, message: `${shown(value)} holds a control character; remove it` }] : [];
  }
  if (Array.isArray(value)) return value.flatMap((each, at) => controlCharacters(each, `${path}[${at}]`));
  if (!isSection(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => controlCharacters(each, path === '' ? key : `${path}.${key}`));
}

/** Kubernetes' own, and any with a domain. */
const resourceName = new RegExp(
  `^(cpu|memory|ephemeral-storage|hugepages-[1-9][0-9]*[KMG]i)$|^(?=[^/]+/)${labelKeyPattern.slice(1)}`,
);

function unknownResources(config: unknown): readonly Violation[] {
  const resources = isSection(config) ? config['resources'] : undefined;
  if (!isSection(resources)) return [];
  return Object.entries(resources).flatMap(([component, lists]) =>
    Object.entries(isSection(lists) ? lists : {}).flatMap(([list, quantities]) =>
      Object.keys(isSection(quantities) ? quantities : {})
        .filter((name) => !resourceName.test(name))
        .map((name) => ({
          path: `resources.${component}.${list}`,
          message: `${shown(name)} is no resource; must be cpu, memory, ephemeral-storage, hugepages-2Mi or one with a domain, for example nvidia.com/gpu`,
        })),
    ),
  );
}
