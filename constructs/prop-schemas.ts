/** What names and images in props must look like, whoever reads them: a construct or an environment's settings. */

import { Type } from 'typebox';
import { oneOf } from '../runtime/api/schema.ts';
import type { Violation } from '../runtime/config/violation.ts';

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';

/** A DNS label. */
export const NamespaceName = Type.String({
  minLength: 1,
  maxLength: 63,
  pattern: `^${label}$`,
  description: 'Name of a namespace, of lower-case letters, digits and dashes, for example team1.',
});

/** A DNS subdomain. */
export const ObjectName = Type.String({
  minLength: 1,
  maxLength: 253,
  pattern: `^${label}(\\.${label})*$`,
  description: 'Name of an object, of lower-case letters, digits, dashes and dots, for example weather.',
});

/** Stricter than other names: a Service's name is a label that begins with a letter. */
export const ServiceName = Type.String({
  minLength: 1,
  maxLength: 63,
  pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$',
  description:
    'Name of a Service, of lower-case letters, digits and dashes, beginning with a letter, for example weather.',
});

/** An image in which a variable of the program was never set: of the right shape, and nobody's. */
export function unsetImage(image: string): readonly Violation[] {
  const unset = /(?:^|[/:@])(undefined|null)$/.exec(image)?.[1];
  if (unset === undefined) return [];
  return [
    { path: 'image', message: `${JSON.stringify(image)} ends in ${unset}: a variable that it is made of is not set` },
  ];
}

export const ImagePullPolicy = oneOf(['Always', 'IfNotPresent', 'Never']);
