/** A cache with fixed contents. */

import type { KubeObject, Reader, Watch, Where } from '../../../runtime/engine/types.ts';

/** A reader over fixed objects, which honours indexes as the cache does. */
export function readerOf(objects: ReadonlyMap<Watch, readonly KubeObject[]>): Reader {
  const list = (watch: unknown, where: Where = {}): readonly KubeObject[] => {
    const { index } = where;
    const by = (watch as Watch).indexes?.[index?.name ?? ''];
    return (objects.get(watch as Watch) ?? [])
      .filter(({ metadata }) => where.namespace === undefined || metadata.namespace === where.namespace)
      .filter((object) => index === undefined || by?.(object).includes(index.value) === true);
  };
  return {
    list: (watch, where) => list(watch, where) as never,
    get: (watch, key) =>
      list(watch, { namespace: key.namespace }).find(({ metadata }) => metadata.name === key.name) as never,
  };
}
