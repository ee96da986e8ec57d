/** Ranges of IP addresses in CIDR notation, as numbers that can be compared. */

export interface Cidr {
  readonly bits: 32 | 128;
  readonly value: bigint;
  /** Leading bits that all addresses of the range share. */
  readonly prefix: number;
}

/** `10.0.0.0/8`, `fd00::/8`; `undefined` for anything else: no prefix, leading zeros, IPv4 inside IPv6, a zone. */
export function parseCidr(text: string): Cidr | undefined {
  const [address, length, ...rest] = text.length > 64 ? [] : text.split('/');
  if (address === undefined || length === undefined || rest.length > 0 || !isNumber(length)) return undefined;
  const bits = address.includes(':') ? 128 : 32;
  const value = bits === 32 ? ipv4(address) : ipv6(address);
  const prefix = Number(length);
  return value === undefined || prefix > bits ? undefined : { bits, value, prefix };
}

/** False where an address has bits beyond the prefix, as in `10.1.2.3/8`. */
export function isCanonical(cidr: Cidr): boolean {
  return (cidr.value & hostMask(cidr)) === 0n;
}

/** True when every address of `inner` is one of `outer`, and `outer` has others too. */
export function isStrictlyWithin(inner: Cidr, outer: Cidr): boolean {
  const isSmaller = inner.bits === outer.bits && inner.prefix > outer.prefix;
  return isSmaller && (inner.value & ~hostMask(outer)) === (outer.value & ~hostMask(outer));
}

function hostMask({ bits, prefix }: Cidr): bigint {
  return (1n << BigInt(bits - prefix)) - 1n;
}

/** Decimal without leading zeros, which some programs read as octal. */
function isNumber(text: string): boolean {
  return /^(0|[1-9][0-9]{0,2})$/.test(text);
}

function ipv4(text: string): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => isNumber(part) && Number(part) < 256)) return undefined;
  return parts.reduce((sum, part) => (sum << 8n) + BigInt(part), 0n);
}

/** Eight groups, of which one `::` stands for one or more that are zero. */
function ipv6(text: string): bigint | undefined {
  const [head = '', tail, ...more] = text.split('::');
  if (more.length > 0) return undefined;
  const before = groups(head);
  const after = groups(tail ?? '');
  const missing = 8 - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const all = [...before, ...Array<string>(missing).fill('0'), ...after];
  if (!all.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  return all.reduce((sum, group) => (sum << 16n) + BigInt(`0x${group}`), 0n);
}

function groups(text: string): readonly string[] {
  return text === '' ? [] : text.split(':');
}
