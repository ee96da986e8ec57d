/** Reads the authority of a request, and addresses, into one spelling each. */

export interface Authority {
  /** In lower case, without the port and the root's dot; an IPv6 address without brackets. Names are not turned into IDNA or out of it. */
  readonly host: string;
  readonly port: number | undefined;
}

const longest = 253;

/** Undefined for what is no authority that a client may send: RFC 9110 section 4.2.4 forbids a user in it, RFC 3986 section 3.2.2 all but ASCII. */
export function authorityOf(authority: string): Authority | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|((?:(?![:@/?#\\[\]])[!-~])+))(?::(\d{0,5}))?$/i.exec(authority);
  if (match === null) return undefined;
  const [, v6, name = '', digits = ''] = match;
  const port = digits === '' ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  if (v6 !== undefined) return { host: sameAddress(v6), port };
  const host = name.toLowerCase().replace(/\.$/, '');
  return host === '' || host.length > longest ? undefined : { host, port };
}

const byte = '(?:0|[1-9]\\d?|1\\d\\d|2[0-4]\\d|25[0-5])';
const v4 = new RegExp(`^${byte}(?:\\.${byte}){3}$`);

/** Whether a host is a numeric address already, in a form that all programs read alike: whoever cannot read it may go elsewhere. */
export function isAddress(host: string): boolean {
  return host.includes(':') ? URL.parse(`http://[${host}]/`) !== null : v4.test(host);
}

/** The one spelling of an address: an IPv6 address shortened (RFC 5952), an IPv4 address in IPv6 clothes without them. */
export function sameAddress(address: string): string {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/, '');
  if (!plain.includes(':')) return plain;
  const url = URL.parse(`http://[${plain.split('%', 1)[0]}]/`);
  const short = url === null ? plain : url.hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short);
  return mapped === null ? short : dotted(Number.parseInt(mapped[1] ?? '', 16), Number.parseInt(mapped[2] ?? '', 16));
}

const dotted = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');
