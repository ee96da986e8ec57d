/** Pieces of CEL expressions, as the policies use them. */

/** A string literal: whatever the text holds, it stays text. */
export function celString(text: string): string {
  return JSON.stringify(text);
}

/** Whether `object` has a key in the map at a path; no access can fail (field report VP-01). */
export function hasKey(path: readonly string[], key: string): string {
  return `dyn(object).?${path.join('.?')}[?${celString(key)}].hasValue()`;
}

/** A list with the key's value in the map at a path, or an empty list; no access can fail. */
export function valueAt(object: 'object' | 'oldObject', path: readonly string[], key: string): string {
  return `dyn(${object}).?${path.join('.?')}[?${celString(key)}].optMap(value, [value]).orValue([])`;
}

/** Whether who asks is not this ServiceAccount. */
export function isNotAccount(namespace: string, name: string): string {
  return `request.userInfo.username != ${celString(`system:serviceaccount:${namespace}:${name}`)}`;
}
