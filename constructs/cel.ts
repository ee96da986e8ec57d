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

/** Whether who asks is none of these ServiceAccounts; one at least. */
export function isNoneOf(accounts: readonly { readonly namespace: string; readonly name: string }[]): string {
  const users = accounts.map(({ namespace, name }) => celString(`system:serviceaccount:${namespace}:${name}`));
  const asks = 'request.userInfo.username';
  return users.length === 1 ? `${asks} != ${users.join()}` : `!(${asks} in [${users.join(', ')}])`;
}
